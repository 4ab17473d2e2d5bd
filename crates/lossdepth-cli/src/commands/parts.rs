//! References in pieces: `fit --partial` makes them, `fit --merge` puts them together.

use super::{Outcome, announce, fit, open, summary, tell};
use crate::args::{Question, Roles};
use crate::commands::fit::Fit;
use crate::console;
use crate::error::{Error, Problem, Result, bytes, count};
use crate::load::{Block, Columns, retyped};
use crate::write::Whole;
use lossdepth::Settings;
use lossdepth::data::{Column, EncodingOptions, ReferenceSketch};
use lossdepth::model::Value;
use lossdepth::model::archive::Archive;
use std::path::{Path, PathBuf};

/// How many rows of a table are read at a time.
const ROWS: usize = 50_000;

/// Whether kinds are guessed from the content, and whether the columns have names: notes of a part.
const GUESS: &str = "guess";
const NAMED: &str = "header";

/// Makes a part of one table, or of several parts.
pub(super) fn partial(args: &Fit) -> Result<Outcome> {
    let out = Whole::open(&args.out)?;
    let sketch = if args.merge { merged(&args.reference)? } else { of_table(args)? };
    let file = sketch.to_bytes()?;
    out.write(&file)?;
    let (name, size) = (args.out.display(), bytes(file.len()));
    let width = count(sketch.names().len(), "column");
    console::note(args.quiet, format_args!("{name}: {} in {width}; {size}", content(&sketch)));
    Ok(Outcome::Done)
}

fn of_table(args: &Fit) -> Result<ReferenceSketch> {
    let [path] = &args.reference[..] else {
        return Err(Error::Usage("`--partial` takes one table; `--merge` takes parts".to_owned()));
    };
    let (capacity, seed) = sketch_settings(&args.question)?;
    let mut table = open(path, &args.roles, args.quiet)?;
    let mut columns = Columns::of(&table, &args.roles)?;
    if table.is_untyped() {
        // As they are written, so that no part decides alone what a column holds.
        columns.exact.clone_from(&columns.features);
    }
    let names = columns.names(&table);
    let problem = |error| Error::Input { file: path.display().to_string(), problem: Problem::Depth(error) };
    let mut sketch = ReferenceSketch::new(names.clone()).map_err(problem)?;
    sketch = sketch.with_capacity(capacity)?.with_seed(seed);
    sketch = sketch.with_note(GUESS, table.guess().to_string());
    sketch = sketch.with_note(NAMED, table.has_header().to_string());
    loop {
        let piece = table.read(&columns, ROWS)?;
        tell(table.file(), &piece.notes, args.quiet);
        if piece.is_empty() {
            break;
        }
        Block::add_to(&table, &columns, piece, &mut sketch)?;
    }
    if sketch.is_empty() {
        return Err(table.problem(Problem::TooFewRows { expected: 1, got: 0 }));
    }
    Ok(sketch)
}

/// How many different rows a part keeps, and its seed: the only settings that it has.
fn sketch_settings(question: &Question) -> Result<(usize, u64)> {
    let (mut capacity, mut seed) = (ReferenceSketch::CAPACITY, 0);
    for (name, value) in question.given.values() {
        match (*name, value) {
            ("reference_rows", Value::Count(count)) => {
                capacity = usize::try_from(*count).unwrap_or(usize::MAX);
            }
            ("seed", Value::Count(count)) => seed = *count,
            (name, _) => {
                let flag = crate::settings::flag_name(name);
                return Err(Error::Usage(format!("`--{flag}` goes with `--merge`, not with `--partial`")));
            }
        }
    }
    Ok((capacity, seed))
}

/// Reads parts and merges them, in the order given.
fn merged(paths: &[PathBuf]) -> Result<ReferenceSketch> {
    let mut whole: Option<ReferenceSketch> = None;
    for path in paths {
        let part = read(path)?;
        match &mut whole {
            None => whole = Some(part),
            Some(whole) => whole.merge(&part).map_err(|error| Error::Input {
                file: path.display().to_string(),
                problem: Problem::Depth(error),
            })?,
        }
    }
    whole.ok_or_else(|| Error::Usage("`--merge` takes parts, made with `--partial`".to_owned()))
}

fn read(path: &Path) -> Result<ReferenceSketch> {
    let file = path.display().to_string();
    let problem = |problem| Error::Input { file: file.clone(), problem };
    let bytes = std::fs::read(path).map_err(|e| {
        problem(match e.kind() {
            std::io::ErrorKind::NotFound => Problem::Missing,
            std::io::ErrorKind::IsADirectory => Problem::Directory,
            _ => Problem::Read(e),
        })
    })?;
    ReferenceSketch::from_bytes(&bytes).map_err(|error| problem(Problem::Depth(error)))
}

/// Fits a model to merged parts.
pub(super) fn merge(args: &Fit) -> Result<Outcome> {
    args.question.check()?;
    refuse_roles(&args.roles)?;
    let sketch = merged(&args.reference)?;
    let out = Whole::open(&args.out)?;
    let (table, weights) = sketch.table()?;
    let said = |note: &str| sketch.notes().get(note).is_some_and(|text| text == "true");
    let kinds = args.roles.kinds().map_err(Error::Usage)?.into_iter().collect();
    let decimal = args.roles.reading.decimal.as_deref().and_then(|mark| mark.chars().next());
    let options = EncodingOptions {
        kinds,
        missing: args.roles.missing,
        gap_words: args.roles.reading.gaps(),
        decimal,
        day_first: args.roles.reading.day_first,
        guess: said(GUESS),
    };
    let columns = table
        .columns()
        .iter()
        .map(|column| Column { name: column.name.clone(), values: retyped(column, &options) });
    let table = lossdepth::data::Table::new(columns.collect())?;
    let (encoding, mut block) = Block::of_table(table, weights, &options)?;
    let name = args.out.display().to_string();
    announce::sample(&name, &encoding, &block, args.quiet);
    let model = fit(&args.question, &block.reference(&encoding)?, &encoding)??;
    drop(block);
    if let Some(warning) = model.warning() {
        console::warning(warning);
    }
    let settings = Settings { memory: args.question.given.memory(), ..model.settings().clone() };
    let mut archive = Archive::of(&model).memory(settings.memory);
    if said(NAMED) && encoding.is_plain() {
        archive = archive.columns(sketch.names().to_vec())?;
    }
    let file = archive.to_bytes()?;
    out.write(&file)?;
    let (rows, size, settings) = (content(&sketch), bytes(file.len()), summary(&settings));
    let parts = count(args.reference.len(), "part");
    console::note(args.quiet, format_args!("{name}: {rows} of {parts}: {settings}; {size}"));
    Ok(Outcome::Done)
}

/// What the roles of columns are is said when a part is made.
fn refuse_roles(roles: &Roles) -> Result<()> {
    let given = [
        ("columns", roles.columns.is_some()),
        ("exclude", roles.exclude.is_some()),
        ("label", roles.label.is_some()),
        ("id", roles.id.is_some()),
        ("weights", roles.weights.is_some()),
    ];
    match given.iter().find(|(_, given)| *given) {
        Some((flag, _)) => {
            Err(Error::Usage(format!("`--{flag}` goes with `--partial`: parts have the chosen columns only")))
        }
        None => Ok(()),
    }
}

/// How many rows there are, and how many of them are kept.
fn content(sketch: &ReferenceSketch) -> String {
    let all = count(usize::try_from(sketch.observations()).unwrap_or(usize::MAX), "row");
    if sketch.is_complete() { all } else { format!("a sample of {} of {all}", sketch.len()) }
}
