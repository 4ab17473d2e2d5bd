//! What someone may have meant who mistyped a name.

/// Longer names are not compared: the work grows with the product of the lengths.
const LONGEST: usize = 200;

/// The first of the names with the fewest letters to insert, leave out, replace or exchange with their neighbour, whatever the
/// case: a third of what was typed at most, else none is meant.
pub(crate) fn nearest<'a>(asked: &str, names: impl IntoIterator<Item = &'a str>) -> Option<&'a str> {
    let asked = asked.to_lowercase();
    let length = asked.chars().count();
    if length > LONGEST {
        return None;
    }
    let near = |name: &'a str| {
        let lower = name.to_lowercase();
        let most = length / 3;
        // So many letters make the difference at least.
        if lower.chars().count().abs_diff(length) > most {
            return None;
        }
        let distance = strsim::osa_distance(&asked, &lower);
        (distance <= most).then_some((distance, name))
    };
    names.into_iter().filter_map(near).min_by_key(|(distance, _)| *distance).map(|(_, name)| name)
}

#[cfg(test)]
mod tests {
    use super::nearest;

    #[test]
    fn typing_errors() {
        let names = ["sensor-1", "sensor-12", "sensor-112", "pump", "Valve"];
        assert_eq!(nearest("sensro-12", names), Some("sensor-12"));
        assert_eq!(nearest("sensor12", names), Some("sensor-12"));
        assert_eq!(nearest("sesnor-112", names), Some("sensor-112"));
        assert_eq!(nearest("valve", names), Some("Valve"));
        assert_eq!(nearest("bump", names), Some("pump"));
        // Nothing is near to these, whatever they start with.
        assert_eq!(nearest("sense", names), None);
        assert_eq!(nearest("p", names), None);
        assert_eq!(nearest("", names), None);
        assert_eq!(nearest(&"n".repeat(100_000), [&*"n".repeat(100_001)]), None);
    }
}
