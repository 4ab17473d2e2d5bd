//! `lossdepth report`: a page about the oddest rows of a table, to read in a browser and to send on.

mod browser;
mod checksum;
mod masks;

use super::inputs::Inputs;
use super::{Outcome, announce, oddest};
use crate::args::{Asked, Running, at_least_one};
use crate::console;
use crate::error::{Error, Result, count};
use crate::write::{Whole, print};
use clap::Args;
use lossdepth::Model;
use lossdepth::outliers::{OutlierOptions, Outliers};
use lossdepth_plot::report::{Assembly, ComparedWith, Page, ReferenceTable};
use std::path::{Path, PathBuf};

const REPORT_NOTES: &str = "\
The page is one file that needs no network: the distribution of depths with a threshold to move, the oddest rows with their \
reasons, their values beside those of the other rows, a map, what was noticed about the data, and how it was computed. Values of \
columns in --mask are not written. The same data and settings give the same bytes.

Examples:
  lossdepth report orders.csv --out odd.html
  lossdepth report orders.csv --mask customer,region --top 20 --open
  lossdepth report new.csv --reference old.csv --title 'Orders of this week'";

/// Write a page about the oddest rows, to read in a browser
#[derive(Debug, Args)]
#[command(after_help = REPORT_NOTES)]
pub(crate) struct ReportArgs {
    /// The table; `-` is standard input
    pub(crate) data: PathBuf,

    /// How many rows to show
    #[arg(long, short = 'k', value_name = "K", default_value_t = 50, value_parser = at_least_one, allow_hyphen_values = true, help_heading = "Output")]
    pub(crate) top: usize,

    #[command(flatten)]
    pub(crate) asked: Asked,

    /// The heading of the page [default: Odd rows in FILE]
    #[arg(long, value_name = "TEXT", help_heading = "Output")]
    pub(crate) title: Option<String>,

    /// Columns whose values are not written, as `a,b`; they are compared all the same
    #[arg(long, value_name = "COLS", help_heading = "Output")]
    pub(crate) mask: Vec<String>,

    /// Write to this file: .html; `-` is standard output [default: the name of the data with .html, in the current folder]
    #[arg(long, value_name = "FILE", help_heading = "Output")]
    pub(crate) out: Option<PathBuf>,

    /// Show the page in the browser when it is written
    #[arg(long, help_heading = "Output")]
    pub(crate) open: bool,

    #[command(flatten)]
    pub(crate) running: Running,
}

pub(crate) fn report(args: &ReportArgs) -> Result<Outcome> {
    let path = target(args)?;
    let file = path.as_deref().map(Whole::open).transpose()?;
    // What is usually said on standard error is on the page.
    let mut inputs = Inputs::read(&args.data, &args.asked.against, &args.asked.roles, true)?;
    inputs.without_copied_ids(&args.asked.roles);
    let masked = masks::named(&args.mask, &inputs)?;
    let model = inputs.model(&args.asked.question)?;
    announce::subsample(model.settings(), model.reference_len(), args.running.quiet);
    let options = OutlierOptions { top: args.top, ..OutlierOptions::default() };
    let found = oddest::find(&inputs, &model, &options, args.running)?;
    let html = page(args, &inputs, &model, &found, &masked)?.to_html();
    match file {
        Some(file) => file.write(html.as_bytes())?,
        None => print(&html)?,
    }
    if let Some(path) = &path {
        let rows = count(found.found.len(), "row");
        console::note(
            args.running.quiet,
            format_args!("{}: the oddest {rows} of {}", path.display(), found.fits.len()),
        );
        if args.open
            && let Err(why) = browser::open(path)
        {
            console::note(args.running.quiet, format_args!("note: the browser did not open: {why}"));
        }
    }
    Ok(oddest::outcome(&found))
}

/// What was found, as a page.
fn page(
    args: &ReportArgs,
    inputs: &Inputs,
    model: &Model,
    found: &Outliers,
    masked: &[String],
) -> Result<Page> {
    let against = &args.asked.against;
    let other = against.reference.as_ref().or(against.model.as_ref());
    let (name, other_name) = (file_name(&args.data), other.map(|path| file_name(path)));
    let table = match inputs.other() {
        Some(read) => Some(ReferenceTable { numbers: read.part()?.numbers, notes: &read.block.notes }),
        None => None,
    };
    let columns = inputs.other().map_or(inputs.encoding.columns().len(), |read| read.names().len());
    let notes: Vec<String> =
        inputs.reading_notes(&args.asked.roles).into_iter().map(|note| sentence(&note, masked)).collect();
    let assembly = Assembly {
        model,
        queries: oddest::queries(inputs)?,
        found,
        name: &name,
        columns: inputs.data.names().len(),
        reference: other_name.as_deref().map(|name| ComparedWith { name, columns, table }),
        title: args.title.as_deref(),
        masked,
        id: args.asked.roles.id.as_deref(),
        notes: &notes,
        audit: &checksum::of_files(
            [Some(&args.data), against.reference.as_ref(), against.model.as_ref()].into_iter().flatten(),
        ),
    };
    assembly.page().map_err(|error| inputs.locate(error))
}

/// A note as a sentence; where values are masked, without those that it quotes.
fn sentence(note: &str, masked: &[String]) -> String {
    let note = note.split(": `").next().filter(|_| !masked.is_empty()).unwrap_or(note);
    let mut letters = note.chars();
    let first = letters.next().into_iter().flat_map(char::to_uppercase);
    first.chain(letters).chain(['.']).collect()
}

/// The file to write; none for standard output.
fn target(args: &ReportArgs) -> Result<Option<PathBuf>> {
    let path = match &args.out {
        Some(path) if path.as_os_str() == "-" => return Ok(None),
        Some(path) => path.clone(),
        None if args.data.as_os_str() == "-" => PathBuf::from("report.html"),
        None => {
            let mut name = args.data.file_stem().unwrap_or_default().to_owned();
            name.push(".html");
            PathBuf::from(name)
        }
    };
    let is_page =
        path.extension().is_some_and(|e| e.eq_ignore_ascii_case("html") || e.eq_ignore_ascii_case("htm"));
    oddest::refuse_input(&path, &args.data, &args.asked.against)?;
    if !is_page {
        return Err(Error::Usage(format!("{}: the name must end in .html", path.display())));
    }
    Ok(Some(path))
}

/// A file without its folders; they are nobody's business who reads the page.
fn file_name(path: &Path) -> String {
    if path.as_os_str() == "-" {
        return "standard input".to_owned();
    }
    path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned()
}
