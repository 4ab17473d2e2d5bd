//! Two tables, one below the other.

use super::{Column, Table, Texts, Values};
use crate::error::{DepthError, Result};

impl Table {
    /// The rows of this table and then those of another, for the columns that both have, matched by name.
    ///
    /// Also the names of the columns that only one of them has. A column of numbers in one table and of texts in the other
    /// becomes one of texts.
    ///
    /// ```
    /// use lossdepth::data::{Column, Table, Values};
    /// let column = |name: &str, values: &[f64]| Column { name: name.into(), values: Values::Numbers(values.to_vec()) };
    /// let old = Table::new(vec![column("price", &[1.0, 2.0]), column("tax", &[0.1, 0.2])])?;
    /// let new = Table::new(vec![column("price", &[3.0])])?;
    /// let (both, left_out) = old.stacked(&new)?;
    /// assert_eq!((both.rows(), left_out), (3, vec!["tax".to_owned()]));
    /// # Ok::<(), lossdepth::DepthError>(())
    /// ```
    ///
    /// # Errors
    /// No common column, or columns that hold times or truth values in one table only.
    pub fn stacked(&self, below: &Self) -> Result<(Self, Vec<String>)> {
        let (mut columns, mut left_out, mut wrong) = (Vec::new(), Vec::new(), Vec::new());
        for column in self.columns() {
            match below.column(&column.name) {
                None => left_out.push(column.name.clone()),
                Some(other) => match stacked(&column.values, &other.values) {
                    Some(values) => columns.push(Column { name: column.name.clone(), values }),
                    None => wrong.push(format!(
                        "column `{}` holds {} in the first table and {} in the second",
                        column.name,
                        held(&column.values),
                        held(&other.values)
                    )),
                },
            }
        }
        let only_below = below.columns().iter().filter(|column| self.column(&column.name).is_none());
        left_out.extend(only_below.map(|column| column.name.clone()));
        if !wrong.is_empty() {
            return Err(DepthError::Table(wrong.join("\n")));
        }
        if columns.is_empty() {
            return Err(DepthError::Table("the two tables have no column of the same name".to_owned()));
        }
        Ok((Self::new(columns)?, left_out))
    }
}

fn stacked(above: &Values, below: &Values) -> Option<Values> {
    fn both<T: Clone>(above: &[T], below: &[T]) -> Vec<T> {
        above.iter().chain(below).cloned().collect()
    }
    Some(match (above, below) {
        (Values::Numbers(a), Values::Numbers(b)) => Values::Numbers(both(a, b)),
        (Values::Times(a), Values::Times(b)) => Values::Times(both(a, b)),
        (Values::Booleans(a), Values::Booleans(b)) => Values::Booleans(both(a, b)),
        (Values::Numbers(_) | Values::Texts(_), Values::Numbers(_) | Values::Texts(_)) => {
            let mut texts = Texts::default();
            append(&mut texts, above);
            append(&mut texts, below);
            Values::Texts(texts)
        }
        _ => return None,
    })
}

fn append(texts: &mut Texts, values: &Values) {
    match values {
        Values::Numbers(numbers) => {
            for number in numbers {
                texts.push((!number.is_nan()).then(|| number.to_string()).as_deref());
            }
        }
        Values::Texts(more) => (0..more.codes().len()).for_each(|row| texts.push(more.get(row))),
        Values::Booleans(_) | Values::Times(_) => {}
    }
}

fn held(values: &Values) -> &'static str {
    match values {
        Values::Numbers(_) => "numbers",
        Values::Texts(_) => "texts",
        Values::Booleans(_) => "truth values",
        Values::Times(_) => "times",
    }
}
