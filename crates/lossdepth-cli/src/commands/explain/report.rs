//! What is said about rows, ready to be written as a table or as JSON.

use super::super::inputs::Inputs;
use super::super::oddest::queries as queries_of;
use super::super::plot::in_words;
use super::Depths;
use crate::error::Result;
use crate::load::is_numeric;
use lossdepth::data::{ColumnKind, Group, GroupKind};
use lossdepth::outliers::{WordedReason, reasons_in_words};
use lossdepth::{Explanation, Method, Model, Reason, Rows, Run, Settings, Stop};
use lossdepth_plot::EmpiricalDistribution;
use serde::Serialize;

/// Everything about some rows.
#[derive(Debug, Serialize)]
pub(super) struct Report {
    /// Of what follows: it grows when a field changes its meaning.
    format: u32,
    version: &'static str,
    settings: Settings,
    reference_rows: usize,
    #[serde(skip)]
    pub(super) about: String,
    #[serde(skip)]
    pub(super) method: Method,
    pub(super) rows: Vec<Row>,
}

/// Everything about one row.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    #[serde(skip)]
    pub(super) name: String,
    #[serde(rename = "row")]
    id: Id,
    #[serde(skip)]
    pub(super) number: usize,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) label: Option<String>,
    pub(super) depth: f64,
    pub(super) error: f64,
    pub(super) stderr: f64,
    pub(super) stop: Stop,
    /// The share of the reference with a lower depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) deeper_than: Option<f64>,
    /// The share of the reference with a higher depth.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) shallower_than: Option<f64>,
    /// The classifier at the row, and its mean over the reference.
    pub(super) value: f64,
    pub(super) baseline: f64,
    /// Whether `value` is `baseline` and the contributions of the columns, added in order.
    pub(super) linear: bool,
    pub(super) columns: Vec<Column>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) cuts: Vec<Cut>,
    pub(super) influential: Vec<Influential>,
    /// Why the row is odd in words, where the method has no classifier to show.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(super) reasons: Vec<Worded>,
    /// The gradient of the classifier at the row; not of a forest.
    #[serde(skip)]
    pub(super) gradient: Option<Vec<f64>>,
    /// Columns by contribution, or by slope where the classifier is not linear.
    #[serde(skip)]
    pub(super) order: Vec<usize>,
}

#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
enum Id {
    Text(String),
    Number(usize),
}

/// A column at one row.
#[derive(Debug, Serialize)]
pub(super) struct Column {
    pub(super) name: String,
    pub(super) value: Shown,
    /// The share of the reference below the value, and half of what is equal to it; of a category the share of its level.
    pub(super) place: f64,
    /// Of a category the most frequent level.
    pub(super) median: Shown,
    /// The distance between the quartiles of the reference; 0 of a category.
    pub(super) iqr: f64,
    /// The coefficient of a linear classifier; of others the slope at the row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) weight: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) contribution: Option<f64>,
}

/// A value: a number, or a date, a level or a gap in words.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub(super) enum Shown {
    Number(f64),
    Text(String),
}

/// A side of the boxes that trees put around a row.
#[derive(Debug, Serialize)]
pub(super) struct Cut {
    pub(super) column: String,
    /// Whether larger values are outside.
    pub(super) above: bool,
    pub(super) threshold: f64,
    /// The level of a category that is inside, alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) level: Option<String>,
    /// The share of the trees that make it.
    pub(super) probability: f64,
    /// The share of the reference that it leaves with the row.
    pub(super) share: f64,
}

/// A reason in words.
#[derive(Debug, Serialize)]
pub(super) struct Worded {
    pub(super) column: String,
    pub(super) value: String,
    pub(super) text: String,
    /// The share of the row's outlyingness.
    pub(super) share: f64,
}

/// A row of the reference that matters.
#[derive(Debug, Serialize)]
pub(super) struct Influential {
    /// Its number, or its id where the data is its own reference.
    row: Id,
    #[serde(skip)]
    pub(super) name: String,
    influence: f64,
    /// How the depth would change without it.
    pub(super) without: f64,
    /// The classifier there, where it is not linear.
    #[serde(skip_serializing_if = "Option::is_none")]
    witness: Option<f64>,
}

/// How many reference rows are named.
const NAMED: usize = 3;

/// How many reasons in words a row has at most.
const MOST_REASONS: usize = 6;

impl From<WordedReason> for Worded {
    fn from(reason: WordedReason) -> Self {
        let WordedReason { name: column, value, text, share, .. } = reason;
        Self { column, value, text, share }
    }
}

impl Report {
    pub(super) fn new(
        settings: &Settings,
        inputs: &Inputs,
        model: &Model,
        chosen: &[usize],
        depths: &Depths,
        run: Run<'_>,
    ) -> Result<Self> {
        let data = inputs.data.part()?;
        let reference = &inputs.reference;
        let numbers: Vec<f64> = chosen.iter().flat_map(|&row| data.rows.row(row)).copied().collect();
        let queries = Rows::new(&numbers, reference.width())?;
        queries.check_finite().map_err(|error| inputs.locate(error))?;
        let found = model.explain(queries, &run)?;
        let names = &inputs.names;
        let ranked = (0..reference.width())
            .map(|j| {
                let column: Vec<f64> = reference.rows().iter().map(|row| row[j]).collect();
                EmpiricalDistribution::new(&column, reference.weights())
            })
            .collect::<Result<Vec<EmpiricalDistribution>, _>>()?;
        let sample = Sample { inputs, names, columns: &ranked, depths: depths.ranked.as_ref() };
        let row = |(&number, why): (&usize, &Explanation)| sample.row(number, why);
        let mut rows = chosen.iter().zip(&found).map(row).collect::<Result<Vec<_>>>()?;
        if rows.iter().any(|row| row.gradient.is_none() && row.cuts.is_empty()) {
            let worded = reasons_in_words(model, queries_of(inputs)?, chosen, MOST_REASONS, &run)?;
            for (row, worded) in rows.iter_mut().zip(worded) {
                row.reasons = worded.into_iter().map(Worded::from).collect();
            }
        }
        Ok(Self {
            format: 1,
            version: env!("CARGO_PKG_VERSION"),
            settings: settings.clone(),
            reference_rows: reference.len(),
            about: format!("{}; {} rows in the sample.", in_words(settings), reference.len()),
            method: settings.method,
            rows,
        })
    }

    pub(super) fn json(&self) -> String {
        serde_json::to_string_pretty(self).unwrap_or_default() + "\n"
    }
}

/// What rows are compared with.
struct Sample<'a> {
    inputs: &'a Inputs,
    names: &'a [String],
    columns: &'a [EmpiricalDistribution],
    depths: Option<&'a EmpiricalDistribution>,
}

impl Sample<'_> {
    fn row(&self, number: usize, why: &Explanation) -> Result<Row> {
        let data = self.inputs.data.part()?;
        let numeric = is_numeric(&self.inputs.encoding);
        let iqr = |j: usize| self.columns[j].quantile(0.75) - self.columns[j].quantile(0.25);
        let units: Vec<f64> = (0..self.columns.len()).map(iqr).collect();
        let columns: Vec<Column> =
            (0..self.names.len()).map(|c| self.column(number, c, why)).collect::<Result<_>>()?;
        let every = self.names.len();
        let order = if numeric {
            why.top_contributions(every).or_else(|| why.steepest(every, &units)).unwrap_or_default()
        } else {
            by_size(&columns)
        };
        let id = data.ids.map_or(Id::Number(number), |ids| Id::Text(ids[number].clone()));
        let place = |share: &dyn Fn(&EmpiricalDistribution) -> f64| self.depths.map(share);
        Ok(Row {
            name: match &id {
                Id::Text(text) => format!("row {number} ({text})"),
                Id::Number(number) => format!("row {number}"),
            },
            id,
            number,
            label: data.labels.map(|labels| labels[number].clone()),
            depth: why.fit.depth,
            error: why.fit.error,
            stderr: why.fit.stderr,
            stop: why.fit.stop,
            deeper_than: place(&|depths| depths.below(why.fit.depth)),
            shallower_than: place(&|depths| 1.0 - depths.at_most(why.fit.depth)),
            value: why.value,
            baseline: why.baseline,
            linear: matches!(why.reason, Reason::Linear { .. }),
            columns,
            cuts: why.cuts().unwrap_or_default().iter().map(|cut| self.cut(number, cut)).collect(),
            influential: self.influential(number, why)?,
            reasons: Vec::new(),
            gradient: why.gradient().map(<[f64]>::to_vec),
            order,
        })
    }

    /// An original column at a row: its number, or its level with all coordinates of it.
    fn column(&self, number: usize, column: usize, why: &Explanation) -> Result<Column> {
        let (inputs, data) = (self.inputs, self.inputs.data.part()?);
        let (learned, values) = (&inputs.encoding.columns()[column], data.rows.row(number));
        let coordinates: Vec<usize> = inputs
            .encoding
            .layout()
            .groups()
            .iter()
            .filter(|g| g.column == column)
            .flat_map(Group::range)
            .collect();
        let first = coordinates.first().copied().unwrap_or(0);
        let written = inputs.data.block.cell(number, column, &inputs.encoding);
        let is_gap = written.is_none();
        let sum = |part: &dyn Fn(usize) -> f64| coordinates.iter().map(|&j| part(j)).sum::<f64>();
        let contribution = why.contributions().map(|parts| match coordinates.len() {
            1 => parts[first],
            _ => sum(&|j| parts[j]),
        });
        let name = self.names[column].clone();
        let gap = || Shown::Text("a gap".to_owned());
        if learned.quantiles().is_some() {
            let ranked = &self.columns[first];
            let shown = |value: f64| match learned.kind() {
                ColumnKind::Number => Shown::Number(value),
                _ => Shown::Text(learned.format_value(value)),
            };
            return Ok(Column {
                name,
                value: if is_gap { gap() } else { shown(values[first]) },
                place: ranked.mid_rank(values[first]),
                median: shown(ranked.quantile(0.5)),
                iqr: ranked.quantile(0.75) - ranked.quantile(0.25),
                weight: why.gradient().map(|gradient| gradient[first]),
                contribution,
            });
        }
        let share = |level: &str| {
            let known = learned.levels().iter().find(|known| known.name == level);
            known.map_or(0.0, |known| known.count / learned.observations())
        };
        let means = inputs.reference.mean();
        // What the level of the row, instead of those of the sample, changes.
        let change = |gradient: &[f64]| sum(&|j| gradient[j] * (values[j] - means[j]));
        Ok(Column {
            name,
            place: if is_gap { learned.gap_share() } else { share(written.as_deref().unwrap_or_default()) },
            value: written.map_or_else(gap, Shown::Text),
            median: learned.levels().first().map_or_else(gap, |level| Shown::Text(level.name.clone())),
            iqr: 0.0,
            weight: why.gradient().filter(|_| contribution.is_none()).map(change),
            contribution,
        })
    }

    fn cut(&self, number: usize, cut: &lossdepth::methods::explanation::Cut) -> Cut {
        let groups = self.inputs.encoding.layout().groups();
        let group = groups.iter().find(|group| group.range().contains(&cut.feature));
        let name = group.map_or_else(String::new, |group| self.names[group.column].clone());
        let level = group.filter(|group| group.kind != GroupKind::Number).map(|group| {
            let cell = self.inputs.data.block.cell(number, group.column, &self.inputs.encoding);
            match group.kind {
                GroupKind::Gap if cell.is_some() => "no gap".to_owned(),
                _ => cell.unwrap_or_else(|| "a gap".to_owned()),
            }
        });
        Cut {
            column: name,
            above: cut.above,
            threshold: cut.threshold,
            level,
            probability: cut.probability,
            share: cut.share,
        }
    }

    fn influential(&self, number: usize, why: &Explanation) -> Result<Vec<Influential>> {
        let ids = self.inputs.reference_ids()?;
        let weights = self.inputs.reference.weights();
        let Some(influence) = &why.influence else { return Ok(Vec::new()) };
        let order = why.most_influential(influence.len()).unwrap_or_default();
        // Not rows without weight, nor those with less than a tenth of the largest influence.
        let largest = order.first().map_or(0.0, |&i| influence[i].abs());
        let rows = order.into_iter().filter(|&i| weights[i] > 0.0 && influence[i].abs() >= 0.1 * largest);
        Ok(rows
            .take(NAMED)
            .map(|i| Influential {
                row: ids.map_or(Id::Number(i), |ids| Id::Text(ids[i].clone())),
                name: match ids {
                    _ if i == number && self.inputs.is_its_own_reference() => "the row itself".to_owned(),
                    Some(ids) => format!("row {i} ({})", ids[i]),
                    None => format!("row {i}"),
                },
                influence: influence[i],
                without: why.without(i, weights[i]).unwrap_or(0.0),
                witness: why.witness().map(|witness| witness[i]),
            })
            .collect())
    }
}

/// Columns by their contributions, the most negative first; or by what the classifier changes along them.
fn by_size(columns: &[Column]) -> Vec<usize> {
    let size = |column: &Column| match (column.contribution, column.weight) {
        (Some(part), _) => part,
        (None, Some(weight)) if column.iqr > 0.0 => -(weight * column.iqr).abs(),
        (None, Some(weight)) => -weight.abs(),
        _ => 0.0,
    };
    let mut order: Vec<usize> = (0..columns.len()).collect();
    order.sort_by(|&a, &b| size(&columns[a]).total_cmp(&size(&columns[b])));
    order
}
