//! A model at work: rows in, scores out, and a summary.

use super::passes::FilePasses;
use crate::auc::{Auc, Classes};
use crate::commands::inputs::names_of;
use crate::commands::labels::Judge;
use crate::commands::score::Score;
use crate::commands::{Outcome, announce, summary};
use crate::console::{self, Progress};
use crate::error::{Error, Result, count, shorten};
use crate::load::{Columns, Part, Table, rename};
use crate::write::{About, Field, Kind, Output, Values, score_fields, scores};
use lossdepth::data::{Encoding, ScalingWarning};
use lossdepth::model::Percentiles;
use lossdepth::stats::conformal::own_p_values;
use lossdepth::{DepthError, Fit, Method, Model, Rows, Run, Settings, Stop};
use std::time::Instant;

/// What gives rows their depths.
pub(super) enum Scorer {
    Model(Box<Model>),
    /// Passes over a file.
    Passes(Box<FilePasses>),
}

impl Scorer {
    fn score(
        &mut self,
        rows: Rows<'_>,
        run: &Run<'_>,
        locate: impl FnOnce(DepthError) -> Error,
    ) -> Result<Vec<Fit>> {
        match self {
            Self::Model(model) => model.score(rows, run).map_err(locate),
            // Errors of the file have their place already.
            Self::Passes(passes) => passes.score(rows, run),
        }
    }

    fn settings(&self) -> &Settings {
        match self {
            Self::Model(model) => model.settings(),
            Self::Passes(passes) => passes.settings(),
        }
    }

    fn reference_len(&self) -> usize {
        match self {
            Self::Model(model) => model.reference_len(),
            Self::Passes(passes) => passes.passes().rows(),
        }
    }

    fn warning(&self) -> Option<&ScalingWarning> {
        match self {
            Self::Model(model) => model.warning(),
            Self::Passes(passes) => passes.passes().warning(),
        }
    }
}

/// What the columns of the data are called.
pub(super) struct Names {
    pub(super) features: Vec<String>,
    label: Option<String>,
    /// Whether a column names the rows.
    pub(super) ids: bool,
    /// The columns that are copied.
    kept: Vec<String>,
}

impl Names {
    pub(super) fn of(table: &Table, columns: &Columns, encoding: &Encoding) -> Self {
        let name = |column: usize| table.names()[column].clone();
        Self {
            features: names_of(encoding),
            label: columns.label.map(name),
            ids: columns.id.is_some(),
            kept: columns.kept.iter().copied().map(name).collect(),
        }
    }
}

/// A model at work: scores go out as they come, and what is said of them at the end is gathered.
pub(super) struct Job<'a> {
    pub(super) args: &'a Score,
    model: Scorer,
    judge: Judge,
    output: Output,
    /// How deep the reference is, if it is not the data itself and percentiles are wanted.
    pub(super) shares: Option<Percentiles>,
    /// Whether the rows are their own reference, and their weights if they have some.
    pub(super) own: bool,
    pub(super) weights: Option<Vec<f64>>,
    /// What cannot be written before all rows are known, with the depths and p-values of all rows.
    held: Vec<Held>,
    depths: Vec<f64>,
    p: Option<Vec<f64>>,
    pub(super) progress: Progress,
    classes: Option<Classes<f64>>,
    label: String,
    /// How many columns are compared.
    columns: usize,
    rows: usize,
    unconverged: usize,
    largest: f64,
    /// The largest standard error.
    stderr: f64,
    /// How many rows the reference had before a sample was taken; 0 where that is not known.
    pub(super) reference: usize,
}

/// Some rows on hold.
struct Held {
    /// The rows that they are, counted from 0.
    at: Vec<usize>,
    /// What comes before what is found out at the end, and what comes behind it.
    lead: Vec<Values<'static>>,
    tail: Vec<Values<'static>>,
}

impl Held {
    fn pick(&self, rows: &[usize]) -> Self {
        let some = |columns: &[Values<'static>]| columns.iter().map(|column| column.pick(rows)).collect();
        Self {
            at: rows.iter().map(|&row| self.at[row]).collect(),
            lead: some(&self.lead),
            tail: some(&self.tail),
        }
    }

    fn append(&mut self, more: &Self) {
        self.at.extend(&more.at);
        self.lead.iter_mut().zip(&more.lead).for_each(|(column, more)| column.append(more));
        self.tail.iter_mut().zip(&more.tail).for_each(|(column, more)| column.append(more));
    }
}

impl<'a> Job<'a> {
    pub(super) fn new(
        args: &'a Score,
        model: Scorer,
        judge: Judge,
        names: Names,
        rows: Option<usize>,
    ) -> Result<Self> {
        if let Some(warning) = model.warning() {
            console::warning(warning);
        }
        announce::subsample(model.settings(), model.reference_len(), args.running.quiet);
        let mut fields = score_fields(names.ids, !args.no_percentile);
        fields.extend(judge.fields());
        fields.extend(names.label.is_some().then(|| Field::new("label", Kind::Text)));
        // A column of the table that is called like one of the scores gets another name.
        let mut all: Vec<String> = fields.iter().map(|field| field.name.to_string()).collect();
        let own = all.len();
        all.extend(names.kept);
        rename(&mut all);
        fields.extend(all.into_iter().skip(own).map(|name| Field::new(name, Kind::Copied)));
        let columns = names.features.len();
        let about = About {
            version: env!("CARGO_PKG_VERSION"),
            settings: model.settings().clone(),
            columns: names.features,
            reference_rows: model.reference_len(),
            warning: model.warning().map(ToString::to_string),
            fields,
        };
        Ok(Self {
            args,
            model,
            judge,
            shares: None,
            own: false,
            weights: None,
            held: Vec::new(),
            depths: Vec::new(),
            p: None,
            output: Output::open(&args.out, about)?,
            progress: Progress::new(args.running.quiet, rows),
            classes: names.label.is_some().then(Classes::default),
            label: names.label.unwrap_or_default(),
            columns,
            rows: 0,
            unconverged: 0,
            largest: 0.0,
            stderr: 0.0,
            reference: 0,
        })
    }

    /// Whether nothing can be written before all rows are known.
    fn waits(&self) -> bool {
        let ranked = self.own && !self.args.no_percentile;
        self.judge.waits() || ranked || self.args.top.is_some()
    }

    pub(super) fn score(&mut self, part: &Part<'_>, locate: impl FnOnce(DepthError) -> Error) -> Result<()> {
        let advance = |rows| self.progress.advance(rows);
        let run = Run {
            threads: self.args.running.threads.map(usize::from),
            progress: Some(&advance),
            ..Run::default()
        };
        let fits = self.model.score(part.rows, &run, locate)?;
        let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
        let p = self.judge.p_values(part.rows, &depths, &Run { progress: None, ..run })?;
        let mut lead = scores(part, &fits);
        if let Some(shares) = &self.shares {
            lead.push(Values::Numbers(depths.iter().map(|depth| shares.of(*depth)).collect()));
        }
        let labels = part.labels.map(|labels| Values::Texts(labels.into()));
        let tail = labels.into_iter().chain(part.kept().map(|texts| Values::Copied(texts.into())));
        if self.waits() {
            let first = self.depths.len();
            let owned = |columns: Vec<Values<'_>>| columns.into_iter().map(Values::into_owned).collect();
            let at = (first..first + depths.len()).collect();
            self.held.push(Held { at, lead: owned(lead), tail: owned(tail.collect()) });
            self.depths.extend(&depths);
            if let Some(p) = p {
                self.p.get_or_insert_default().extend(p);
            }
            self.drop_deep_rows();
        } else {
            let judged = self.judge.columns(&depths, p.as_deref(), None);
            let columns: Vec<Values<'_>> = lead.into_iter().chain(judged).chain(tail).collect();
            self.progress.aside(|| self.output.rows(&columns))?;
        }
        self.gather(part, &fits);
        Ok(())
    }

    /// Keeps the shallowest of the rows on hold, if only those are wanted: the shallowest first, those of one depth in the
    /// order of the table.
    fn drop_deep_rows(&mut self) {
        let Some(top) = self.args.top else { return };
        let mut held = std::mem::take(&mut self.held).into_iter();
        let Some(mut all) = held.next() else { return };
        held.for_each(|more| all.append(&more));
        let mut order: Vec<usize> = (0..all.at.len()).collect();
        let depth = |row: usize| self.depths[all.at[row]];
        order.sort_by(|&a, &b| depth(a).total_cmp(&depth(b)).then(all.at[a].cmp(&all.at[b])));
        order.truncate(top);
        self.held = vec![all.pick(&order)];
    }

    /// Writes what was on hold.
    fn release(&mut self) -> Result<()> {
        if !self.waits() {
            return Ok(());
        }
        let known = self.p.take();
        let [p, q] = self.judge.conclude(&self.depths, known)?;
        let ranked = self.own && !self.args.no_percentile && !self.depths.is_empty();
        let ranks = ranked.then(|| own_p_values(&self.depths, self.weights.as_deref())).transpose()?;
        let ranks = ranks.map(|ranks| Values::Numbers(ranks.into()));
        let judged = self.judge.columns(&self.depths, p.as_deref(), q.as_deref());
        let found: Vec<Values<'_>> = ranks.into_iter().chain(judged).collect();
        for Held { at, lead, tail } in std::mem::take(&mut self.held) {
            let found = found.iter().map(|column| column.pick(&at));
            let columns: Vec<Values<'_>> = lead.into_iter().chain(found).chain(tail).collect();
            self.progress.aside(|| self.output.rows(&columns))?;
        }
        Ok(())
    }

    fn gather(&mut self, part: &Part<'_>, fits: &[Fit]) {
        self.rows += fits.len();
        self.unconverged += fits.iter().filter(|fit| fit.stop != Stop::Converged).count();
        self.largest = fits.iter().fold(self.largest, |largest, fit| largest.max(fit.error));
        self.stderr = fits.iter().fold(self.stderr, |largest, fit| largest.max(fit.stderr));
        if let (Some(classes), Some(labels)) = (&mut self.classes, part.labels) {
            labels.iter().zip(fits).for_each(|(label, fit)| classes.add(label, fit.depth));
        }
    }

    pub(super) fn finish(mut self, started: Instant) -> Result<Outcome> {
        self.release()?;
        let Self {
            args,
            model,
            judge,
            output,
            depths,
            progress,
            classes,
            label,
            columns,
            rows,
            unconverged,
            largest,
            stderr,
            reference,
            ..
        } = self;
        drop(progress);
        let auc = classes.map(Classes::auc);
        output.finish(auc.as_ref().and_then(|found| found.as_ref().ok()))?;
        match auc {
            Some(Ok(auc)) => console::result(describe(&auc, &label)),
            Some(Err(why)) => {
                console::note(
                    args.running.quiet,
                    format_args!("note: no AUC-ROC: label `{}` {why}", shorten(&label)),
                );
            }
            None => {}
        }
        if let Some(text) = judge.summary() {
            console::note(args.running.quiet, text);
        }
        if let Some(tied) = tied(&depths) {
            console::warning(format_args!(
                "{tied} of {rows} depths are equal, so these rows cannot be ranked; {} separates them",
                if model.settings().method == Method::Halfspace {
                    "in many columns few rows are inside of others: `--method auto` or `--method logistic`"
                } else {
                    "another method, such as `--method auto`,"
                }
            ));
        }
        let (settings, seconds) = (summary(model.settings()), started.elapsed().as_secs_f64());
        if model.settings().method != Method::Auto && reference > model.reference_len() {
            announce::sampled(model.reference_len(), reference, stderr, seconds, args.running.quiet);
        }
        if let Scorer::Passes(passes) = &model {
            passes.announce(largest, args.running.quiet);
        }
        let (scored, against, columns) =
            (count(rows, "row"), model.reference_len(), count(columns, "column"));
        console::note(
            args.running.quiet,
            format_args!(
                "{scored} scored against {against} in {columns}: {settings}; \
                 {seconds:.2} s, largest error {largest:.1e}"
            ),
        );
        if unconverged == 0 {
            return Ok(Outcome::Done);
        }
        console::warning(format_args!(
            "{unconverged} of {rows} rows did not converge, largest error {largest:.1e}"
        ));
        Ok(Outcome::NotConverged)
    }
}

/// How many rows share the most frequent depth, where most of at least twenty rows do (a heuristic).
fn tied(depths: &[f64]) -> Option<usize> {
    const FEW: usize = 20;
    let mut sorted = depths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let most = sorted.chunk_by(|a, b| a == b).map(<[f64]>::len).max()?;
    (depths.len() >= FEW && 2 * most > depths.len()).then_some(most)
}

fn describe(auc: &Auc, label: &str) -> String {
    let Auc { value, outlier, outliers, others, unlabelled } = auc;
    let without =
        if *unlabelled > 0 { format!(", {unlabelled} rows without a label") } else { String::new() };
    let rows = outliers + others;
    let (label, outlier) = (shorten(label), shorten(outlier));
    format!("AUC-ROC {value:.4} (outlier: `{label}` = {outlier}, {outliers} of {rows} rows{without})")
}
