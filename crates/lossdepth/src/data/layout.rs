//! Which encoded columns belong together, and which original column they come from.

use super::Rows;
use crate::error::{DepthError, Result};
use serde::{Deserialize, Serialize};
use std::collections::BTreeSet;

/// What a group of encoded columns stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum GroupKind {
    /// One number; scalings are learned on these alone.
    Number,
    /// A category: a coordinate for each level, all 0 but the one of the row's level. Scalings leave it as it is.
    Category,
    /// Whether the value of the column is a gap: a category of two levels.
    Gap,
}

/// Neighbouring encoded columns that are one idea: a number, or the coordinates of one category.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub struct Group {
    /// The original column, counted from 0 among those that are compared.
    pub column: usize,
    /// What the group stands for.
    pub kind: GroupKind,
    /// The first encoded column.
    pub start: usize,
    /// How many encoded columns there are: 1 for a number.
    pub width: usize,
}

impl Group {
    /// The encoded columns of the group.
    pub fn range(&self) -> std::ops::Range<usize> {
        self.start..self.start + self.width
    }

    /// Whether the group is a category, be it of levels or of gaps.
    pub fn is_category(&self) -> bool {
        self.kind != GroupKind::Number
    }

    /// The level that a row of encoded columns has in this category: the place of its only number other than 0.
    /// `None` if there is no such number, or more than one.
    pub fn level(&self, row: &[f64]) -> Option<usize> {
        let mut levels = row[self.range()].iter().enumerate().filter(|(_, x)| **x != 0.0).map(|(at, _)| at);
        levels.next().filter(|_| levels.next().is_none())
    }
}

/// The groups of all encoded columns, in order and without gaps between them.
///
/// ```
/// use lossdepth::data::{GroupKind, Layout};
/// let layout = Layout::new([(0, GroupKind::Number, 1), (1, GroupKind::Category, 3)]);
/// assert_eq!((layout.width(), layout.columns()), (4, 2));
/// assert_eq!(layout.groups()[1].range(), 1..4);
/// assert!(!layout.is_numeric());
/// ```
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Layout {
    groups: Vec<Group>,
}

impl Layout {
    /// Groups of these original columns, kinds and widths, one after the other.
    pub fn new(groups: impl IntoIterator<Item = (usize, GroupKind, usize)>) -> Self {
        let mut start = 0;
        let place = |(column, kind, width): (usize, GroupKind, usize)| {
            let group = Group { column, kind, start, width };
            start += width;
            group
        };
        Self { groups: groups.into_iter().map(place).collect() }
    }

    /// As many numbers as there are columns.
    pub fn numbers(width: usize) -> Self {
        Self::new((0..width).map(|column| (column, GroupKind::Number, 1)))
    }

    /// The groups, in order.
    pub fn groups(&self) -> &[Group] {
        &self.groups
    }

    /// How many encoded columns there are.
    pub fn width(&self) -> usize {
        self.groups.last().map_or(0, |group| group.start + group.width)
    }

    /// How many original columns there are.
    pub fn columns(&self) -> usize {
        self.groups.iter().map(|group| group.column + 1).max().unwrap_or(0)
    }

    /// Whether every group is a number.
    pub fn is_numeric(&self) -> bool {
        self.groups.iter().all(|group| group.kind == GroupKind::Number)
    }

    /// The groups that are numbers.
    pub fn number_groups(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| !group.is_category())
    }

    /// The groups that are categories, be it of levels or of gaps.
    pub fn categories(&self) -> impl Iterator<Item = &Group> {
        self.groups.iter().filter(|group| group.is_category())
    }

    /// Whether all columns are numbers, as `method` needs them.
    pub(crate) fn check_numeric(&self, method: &'static str) -> Result<()> {
        if self.is_numeric() {
            return Ok(());
        }
        let of = |kind: GroupKind| -> Vec<usize> {
            let columns = self.groups.iter().filter(|group| group.kind == kind).map(|group| group.column);
            columns.collect::<BTreeSet<_>>().into_iter().collect()
        };
        Err(DepthError::Categories { method, categories: of(GroupKind::Category), gaps: of(GroupKind::Gap) })
    }

    /// With so many more columns of numbers at the end.
    pub(crate) fn with_numbers(&self, count: usize) -> Self {
        let known = self.groups.iter().map(|group| (group.column, group.kind, group.width));
        let more = (self.columns()..).take(count).map(|column| (column, GroupKind::Number, 1));
        Self::new(known.chain(more))
    }

    /// Whether the groups are those of the columns of these rows.
    pub(crate) fn check(&self, rows: Rows<'_>) -> Result<()> {
        let mut start = 0;
        for (at, group) in self.groups.iter().enumerate() {
            let &Group { width, column, .. } = group;
            let room = rows.width() - start;
            if group.start != start || width == 0 || width > room {
                return Err(DepthError::Table(format!(
                    "group {at} of the layout has the encoded columns from {} on, {width} of them; it should have some \
                     of the {room} from {start} on",
                    group.start
                )));
            }
            if column >= self.groups.len() {
                return Err(DepthError::Table(format!(
                    "group {at} of the layout is of column {column}, but there are {} groups only",
                    self.groups.len()
                )));
            }
            if !group.is_category() && width != 1 {
                return Err(DepthError::Table(format!(
                    "column {column} is a number, but has {width} encoded columns"
                )));
            }
            start += width;
        }
        if start != rows.width() {
            return Err(DepthError::Table(format!(
                "the layout has {start} encoded columns, the rows have {}",
                rows.width()
            )));
        }
        for (at, row) in rows.iter().enumerate() {
            if let Some(group) = self.categories().find(|group| group.level(row).is_none()) {
                return Err(DepthError::Table(format!(
                    "row {at} must have exactly one number other than 0 among its encoded columns {} to {}, the levels of \
                     column {}",
                    group.start,
                    group.start + group.width - 1,
                    group.column
                )));
            }
        }
        Ok(())
    }
}
