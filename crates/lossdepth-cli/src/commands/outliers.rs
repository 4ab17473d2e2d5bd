//! `lossdepth outliers`: the oddest rows of a table, each with its reasons in words.

mod page;

use super::inputs::Inputs;
use super::{Outcome, announce, oddest};
use crate::args::{Asked, Running, at_least_one};
use crate::error::{Error, Result};
use crate::write::{Whole, print};
use clap::{Args, ValueEnum};
use lossdepth::Settings;
use lossdepth::outliers::{OutlierOptions, Outliers};
use page::Page;
use std::path::PathBuf;

const OUTLIERS_NOTES: &str = "\
Without a setting the method is `auto`. Columns are taken for numbers, categories, dates, ids or text by what they hold; say \
--as to overrule that. p is the chance that a row from where the others came from is as odd as this one. A reason names a \
column, the value of the row and what is odd about it; `about 414 would fit quantity and unit_price` is the value that would \
make the row ordinary, given those columns. `ordinary with` is the smallest change found after which the row, scored again, is \
deeper than a tenth of the reference.

Examples:
  lossdepth outliers orders.csv
  lossdepth outliers orders.xlsx --top 20 --exclude comment
  lossdepth outliers new.csv --reference old.csv
  lossdepth outliers orders.csv --format json --out odd.json
  lossdepth outliers survey.csv --as zip=category,age=number --id respondent";

/// Show the oddest rows of a table, each with its reasons
#[derive(Debug, Args)]
#[command(after_help = OUTLIERS_NOTES)]
pub(crate) struct OutliersArgs {
    /// The table; `-` is standard input
    pub(crate) data: PathBuf,

    /// How many rows to show
    #[arg(long, short = 'k', value_name = "K", default_value_t = 10, value_parser = at_least_one, allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) asked: Asked,

    /// How many reasons to give for a row at most
    #[arg(long, value_name = "K", default_value_t = 3, help_heading = "Output")]
    pub(crate) reasons: usize,

    /// How to write it [default: text, or as the name of --out says]
    #[arg(long, value_name = "FORMAT", value_enum, help_heading = "Output")]
    pub(crate) format: Option<Format>,

    /// Write to this file: .txt, .md, .csv or .json
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    #[command(flatten)]
    pub(crate) running: Running,
}

/// A form of the answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    Text,
    Md,
    Csv,
    Json,
}

pub(crate) fn outliers(args: &OutliersArgs) -> Result<Outcome> {
    let (file, format) = target(args)?;
    // What is usually said on standard error is part of the answer here.
    let mut inputs = Inputs::read(&args.data, &args.asked.against, &args.asked.roles, true)?;
    let settings = inputs.settings(&args.asked.question)?;
    let model = inputs.model(&args.asked.question)?;
    let options = OutlierOptions { top: args.top, reasons: args.reasons, ..OutlierOptions::default() };
    let found = oddest::find(&inputs, &model, &options, args.running)?;
    let text = written(args, &inputs, &settings, &found, format);
    match file {
        Some(file) => file.write(text.as_bytes())?,
        None => print(&text)?,
    }
    Ok(oddest::outcome(&found))
}

/// The answer in the form that was asked for.
fn written(
    args: &OutliersArgs,
    inputs: &Inputs,
    settings: &Settings,
    found: &Outliers,
    format: Format,
) -> String {
    let (heading, mut about) = announce::about(inputs.data.file(), &inputs.encoding, &inputs.data.block);
    let own = inputs.is_its_own_reference();
    let reference = (!own).then(|| (inputs.reference_file(), inputs.reference.len()));
    if let Some((file, rows)) = reference {
        about.push(("reference", format!("{file}, {rows} rows")));
    }
    about.push(("method", super::summary(settings)));
    about.extend(announce::subsample_text(settings, inputs.reference.len()).map(|text| ("sample", text)));
    let labels = announce::likely_labels(&inputs.encoding, &inputs.data.block);
    about.extend(labels.map(|text| ("note", text)));
    let mut notes = inputs.reading_notes(&args.asked.roles);
    notes.append(&mut inputs.cell_notes());
    about.extend(notes.iter().map(|text| ("note", text.clone())));
    let page = Page {
        file: inputs.data.file(),
        heading,
        about,
        notes,
        rows: found.fits.len(),
        reference,
        encoding: &inputs.encoding,
        settings,
        outliers: found,
        next: next(args, inputs, found),
    };
    match format {
        Format::Text => page.text(),
        Format::Md => page.markdown(),
        Format::Csv => page.csv(),
        Format::Json => page.json(),
    }
}

/// What to do next: commands that work on this table as they stand.
fn next(args: &OutliersArgs, inputs: &Inputs, found: &Outliers) -> Vec<(String, &'static str)> {
    let name = args.data.to_string_lossy();
    // A name that a shell would take apart, or standard input, cannot be shown as a command.
    let plain = |text: &str| {
        !text.is_empty()
            && text.chars().all(|c| c.is_ascii_alphanumeric() || "._/-+@".contains(c))
            && text != "-"
    };
    if !plain(&name) || found.found.is_empty() || !inputs.is_its_own_reference() {
        return Vec::new();
    }
    vec![
        (format!("lossdepth outliers {name} --top 50 --out odd.csv"), "more rows, as a table"),
        (format!("lossdepth report {name} --out odd.html"), "a page about them, to send on"),
        (format!("lossdepth score {name} --out scores.csv"), "the depth of every row"),
    ]
}

/// The file to write and the form, which follow from one another.
fn target(args: &OutliersArgs) -> Result<(Option<Whole>, Format)> {
    let Some(path) = &args.out else { return Ok((None, args.format.unwrap_or(Format::Text))) };
    oddest::refuse_input(path, &args.data, &args.asked.against)?;
    let extension = path.extension().map(|extension| extension.to_string_lossy().to_lowercase());
    let named = match extension.as_deref() {
        Some("txt") => Some(Format::Text),
        Some("md") => Some(Format::Md),
        Some("csv") => Some(Format::Csv),
        Some("json") => Some(Format::Json),
        _ => None,
    };
    let Some(format) = args.format.or(named) else {
        return Err(Error::Usage(format!(
            "{}: the name must end in .txt, .md, .csv or .json",
            path.display()
        )));
    };
    Ok((Some(Whole::open(path)?), format))
}
