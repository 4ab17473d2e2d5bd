//! Which column plays which part.

use super::table::Table;
use crate::args::Roles;
use crate::error::{Problem, Result, shorten};
use crate::suggest::nearest;

/// The columns of one table, by position.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(crate) struct Columns {
    /// What is compared, in order.
    pub(crate) features: Vec<usize>,
    pub(crate) label: Option<usize>,
    pub(crate) id: Option<usize>,
    pub(crate) weights: Option<usize>,
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
        };
        columns.features = columns.choose(table, roles)?;
        Ok(columns)
    }

    /// The names of what is compared.
    pub(crate) fn names(&self, table: &Table) -> Vec<String> {
        self.features.iter().map(|&column| table.names()[column].clone()).collect()
    }

    /// The names of the columns that play no part.
    pub(crate) fn unused(&self, table: &Table) -> Vec<String> {
        let used = |&column: &usize| self.features.contains(&column) || self.role(column).is_some();
        (0..table.compared()).filter(|column| !used(column)).map(|c| table.names()[c].clone()).collect()
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
            let free: Vec<usize> = (0..table.compared()).filter(|&c| self.role(c).is_none()).collect();
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

/// The columns of a reference and of the data to compare with it, feature by feature.
///
/// Label and id are the data's, weights the reference's; where the other table has such a column too, it is not
/// compared either.
pub(crate) fn pair(reference: &Table, data: &Table, roles: &Roles) -> Result<(Columns, Columns)> {
    let in_data = |asked: &Option<String>| asked.as_deref().map(|asked| find(data, asked)).transpose();
    let (label, id) = (in_data(&roles.label)?, in_data(&roles.id)?);
    let weights = roles.weights.as_deref().map(|asked| find(reference, asked)).transpose()?;
    let by_name = reference.has_header() && data.has_header();
    let same = |from: &Table, to: &Table, column: usize| {
        if by_name {
            to.names().iter().position(|name| *name == from.names()[column])
        } else {
            Some(column).filter(|&c| c < to.names().len())
        }
    };
    let there = |column: Option<usize>| column.and_then(|c| same(data, reference, c));

    let mut ours = Columns {
        label: there(label).or(reference.own_label()),
        id: there(id),
        weights,
        ..Columns::default()
    };
    let mut theirs = Columns {
        label: label.or(data.own_label()),
        id,
        weights: weights.and_then(|c| same(reference, data, c)),
        ..Columns::default()
    };
    ours.features = ours.choose(reference, roles)?;
    theirs.features = if by_name {
        let match_up = |&column: &usize| named(data, &reference.names()[column]);
        ours.features.iter().map(match_up).collect::<Result<_>>()?
    } else {
        theirs.choose(data, roles)?
    };
    let (expected, got) = (ours.features.len(), theirs.features.len());
    if expected != got {
        let reference = reference.file().to_owned();
        return Err(data.problem(Problem::Widths { reference, expected, got }));
    }
    Ok((Columns { label: None, id: None, ..ours }, theirs))
}

/// The columns of the data that go with those of a model: those asked for, in their order; else by name if both have
/// names; else by position.
pub(crate) fn fitting(
    data: &Table,
    roles: &Roles,
    names: Option<&[String]>,
    width: usize,
    model: &str,
) -> Result<Columns> {
    let in_data = |asked: &Option<String>| asked.as_deref().map(|asked| find(data, asked)).transpose();
    let (label, id) = (in_data(&roles.label)?.or(data.own_label()), in_data(&roles.id)?);
    let mut columns = Columns { features: Vec::new(), label, id, weights: None };
    columns.features = match names.filter(|_| data.has_header() && roles.columns.is_none()) {
        Some(names) => names.iter().map(|name| named(data, name)).collect::<Result<_>>()?,
        None => columns.choose(data, roles)?,
    };
    let got = columns.features.len();
    if got != width {
        let reference = model.to_owned();
        return Err(data.problem(Problem::Widths { reference, expected: width, got }));
    }
    Ok(columns)
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
