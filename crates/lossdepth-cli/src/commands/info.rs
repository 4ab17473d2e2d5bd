//! `lossdepth info`: what is in a model file.

use super::methods::table;
use super::model::Saved;
use super::{Outcome, announce, summary};
use crate::error::{Result, bytes, count};
use crate::load::list_in_full;
use crate::write;
use clap::Args;
use lossdepth::Settings;
use lossdepth::data::Transform;
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

const NOTES: &str = "\
The whole file is checked as it is before a model is used, its checksum included.

Examples:
  lossdepth info model.safetensors
  lossdepth info model.safetensors --json | jq .settings.method";

/// Show what is in a model file: method, settings, reference, columns
#[derive(Debug, Args)]
#[command(after_help = NOTES)]
pub(crate) struct Info {
    /// The model file
    pub(crate) model: PathBuf,

    /// Write JSON instead of text
    #[arg(long)]
    pub(crate) json: bool,
}

/// What there is to know, for programs.
#[derive(Serialize)]
struct About<'a> {
    format: u64,
    version: &'a str,
    settings: &'a Settings,
    reference_rows: usize,
    reference_columns: usize,
    weighted: bool,
    columns: Option<&'a [String]>,
    /// What tables are taken for, where the reference was more than complete numbers.
    #[serde(skip_serializing_if = "Option::is_none")]
    kinds: Option<BTreeMap<&'a str, &'static str>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    left_out: Option<Vec<&'a str>>,
    warning: Option<String>,
    extras: &'a BTreeMap<String, String>,
    bytes: usize,
}

pub(crate) fn run(args: &Info) -> Result<Outcome> {
    let saved = Saved::open(&args.model)?;
    let text = if args.json { json(&saved) } else { page(&saved) };
    write::print(&text)?;
    Ok(Outcome::Done)
}

fn json(saved: &Saved) -> String {
    let archive = &saved.archive;
    let about = About {
        format: archive.format(),
        version: archive.version(),
        settings: archive.settings(),
        reference_rows: archive.reference().len(),
        reference_columns: archive.reference().width(),
        weighted: archive.reference().given_weights().is_some(),
        columns: archive.column_names(),
        kinds: archive.encoding().map(|e| e.columns().iter().map(|c| (c.name(), c.kind().name())).collect()),
        left_out: archive.encoding().map(|e| e.left_out().iter().map(|left| left.name.as_str()).collect()),
        warning: archive.warning().map(ToString::to_string),
        extras: archive.extras(),
        bytes: saved.size,
    };
    serde_json::to_string_pretty(&about).unwrap_or_default() + "\n"
}

fn page(saved: &Saved) -> String {
    let archive = &saved.archive;
    let (settings, reference) = (archive.settings(), archive.reference());
    let mut lines = Vec::new();
    let mut say = |name: &str, text: String| lines.push(vec![name.to_owned(), text]);
    let (file, version, size) = (saved.file(), archive.version(), bytes(saved.size));
    say("file", format!("{file}, {size}, format {}, by lossdepth {version}", archive.format()));
    say("method", format!("{}: {}", settings.method, settings.method.summary()));
    say("settings", summary(settings));
    let weights = if reference.given_weights().is_some() { ", weighted" } else { "" };
    let columns = archive.encoding().map_or(reference.width(), |encoding| encoding.columns().len());
    let (rows, width) = (count(reference.len(), "row"), count(columns, "column"));
    say("reference", format!("{rows} of {width}{weights}"));
    if let Some(encoding) = archive.encoding() {
        say("columns", announce::compared(encoding));
        let left: Vec<String> = encoding.left_out().iter().map(|left| left.name.clone()).collect();
        if !left.is_empty() {
            say("left out", list_in_full(&left));
        }
        say("gaps", encoding.missing().to_string());
    } else {
        say("columns", archive.column_names().map_or_else(|| "without names".to_owned(), list_in_full));
    }
    let scale = settings.scale;
    say(
        "scaling",
        match archive.scaling().transform() {
            Transform::Identity => "none".to_owned(),
            Transform::Diagonal(_) => format!("{scale}: a centre and a factor for each column"),
            Transform::Full(_) => format!("{scale}: a centre and a matrix"),
        },
    );
    if let Some(warning) = archive.warning() {
        say("warning", warning.to_string());
    }
    for (name, text) in archive.extras() {
        say(&format!("extra {name}"), shorten(text));
    }
    table(&lines)
}

/// On one line, and not too long.
fn shorten(text: &str) -> String {
    let mut chars = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    let start: String = chars.by_ref().take(200).collect();
    if chars.next().is_some() { start + "…" } else { start }
}
