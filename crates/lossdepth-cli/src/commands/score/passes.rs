//! Scores against a table of any size that is read several times: `--reference-rows passes`.

use super::job::{Job, Names, Scorer};
use super::{PIECE, Score, shares, stream};
use crate::args::Roles;
use crate::commands::inputs::{note_unused, open_both};
use crate::commands::labels::Judge;
use crate::commands::{announce, tell};
use crate::console::{self, PassBar};
use crate::error::{Error, Problem, Result};
use crate::load::{Block, Columns, Table, pair};
use lossdepth::data::{Encoding, Missing, ReferenceRows, RowSource, Visit};
use lossdepth::model::Passes;
use lossdepth::{Fit, Rows, Run, Settings};
use std::path::{Path, PathBuf};

/// A file whose rows are read from the first to the last, again and again.
pub(super) struct FileRows {
    path: PathBuf,
    roles: Roles,
    columns: Columns,
    encoding: Encoding,
    /// How often it was read.
    readings: usize,
}

impl RowSource for FileRows {
    type Error = Error;

    fn read(&mut self, visit: &mut Visit<'_>) -> Result<()> {
        self.readings += 1;
        let mut table = Table::open(&self.path, &self.roles.reading.reading())?;
        loop {
            let piece = table.read(&self.columns, PIECE)?;
            if piece.is_empty() {
                return Ok(());
            }
            let block = Block::encode(&table, &self.columns, piece, &self.encoding)?.encoded();
            if self.roles.missing != Missing::Drop
                && let Some(note) = block.notes.first()
            {
                let name = self.encoding.columns().get(note.column).map_or("", |column| column.name());
                return Err(table.problem(Problem::Table(format!(
                    "row {} has no number in `{name}`: `--reference-rows passes` compares complete numbers, `--missing drop` \
                     leaves such rows out",
                    note.row
                ))));
            }
            let locate = |error| block.locate(&table, &self.columns, &self.encoding, error);
            visit(block.whole()?.rows, block.weights()).map_err(locate)?;
        }
    }
}

/// A depth with the file that it passes over.
pub(super) struct FilePasses {
    passes: Passes,
    settings: Settings,
    source: FileRows,
    bar: PassBar,
}

impl FilePasses {
    pub(super) fn passes(&self) -> &Passes {
        &self.passes
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(super) fn score(&mut self, rows: Rows<'_>, run: &Run<'_>) -> Result<Vec<Fit>> {
        let Self { passes, source, bar, .. } = self;
        let tol = self.settings.tol;
        passes.score(source, rows, run, &mut |progress| bar.show(progress, tol))
    }

    /// What was done, in a line.
    pub(super) fn announce(&self, error: f64, quiet: bool) {
        let (rows, readings) = (announce::grouped(self.passes.rows()), self.source.readings);
        let sample = announce::grouped(self.passes.sample().len());
        console::note(
            quiet,
            format_args!(
                "compared with all {rows} rows, read {readings} times, starting from {sample} of them; \
                 error at most {error:.1e}, proven for all rows"
            ),
        );
    }
}

/// Refuses what needs the reference in memory.
fn check(args: &Score, path: &Path) -> Result<Settings> {
    let settings = args.asked.question.given.settings(args.asked.question.method, 2.0)?;
    Passes::check(&settings)?;
    if args.asked.question.given.settings(args.asked.question.method, 3.0)? != settings {
        return Err(Error::Usage(
            "the preset depends on the number of rows, which `--reference-rows passes` does not know beforehand: give \
             its settings one by one"
                .to_owned(),
        ));
    }
    let labels = &args.labels;
    let asked = [
        ("p-values", labels.p_values.is_some()),
        ("fdr", labels.fdr.is_some()),
        ("contamination", labels.contamination.is_some()),
    ];
    if let Some((flag, _)) = asked.iter().find(|(_, asked)| *asked) {
        return Err(Error::Usage(format!(
            "`--{flag}` scores rows of the reference again and does not go with `--reference-rows passes`"
        )));
    }
    // Other things that can be opened, such as pipes, can be read once only.
    if path.as_os_str() == "-" || path.metadata().is_ok_and(|about| !about.is_file() && !about.is_dir()) {
        return Err(Error::Usage(format!(
            "`--reference-rows passes` reads the reference several times, and {} can be read once: save it to a file",
            if path.as_os_str() == "-" { "standard input".to_owned() } else { path.display().to_string() }
        )));
    }
    Ok(settings)
}

/// Whether the reference is to be read in passes.
pub(super) fn is_asked_for(args: &Score) -> Result<bool> {
    let settings = args.asked.question.given.settings(args.asked.question.method, 2.0)?;
    Ok(args.asked.against.model.is_none() && settings.reference_rows == ReferenceRows::Passes)
}

/// The reference is read several times, and the data once, both piece by piece.
pub(super) fn score_by_passes<'a>(args: &'a Score, path: &Path) -> Result<Job<'a>> {
    let settings = check(args, path)?;
    let quiet = args.running.quiet;
    let (mut reference, mut data) = open_both(path, &args.data, &args.asked.roles, quiet)?;
    let ours = Columns::of_reference(&reference, &data, &args.asked.roles)?;
    // What columns hold is found from the first rows.
    let options = ours.options(&reference, &args.asked.roles)?;
    let piece = reference.read(&ours, PIECE)?;
    tell(reference.file(), &piece.notes, quiet);
    let (encoding, _) = Block::learn(&reference, &ours, piece, &options)?;
    if !encoding.is_plain() {
        return Err(reference.problem(Problem::Table(
            "`--reference-rows passes` compares complete numbers: leave categories, dates and columns with gaps out with \
             --exclude, or rows with gaps with `--missing drop`"
                .to_owned(),
        )));
    }
    let theirs = args.columns(pair(&reference, &ours, &data, &args.asked.roles, &encoding)?, &data);
    note_unused(&data, &theirs, &args.asked.roles, &encoding, reference.file(), quiet);
    let names = ours.names(&reference);
    let place = |name: &str| names.iter().position(|own| own == name).map(|at| ours.features[at]);
    let features: Vec<usize> = encoding.columns().iter().filter_map(|column| place(column.name())).collect();
    let columns = Columns { features, ..ours.clone() };
    drop(reference);
    let width = encoding.layout().width();
    let mut source = FileRows {
        path: path.to_owned(),
        roles: args.asked.roles.clone(),
        columns,
        encoding: encoding.clone(),
        readings: 0,
    };
    let passes = Passes::new(&settings, &mut source, width)?;
    let shares = if args.no_percentile {
        None
    } else {
        // Shares of the sample, by depths in the sample.
        let plain = Settings { reference_rows: ReferenceRows::All, ..settings.clone() };
        shares(args, &plain.fit(passes.sample())?)?
    };
    let judge = Judge::of_own(&args.labels, None)?;
    let names = Names::of(&data, &theirs, &encoding);
    let scorer = Scorer::Passes(Box::new(FilePasses { passes, settings, source, bar: PassBar::new(quiet) }));
    let mut job = Job::new(args, scorer, judge, names, None)?;
    job.shares = shares;
    stream(job, &mut data, &theirs, &encoding)
}
