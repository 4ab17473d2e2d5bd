//! Tables of R's columns, and what is known about the columns of a model.

use crate::convert::{text, texts as all_texts};
use crate::failure::{Answer, Failure};
use extendr_api::prelude::*;
use lossdepth::data::{Column, EncodedColumn, Encoding, EncodingOptions, GroupKind, Table, Texts, Values};

/// A table of columns, each a list of its name, what it holds, the values, and the levels of a factor.
pub(crate) fn table(columns: &Robj) -> Answer<Table> {
    let columns = columns.as_list().ok_or_else(|| Failure::new("a table must be a list of columns"))?;
    Ok(Table::new(columns.values().map(|column| self::column(&column)).collect::<Answer<_>>()?)?)
}

fn column(given: &Robj) -> Answer<Column> {
    let wrong = || Failure::new("a column must be a list of name, what, values and levels");
    let parts: Vec<Robj> = given.as_list().ok_or_else(wrong)?.values().collect();
    let [name, what, values, levels] = &parts[..] else { return Err(wrong()) };
    let doubles = || values.as_real_slice().map(<[f64]>::to_vec).ok_or_else(wrong);
    let values = match text("what", what)? {
        "numbers" => Values::Numbers(doubles()?),
        "times" => Values::Times(doubles()?),
        "booleans" => {
            let truth = |value: &Rbool| if value.is_na() { None } else { Some(value.is_true()) };
            Values::Booleans(values.as_logical_slice().ok_or_else(wrong)?.iter().map(truth).collect())
        }
        "texts" => {
            let (codes, levels) =
                (values.as_integer_slice().ok_or_else(wrong)?, all_texts("levels", levels)?);
            let mut texts = Texts::default();
            for code in codes {
                // NA is the smallest integer.
                let level = usize::try_from(*code).ok().and_then(|code| code.checked_sub(1));
                texts.push(level.and_then(|level| levels.get(level)).map(String::as_str));
            }
            Values::Texts(texts)
        }
        _ => return Err(wrong()),
    };
    Ok(Column { name: text("name", name)?.to_owned(), values })
}

/// What the user says about the columns: kinds as a named list, what to do about gaps, whether to guess ids.
pub(crate) fn options(kinds: &Robj, missing: &Robj, guess: bool) -> Answer<EncodingOptions> {
    let mut options =
        EncodingOptions { missing: text("missing", missing)?.parse()?, guess, ..EncodingOptions::default() };
    if let Some(kinds) = kinds.as_list() {
        for (name, kind) in kinds.iter() {
            options.kinds.insert(name.to_owned(), text("kinds", &kind)?.parse()?);
        }
    }
    Ok(options)
}

/// What an encoding knows: the compared columns, those left out with the reason, the column that names the rows.
pub(crate) fn described(encoding: &Encoding) -> Robj {
    let columns = encoding.columns();
    let (left, why): (Vec<&str>, Vec<String>) =
        encoding.left_out().iter().map(|left| (left.name.as_str(), left.why.to_string())).unzip();
    let levels = columns.iter().map(|column| {
        let total = column.observations();
        let (names, shares): (Vec<&str>, Vec<f64>) =
            column.levels().iter().map(|level| (level.name.as_str(), level.count / total)).unzip();
        list!(level = names, share = shares)
    });
    list!(
        name = columns.iter().map(EncodedColumn::name).collect::<Vec<_>>(),
        kind = columns.iter().map(|column| column.kind().name()).collect::<Vec<_>>(),
        gaps = columns.iter().map(EncodedColumn::gap_share).collect::<Vec<_>>(),
        levels = List::from_values(levels),
        left_out = left,
        why = why,
        id = encoding.id(),
        missing = encoding.missing().name()
    )
    .into()
}

/// Which column of the table each encoded column comes from, and whether it is a number.
pub(crate) fn origins(encoding: &Encoding) -> Vec<(usize, GroupKind)> {
    let groups = encoding.layout().groups().iter();
    groups.flat_map(|group| std::iter::repeat_n((group.column, group.kind), group.width)).collect()
}
