//! A fitted depth as an R object: fit, score, bytes of a model file.

use crate::convert::{method, numbers, settings, text, threads, written};
use crate::failure::{Answer, Failure, given};
use crate::interrupt::interruptible;
use crate::table::{described, options, table};
use extendr_api::prelude::*;
use lossdepth::data::{Column, Encoded, Encoding, EncodingOptions, Table, Values};
use lossdepth::model::archive::Archive;
use lossdepth::{DepthError, Fit, Preset, Reference, Rows, Run, Settings, Stop};
use lossdepth_files::{AtomicFile, memory};
use std::path::Path;
use std::sync::{Arc, OnceLock};

/// A model, and what a file of it would not say.
#[derive(Clone)]
pub(crate) struct Fitted {
    pub(crate) model: Arc<lossdepth::Model>,
    /// For a model without an encoding, the one that its reference has: learned when a query has a gap.
    learned: Arc<OnceLock<Encoding>>,
    /// The names of the columns of a model without an encoding.
    names: Option<Arc<Vec<String>>>,
    /// The limit for kernel values that the user gave.
    memory: Option<f64>,
    /// What the user should know about the columns, if the model was fitted just now.
    spreads: Option<String>,
}

impl Fitted {
    fn new(model: lossdepth::Model, names: Option<Vec<String>>, memory: Option<f64>) -> Self {
        let (model, names) = (Arc::new(model), names.map(Arc::new));
        Self { model, learned: Arc::default(), names, memory, spreads: None }
    }

    /// The same, with a warning if columns of very different spread are compared as they are.
    fn checked(mut self) -> Self {
        let found = self.model.settings().unequal_spreads(self.model.reference());
        self.spreads = found.map(|found| found.in_words(&self.names()));
        self
    }

    /// The model that an R object points to.
    pub(crate) fn of(pointer: &Robj) -> Answer<Self> {
        let pointer = ExternalPtr::<Self>::try_from(pointer.clone());
        let fitted = pointer.ok().and_then(|pointer| pointer.try_addr().ok().cloned());
        fitted.ok_or_else(|| Failure::new("this is no model of lossdepth"))
    }

    /// The names of the columns that the model compares; numbers from 1 where it has none.
    pub(crate) fn names(&self) -> Vec<String> {
        match (self.model.encoding(), &self.names) {
            (Some(encoding), _) => encoding.columns().iter().map(|column| column.name().to_owned()).collect(),
            (None, Some(names)) => names.to_vec(),
            (None, None) => (1..=self.model.width()).map(|column| column.to_string()).collect(),
        }
    }

    /// An error of this model, with the names of its columns.
    pub(crate) fn failure(&self, error: DepthError) -> Failure {
        Failure::named(error, &self.names())
    }

    /// The encoding of the model, or of its reference.
    pub(crate) fn encoding(&self, options: &EncodingOptions) -> Answer<&Encoding> {
        if let Some(encoding) = self.model.encoding().or_else(|| self.learned.get()) {
            return Ok(encoding);
        }
        let sample = self.model.reference();
        let column = |(at, name)| {
            let values = sample.rows().as_slice().iter().skip(at).step_by(sample.width()).copied().collect();
            Column { name, values: Values::Numbers(values) }
        };
        let table = Table::new(self.names().into_iter().enumerate().map(column).collect())?;
        let (encoding, _) = Encoding::learn(&table, sample.given_weights(), options)?;
        Ok(self.learned.get_or_init(|| encoding))
    }

    /// The rows of a table as the model takes them. A model without an encoding finds its columns by name if it has names,
    /// and otherwise by their order.
    pub(crate) fn encode(&self, table: &Table, options: &EncodingOptions) -> Answer<Encoded> {
        if self.model.encoding().is_some() {
            return Ok(self.encoding(options)?.encode(table)?);
        }
        let columns = self.columns(table)?;
        let complete = |column: &Column| matches!(&column.values, Values::Numbers(all) if !all.iter().any(|x| x.is_nan()));
        if !columns.iter().all(complete) {
            return Ok(self.encoding(options)?.encode(&Table::new(columns)?)?);
        }
        let mut values = vec![0.0; table.rows() * columns.len()];
        for (at, column) in columns.iter().enumerate() {
            let Values::Numbers(numbers) = &column.values else { continue };
            for (to, number) in values.iter_mut().skip(at).step_by(columns.len()).zip(numbers) {
                *to = *number;
            }
        }
        let rows = Rows::new(&values, columns.len())?;
        rows.check_finite().map_err(|error| self.failure(error))?;
        Ok(Encoded { width: columns.len(), rows: (0..table.rows()).collect(), values, notes: Vec::new() })
    }

    fn columns(&self, table: &Table) -> Answer<Vec<Column>> {
        let names = self.names();
        if self.names.is_some() {
            let missing = names.iter().filter(|name| table.column(name).is_none());
            let missing: Vec<String> = missing.map(|name| format!("`{name}`")).collect();
            if !missing.is_empty() {
                let what = if missing.len() == 1 { "column" } else { "columns" };
                return Err(Failure::new(format!("the new data lacks {what} {}", missing.join(", "))));
            }
            return Ok(names.iter().filter_map(|name| table.column(name).cloned()).collect());
        }
        let got = table.columns().len();
        if got != names.len() {
            return Err(Failure::new(format!("the new data has {got} columns, the model {}", names.len())));
        }
        let renamed = |(column, name): (&Column, String)| Column { name, values: column.values.clone() };
        Ok(table.columns().iter().zip(names).map(renamed).collect())
    }
}

/// The settings, with half of the memory of the machine where they name no limit.
pub(crate) fn within_memory(settings: &Settings) -> Settings {
    Settings { memory: settings.memory.or_else(memory::half), ..settings.clone() }
}

/// How many observations weights count as, for presets.
fn observations(rows: usize, weights: Option<&[f64]>) -> f64 {
    weights.map_or(rows as f64, |weights| weights.iter().sum())
}

/// Fits a method to a table. With `guess` columns of all-different values may be taken for the one that names the rows,
/// and the encoding is kept even if it changes nothing.
#[extendr]
#[expect(clippy::too_many_arguments, reason = "a call from R, where they have names")]
fn native_fit(
    columns: Robj,
    named: bool,
    weights: Robj,
    method: Robj,
    settings: Robj,
    preset: Robj,
    kinds: Robj,
    missing: Robj,
    guess: bool,
) -> Robj {
    given(fit(&columns, named, &weights, (&method, &settings, &preset), (&kinds, &missing, guess)))
}

fn fit(
    columns: &Robj,
    named: bool,
    weights: &Robj,
    (name, values, preset): (&Robj, &Robj, &Robj),
    (kinds, missing, guess): (&Robj, &Robj, bool),
) -> Answer<Robj> {
    let table = table(columns)?;
    let weights = numbers("weights", weights)?;
    let settings = settings(method(name)?, values, preset, observations(table.rows(), weights.as_deref()))?;
    let options = options(kinds, missing, guess)?;
    let of_paper = !preset.is_null() && text("preset", preset)?.parse::<Preset>()?.is_of_paper();
    let fitted = interruptible(move |_| {
        let checked = |fitted: Fitted| if of_paper { fitted } else { fitted.checked() };
        let (encoding, encoded) = Encoding::learn(&table, weights.as_deref(), &options)?;
        let names: Vec<String> = encoding.columns().iter().map(|column| column.name().to_owned()).collect();
        let failure = |error| Failure::named(error, &names);
        let weights = weights.map(|weights| encoded.rows.iter().map(|&row| weights[row]).collect());
        let sample = Reference::from_vec(encoded.values, encoded.width, weights).map_err(failure)?;
        let within = within_memory(&settings);
        if encoding.is_plain() && !guess {
            let model = within.fit(&sample).map_err(failure)?;
            return Ok(checked(Fitted::new(model, named.then_some(names), settings.memory)));
        }
        let sample = sample.with_layout(encoding.layout().clone()).map_err(failure)?;
        let model = within.fit(&sample).map_err(failure)?.with_encoding(encoding);
        Ok(checked(Fitted::new(model, None, settings.memory)))
    })?;
    Ok(ExternalPtr::new(fitted).into())
}

/// The scores of each row of a table, or of the reference for `NULL`: depth, error, standard error, iterations, whether
/// the tolerance was reached, and which rows of the table they belong to.
#[extendr]
fn native_score(model: Robj, columns: Robj, missing: Robj, threads: Robj, depths_only: bool) -> Robj {
    given(score(&model, &columns, &missing, &threads, depths_only))
}

fn score(model: &Robj, columns: &Robj, missing: &Robj, threads: &Robj, depths_only: bool) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let queries = if columns.is_null() { None } else { Some(table(columns)?) };
    let (options, threads) = (options(&NULL.into(), missing, false)?, self::threads(threads)?);
    let (fits, rows) = interruptible(move |cancel| {
        let run = Run { threads, cancel: Some(cancel), depths_only, ..Run::default() };
        let failure = |error| fitted.failure(error);
        let Some(queries) = queries else {
            let sample = fitted.model.reference();
            let fits = fitted.model.score(sample.rows(), &run).map_err(failure)?;
            return Ok((fits, (0..sample.len()).collect::<Vec<usize>>()));
        };
        let encoded = fitted.encode(&queries, &options)?;
        let rows = Rows::new(&encoded.values, encoded.width).map_err(failure)?;
        Ok((fitted.model.score(rows, &run).map_err(failure)?, encoded.rows))
    })?;
    Ok(scores(&fits, &rows))
}

/// Columns of scores; `rows` counts from 1.
pub(crate) fn scores(fits: &[Fit], rows: &[usize]) -> Robj {
    let column = |value: fn(&Fit) -> f64| fits.iter().map(value).collect::<Vec<f64>>();
    list!(
        row = rows.iter().map(|row| (row + 1) as f64).collect::<Vec<f64>>(),
        depth = column(|fit| fit.depth),
        error = column(|fit| fit.error),
        stderr = column(|fit| fit.stderr),
        iterations = column(|fit| fit.iterations as f64),
        converged = fits.iter().map(|fit| fit.stop == Stop::Converged).collect::<Vec<bool>>()
    )
    .into()
}

/// Whether the pointer still points to a model: it does not after R has saved and read it.
#[extendr]
fn native_is_alive(model: Robj) -> bool {
    Fitted::of(&model).is_ok()
}

/// What is known about a model.
#[extendr]
fn native_about(model: Robj) -> Robj {
    given(Fitted::of(&model).map(|fitted| {
        let model = &fitted.model;
        let shown = Settings { memory: fitted.memory, ..model.settings().clone() };
        list!(
            method = model.settings().method.name(),
            title = model.settings().method.title(),
            settings = written(shown.values()),
            rows = model.reference_len() as f64,
            columns = model.encoding().map_or(model.width(), |encoding| encoding.columns().len()) as f64,
            names = fitted.names(),
            named = fitted.names.is_some() || model.encoding().is_some(),
            encoding = model.encoding().map_or_else(|| NULL.into(), described),
            weights = model
                .reference()
                .given_weights()
                .map_or_else(|| Robj::from(NULL), |weights| weights.to_vec().into()),
            warning = model.warning().map_or_else(|| NULL.into(), |warning| Robj::from(warning.to_string())),
            spreads = fitted.spreads.as_ref().map_or_else(|| NULL.into(), |text| Robj::from(text.as_str()))
        )
        .into()
    }))
}

/// The rows of the reference as the model has them, row by row.
#[extendr]
fn native_reference(model: Robj) -> Robj {
    given(Fitted::of(&model).map(|fitted| fitted.model.reference().rows().as_slice().to_vec().into()))
}

/// The bytes of a model file.
#[extendr]
fn native_to_bytes(model: Robj) -> Robj {
    given(to_bytes(&model))
}

fn to_bytes(model: &Robj) -> Answer<Robj> {
    let fitted = Fitted::of(model)?;
    let bytes = interruptible(move |_| {
        let archive = Archive::of(&fitted.model).memory(fitted.memory);
        Ok(match &fitted.names {
            Some(names) => archive.columns(names.to_vec())?.to_bytes()?,
            None => archive.to_bytes()?,
        })
    })?;
    Ok(Raw::from_bytes(&bytes).into())
}

/// A model from the bytes of a file.
#[extendr]
fn native_from_bytes(bytes: Robj) -> Robj {
    given(from_bytes(&bytes))
}

fn from_bytes(bytes: &Robj) -> Answer<Robj> {
    let bytes = bytes.as_raw_slice().ok_or_else(|| Failure::new("a model must be bytes"))?.to_vec();
    let fitted = interruptible(move |_| {
        let archive = Archive::from_bytes(&bytes)?;
        drop(bytes);
        let given = archive.settings().memory;
        let names = archive.column_names().map(<[_]>::to_vec).filter(|_| archive.encoding().is_none());
        let model = archive.memory(given.or_else(memory::half)).model()?;
        Ok(Fitted::new(model, names, given))
    })?;
    Ok(ExternalPtr::new(fitted).into())
}

/// Writes a file, complete or not at all.
#[extendr]
fn native_write(path: Robj, bytes: Robj) -> Robj {
    given(write(&path, &bytes))
}

fn write(path: &Robj, bytes: &Robj) -> Answer<Robj> {
    let path = text("file", path)?;
    let bytes = bytes.as_raw_slice().ok_or_else(|| Failure::new("a model must be bytes"))?;
    AtomicFile::write(Path::new(path), bytes).map_err(|error| {
        let error = error.to_string();
        Failure::new(format!("{path}: {}", error.split(" (os error").next().unwrap_or_default()))
    })?;
    Ok(NULL.into())
}

extendr_module! {
    mod model;
    fn native_fit;
    fn native_score;
    fn native_is_alive;
    fn native_about;
    fn native_reference;
    fn native_to_bytes;
    fn native_from_bytes;
    fn native_write;
}
