//! Which column plays which part.

use super::table::Table;
use crate::args::Roles;
use crate::error::{Error, Problem, Result, shorten};
use crate::suggest::nearest;
use lossdepth::data::{ColumnKind, Encoding, EncodingOptions};
use std::collections::BTreeMap;

/// The columns of one table, by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// What is compared, in order.
    pub(crate) features: Vec<usize>,
    pub(crate) label: Option<usize>,
    pub(crate) id: Option<usize>,
    pub(crate) weights: Option<usize>,
    /// Columns whose cells are kept as they are written, because they are known to hold no numbers.
    pub(crate) exact: Vec<usize>,
    /// Columns that are copied to the output as they are written.
    pub(crate) kept: Vec<usize>,
}

impl Columns {
    /// The columns of data that is its own reference.
    pub(crate) fn of(table: &Table, roles: &Roles) -> Result<Self> {
        let find = |asked: &Option<String>| asked.as_deref().map(|asked| find(table, asked)).transpose();
        let mut columns = Self {
            features: Vec::new(),
            label: find(&roles.label)?.or(table.own_label()),
            id: find(&roles.id)?,
            weights: find(&roles.weights)?,
            ..Self::default()
        };
        columns.features = columns.choose(table, roles)?;
        columns.exact = exact(table, roles)?;
        Ok(columns)
    }

    /// The columns of a table that other data is compared with. Where it has the data's label and id too, they are not
    /// compared.
    pub(crate) fn of_reference(table: &Table, data: &Table, roles: &Roles) -> Result<Self> {
        let there = |asked: &Option<String>| -> Result<Option<usize>> {
            let Some(asked) = asked.as_deref() else { return Ok(None) };
            let column = find(data, asked)?;
            Ok(if table.has_header() && data.has_header() {
                table.names().iter().position(|name| *name == data.names()[column])
            } else {
                Some(column).filter(|&column| column < table.names().len())
            })
        };
        let mut columns = Self {
            label: there(&roles.label)?.or(table.own_label()),
            id: there(&roles.id)?,
            weights: roles.weights.as_deref().map(|asked| find(table, asked)).transpose()?,
            ..Self::default()
        };
        columns.features = columns.choose(table, roles)?;
        columns.exact = exact(table, roles)?;
        // Names are matched, and only the data's label and id are copied.
        Ok(Self { label: None, id: None, ..columns })
    }

    /// The columns of a second table of equal rank: those that the first one compares, by name if both have names.
    ///
    /// Columns that the second table lacks are left out here.
    pub(crate) fn of_second(table: &Table, first: &Table, ours: &Self) -> Result<Self> {
        let by_name = table.has_header() && first.has_header();
        let place = |&column: &usize| {
            if by_name {
                table.names().iter().position(|name| *name == first.names()[column])
            } else {
                Some(column).filter(|&column| column < table.compared())
            }
        };
        let features: Vec<usize> = ours.features.iter().filter_map(place).collect();
        if features.is_empty() {
            let (theirs, ours) = (list(&ours.names(first)), list(table.names()));
            return Err(table.problem(Problem::NothingShared {
                other: first.file().to_owned(),
                theirs,
                ours,
            }));
        }
        let (weights, exact) = (ours.weights.as_ref().and_then(place), ours.exact.iter().filter_map(place));
        Ok(Self { features, weights, exact: exact.collect(), ..Self::default() })
    }

    /// What is said about the columns that are compared.
    pub(crate) fn options(&self, table: &Table, roles: &Roles) -> Result<EncodingOptions> {
        let compared = kinds(table, roles)?.into_iter().filter(|(column, _)| self.features.contains(column));
        Ok(EncodingOptions {
            kinds: compared.map(|(column, kind)| (table.names()[column].clone(), kind)).collect(),
            missing: roles.missing,
            gap_words: roles.reading.gaps(),
            decimal: table.decimal(),
            day_first: roles.reading.day_first,
            guess: table.guess(),
        })
    }

    /// All columns that are read, some perhaps twice.
    pub(super) fn used(&self) -> impl Iterator<Item = usize> {
        self.cells().chain(self.weights).chain(self.id).chain(self.label)
    }

    /// The columns whose cells are read: what is compared, then what is copied.
    pub(super) fn cells(&self) -> impl Iterator<Item = usize> + Clone {
        self.features.iter().chain(&self.kept).copied()
    }

    /// The same columns, and all columns of the table copied.
    pub(crate) fn keeping(self, table: &Table) -> Self {
        Self { kept: (0..table.names().len()).filter(|column| !table.is_nested(*column)).collect(), ..self }
    }

    /// The names of what is compared.
    pub(crate) fn names(&self, table: &Table) -> Vec<String> {
        self.features.iter().map(|&column| table.names()[column].clone()).collect()
    }

    /// The names of what is compared, or of the columns in their places where a table has no names.
    pub(crate) fn names_in(&self, table: &Table, first: &Table) -> Vec<String> {
        let named = if table.has_header() && first.has_header() { table } else { first };
        self.names(named)
    }

    /// The names of the columns that play no part.
    pub(crate) fn unused(&self, table: &Table) -> Vec<String> {
        let used = |&column: &usize| self.features.contains(&column) || self.role(column).is_some();
        (0..table.compared())
            .filter(|c| !used(c) && !table.is_nested(*c))
            .map(|c| table.names()[c].clone())
            .collect()
    }

    /// What a column is, if it is not compared.
    fn role(&self, column: usize) -> Option<&'static str> {
        let is = |role: Option<usize>| role == Some(column);
        match () {
            () if is(self.label) => Some("the label"),
            () if is(self.id) => Some("the id"),
            () if is(self.weights) => Some("the weight"),
            () => None,
        }
    }

    /// The columns to compare: those asked for, or all that have no other part.
    fn choose(&self, table: &Table, roles: &Roles) -> Result<Vec<usize>> {
        let Some(asked) = roles.columns() else {
            let excluded: Vec<usize> =
                roles.exclude().iter().map(|name| find(table, name)).collect::<Result<_>>()?;
            let is_free =
                |c: &usize| self.role(*c).is_none() && !excluded.contains(c) && !table.is_nested(*c);
            let free: Vec<usize> = (0..table.compared()).filter(is_free).collect();
            return if free.is_empty() { Err(table.problem(Problem::NothingToCompare)) } else { Ok(free) };
        };
        let mut chosen = Vec::new();
        for name in asked {
            let column = find(table, &name)?;
            if let Some(role) = self.role(column) {
                return Err(table.problem(Problem::TwoRoles { name, role }));
            }
            if chosen.contains(&column) {
                return Err(table.problem(Problem::Twice { name }));
            }
            chosen.push(column);
        }
        if chosen.is_empty() { Err(table.problem(Problem::NothingToCompare)) } else { Ok(chosen) }
    }
}

/// The columns of the data that go with those of an encoding, in their order. `ours` are those of the reference, of which
/// the encoding may have left some out; label and id are the data's.
pub(crate) fn pair(
    reference: &Table,
    ours: &Columns,
    data: &Table,
    roles: &Roles,
    encoding: &Encoding,
) -> Result<Columns> {
    let by_name = reference.has_header() && data.has_header();
    let mut theirs = of_data(data, roles, encoding, by_name)?;
    if by_name {
        theirs.weights =
            ours.weights.and_then(|c| data.names().iter().position(|n| *n == reference.names()[c]));
        theirs.features = all_named(data, encoding)?;
    } else {
        theirs.weights = ours.weights.filter(|&c| c < data.names().len());
        let features = theirs.choose(data, roles)?;
        let (expected, got) = (ours.features.len(), features.len());
        if expected != got {
            let reference = reference.file().to_owned();
            return Err(data.problem(Problem::Widths { reference, expected, got }));
        }
        let names = ours.names(reference);
        let place = |name: &str| names.iter().position(|own| own == name);
        theirs.features =
            encoding.columns().iter().filter_map(|c| place(c.source())).map(|i| features[i]).collect();
    }
    theirs.set_exact(encoding);
    Ok(Columns { weights: None, ..theirs })
}

/// The columns of the data that go with those of a model: those asked for, in their order; else by name if both have
/// names; else by position.
pub(crate) fn fitting(
    data: &Table,
    roles: &Roles,
    encoding: &Encoding,
    named: bool,
    model: &str,
) -> Result<Columns> {
    let by_name = named && data.has_header() && roles.columns.is_none();
    let mut columns = of_data(data, roles, encoding, by_name)?;
    columns.features = if by_name { all_named(data, encoding)? } else { columns.choose(data, roles)? };
    let (expected, got) = (encoding.columns().len(), columns.features.len());
    if got != expected {
        let reference = model.to_owned();
        return Err(data.problem(Problem::Widths { reference, expected, got }));
    }
    columns.set_exact(encoding);
    Ok(columns)
}

/// The label and the id of the data; an id that the encoding found in the reference is one here too.
fn of_data(data: &Table, roles: &Roles, encoding: &Encoding, by_name: bool) -> Result<Columns> {
    let in_data = |asked: &Option<String>| asked.as_deref().map(|asked| find(data, asked)).transpose();
    let label = in_data(&roles.label)?.or(data.own_label());
    let known = encoding.id().filter(|_| by_name);
    let found =
        known.and_then(|id| data.names().iter().position(|name| name == id)).filter(|c| label != Some(*c));
    Ok(Columns { label, id: in_data(&roles.id)?.or(found), ..Columns::default() })
}

/// The columns of an encoding in a table; all that are not there in one message.
fn all_named(data: &Table, encoding: &Encoding) -> Result<Vec<usize>> {
    let names = || encoding.columns().iter().map(lossdepth::data::EncodedColumn::source);
    let position = |asked: &str| data.names().iter().position(|name| name == asked);
    let missing: Vec<String> = names().filter(|name| position(name).is_none()).map(str::to_owned).collect();
    match &missing[..] {
        [] => Ok(names().filter_map(position).collect()),
        [one] => {
            Err(named(data, one).map_or_else(|error| error, |_| data.problem(Problem::NothingToCompare)))
        }
        more => {
            let hint = case_hint(data, more);
            Err(data.problem(Problem::NoColumns { names: list(more), there: list(data.names()), hint }))
        }
    }
}

/// Says of a name that is there in other letters that it is.
fn case_hint(data: &Table, missing: &[String]) -> String {
    let same = |a: &str, b: &str| a.trim().to_lowercase() == b.trim().to_lowercase();
    let found =
        missing.iter().find_map(|name| Some((name, data.names().iter().find(|own| same(own, name))?)));
    let text = |(name, own): (&String, &String)| {
        format!("; upper and lower case count: `{}` is not `{}`", shorten(own), shorten(name))
    };
    found.map_or_else(String::new, text)
}

impl Columns {
    /// Levels are compared as they are written.
    fn set_exact(&mut self, encoding: &Encoding) {
        let is_level = |kind| matches!(kind, ColumnKind::Category | ColumnKind::Boolean);
        let columns = self.features.iter().zip(encoding.columns());
        self.exact = columns.filter(|(_, column)| is_level(column.kind())).map(|(at, _)| *at).collect();
    }
}

/// The kinds that `--as` says columns have or, where it says nothing, the file.
fn kinds(table: &Table, roles: &Roles) -> Result<BTreeMap<usize, ColumnKind>> {
    let mut found = table.kinds().clone();
    for (name, kind) in roles.kinds().map_err(Error::Usage)? {
        found.insert(find(table, &name)?, kind);
    }
    Ok(found)
}

/// The columns that are said to hold no numbers.
fn exact(table: &Table, roles: &Roles) -> Result<Vec<usize>> {
    let is_text = |kind: &ColumnKind| !matches!(kind, ColumnKind::Number | ColumnKind::Time);
    Ok(kinds(table, roles)?.into_iter().filter(|(_, kind)| is_text(kind)).map(|(column, _)| column).collect())
}

/// A column by its name or its number.
fn find(table: &Table, asked: &str) -> Result<usize> {
    let by_number = || asked.parse().ok().filter(|&column: &usize| column < table.names().len());
    named(table, asked).or_else(|error| by_number().ok_or(error))
}

fn named(table: &Table, asked: &str) -> Result<usize> {
    table
        .names()
        .iter()
        .position(|name| name == asked)
        .ok_or_else(|| table.problem(Problem::NoColumn { asked: asked.to_owned(), hint: hint(table, asked) }))
}

fn hint(table: &Table, asked: &str) -> String {
    let names = table.names();
    if !table.has_header() {
        let (numbered, more) = names.split_at(table.compared());
        let last = numbered.len().saturating_sub(1);
        return match more {
            [] => format!(": there is no header, the columns are 0 to {last}"),
            more => format!("; the columns are 0 to {last} and {}", list(more)),
        };
    }
    if let Some(name) = nearest(asked, names.iter().map(String::as_str)) {
        return format!("; did you mean `{}`?", shorten(name));
    }
    format!("; there are {}", list(names))
}

/// Some names in a sentence, each enough to recognise it by.
pub(crate) fn list(names: &[String]) -> String {
    listed(names, shorten)
}

/// Some names as they are, where they are the answer and not part of a message.
pub(crate) fn list_in_full(names: &[String]) -> String {
    listed(names, str::to_owned)
}

fn listed(names: &[String], name: impl Fn(&str) -> String) -> String {
    const SHOWN: usize = 8;
    let shown: Vec<String> = names.iter().take(SHOWN).map(|full| format!("`{}`", name(full))).collect();
    let shown = shown.join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}
