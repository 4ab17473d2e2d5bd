//! Rows as a model wants them.

use crate::designs::Drawn;
use lossdepth::data::{Column, Encoding, EncodingOptions, GroupKind, Layout, Table, Texts, Values};
use lossdepth::model::Model;
use lossdepth::{Method, Preset, Reference, Settings};
use std::error::Error;

/// A fitted model, and how rows are encoded for it.
pub(crate) struct Fitted {
    pub(crate) model: Model,
    encoding: Option<Encoding>,
}

impl Fitted {
    /// Fits a method with the preset `recommended` to rows of a drawn table.
    pub(crate) fn new(method: Method, drawn: &Drawn, rows: &[Vec<f64>]) -> Result<Self, Box<dyn Error>> {
        let settings = Settings::with(method, Preset::Recommended.values(method, rows.len() as f64)?)?;
        if drawn.has_gaps {
            let model = settings.fit_table(&table(drawn, rows)?, None, &EncodingOptions::default())?;
            let encoding = model.encoding().cloned();
            return Ok(Self { model, encoding });
        }
        let layout = layout(drawn, rows[0].len());
        let sample =
            Reference::from_vec(coordinates(drawn, rows), layout.width(), None)?.with_layout(layout)?;
        Ok(Self { model: settings.fit(&sample)?, encoding: None })
    }

    /// Rows of the table, encoded one after the other.
    pub(crate) fn encoded(&self, drawn: &Drawn, rows: &[Vec<f64>]) -> Result<Vec<f64>, Box<dyn Error>> {
        Ok(match &self.encoding {
            Some(encoding) => encoding.encode(&table(drawn, rows)?)?.values,
            None => coordinates(drawn, rows),
        })
    }

    /// The coordinates of the columns, without those that say that there is a gap.
    pub(crate) fn layout(&self) -> Layout {
        let sample = self.model.reference();
        sample.layout().cloned().unwrap_or_else(|| Layout::numbers(sample.width()))
    }
}

/// Texts for levels, gaps for what is not a number.
fn table(drawn: &Drawn, rows: &[Vec<f64>]) -> Result<Table, Box<dyn Error>> {
    let column = |(j, &levels): (usize, &usize)| {
        let numbers = rows.iter().map(|row| row[j]);
        let values = if levels == 0 {
            Values::Numbers(numbers.collect())
        } else {
            let mut texts = Texts::default();
            for level in numbers {
                let text = format!("level {level}");
                texts.push((!level.is_nan()).then_some(&text));
            }
            Values::Texts(texts)
        };
        Column { name: format!("c{j}"), values }
    };
    Ok(Table::new(drawn.levels.iter().enumerate().map(column).collect())?)
}

/// Which encoded columns belong together.
fn layout(drawn: &Drawn, width: usize) -> Layout {
    let group = |(j, &levels): (usize, &usize)| match levels {
        0 => (j, GroupKind::Number, 1),
        levels => (j, GroupKind::Category, levels),
    };
    if drawn.levels.is_empty() {
        Layout::numbers(width)
    } else {
        Layout::new(drawn.levels.iter().enumerate().map(group))
    }
}

/// A coordinate for each level; two independent rows are at a squared distance of 2 on average.
fn coordinates(drawn: &Drawn, rows: &[Vec<f64>]) -> Vec<f64> {
    if drawn.levels.is_empty() {
        return rows.concat();
    }
    let value = |(x, &levels): (&f64, &usize)| match levels {
        0 => vec![*x],
        levels => {
            let size = (1.0 - 1.0 / levels as f64).sqrt().recip();
            (0..levels).map(|level| if *x == level as f64 { size } else { 0.0 }).collect()
        }
    };
    rows.iter().flat_map(|row| row.iter().zip(drawn.levels).flat_map(value)).collect()
}
