//! `lossdepth completions` and `lossdepth man`: made from the arguments themselves, so that they cannot be out of date.

use super::Outcome;
use crate::args::Cli;
use crate::error::{Error, Result};
use crate::write;
use clap::{Args, Command, CommandFactory};
use clap_complete::Shell;
use clap_mangen::Man;
use std::io;
use std::path::{Path, PathBuf};

const COMPLETIONS: &str = "\
Examples:
  lossdepth completions bash > ~/.local/share/bash-completion/completions/lossdepth
  lossdepth completions zsh > ~/.zfunc/_lossdepth        with ~/.zfunc in $fpath
  lossdepth completions fish > ~/.config/fish/completions/lossdepth.fish";

/// Print what a shell needs to complete commands, flags and names with the tab key
#[derive(Debug, Args)]
#[command(after_help = COMPLETIONS)]
pub(crate) struct Completions {
    /// The shell
    pub(crate) shell: Shell,
}

const MAN: &str = "\
Examples:
  lossdepth man | man -l -
  lossdepth man score | man -l -
  lossdepth man --out ~/.local/share/man/man1            then: man lossdepth-score";

/// Print the manual page, or write the pages of all commands to a folder
#[derive(Debug, Args)]
#[command(after_help = MAN)]
pub(crate) struct Manual {
    /// The command to print the page of [default: the overview]
    #[arg(conflicts_with = "out")]
    pub(crate) command: Option<String>,

    /// Write the pages of all commands to this folder, which is made if need be
    #[arg(long, value_name = "DIR")]
    pub(crate) out: Option<PathBuf>,
}

pub(crate) fn completions(args: &Completions) -> Result<Outcome> {
    let mut text = Vec::new();
    clap_complete::generate(args.shell, &mut Cli::command(), "lossdepth", &mut text);
    write::print(&String::from_utf8_lossy(&text))?;
    Ok(Outcome::Done)
}

pub(crate) fn manual(args: &Manual) -> Result<Outcome> {
    let all = commands();
    if let Some(folder) = &args.out {
        std::fs::create_dir_all(folder).map_err(|source| unwritable(folder, source))?;
        for command in &all {
            let path = folder.join(format!("{}.1", name(command)));
            let text = page(command).map_err(|source| unwritable(&path, source))?;
            write::whole(&path, text.as_bytes())?;
        }
        return Ok(Outcome::Done);
    }
    let asked = args.command.as_deref().map_or("lossdepth".to_owned(), |asked| format!("lossdepth-{asked}"));
    let Some(command) = all.iter().find(|command| name(command) == asked) else {
        return Err(Error::Usage(unknown(&all, &asked)));
    };
    let text = page(command).map_err(|source| unwritable(Path::new("standard output"), source))?;
    write::print(&text)?;
    Ok(Outcome::Done)
}

fn unwritable(path: &Path, source: io::Error) -> Error {
    Error::Output { file: path.display().to_string(), source }
}

/// The program and its commands, each under its full name.
fn commands() -> Vec<Command> {
    let mut program = Cli::command().disable_help_subcommand(true);
    program.build();
    let own: Vec<Command> = program.get_subcommands().cloned().collect();
    [program].into_iter().chain(own).collect()
}

fn name(command: &Command) -> String {
    command.get_display_name().unwrap_or_else(|| command.get_name()).to_owned()
}

fn unknown(all: &[Command], asked: &str) -> String {
    let bare = |name: &str| name.strip_prefix("lossdepth-").unwrap_or(name).to_owned();
    let names: Vec<String> = all[1..].iter().map(|command| bare(&name(command))).collect();
    let asked = bare(asked);
    match crate::suggest::nearest(&asked, names.iter().map(String::as_str)) {
        Some(name) => format!("no command `{asked}`; did you mean `{name}`?"),
        None => format!("no command `{asked}`; there are {}", names.join(", ")),
    }
}

fn page(command: &Command) -> io::Result<String> {
    let version = format!("lossdepth {}", env!("CARGO_PKG_VERSION"));
    // The notes are set below, with their lines as they are; clap_mangen would fill them.
    let notes = command.get_after_long_help().or(command.get_after_help()).map(ToString::to_string);
    let man = Man::new(command.clone()).source(version).manual("lossdepth manual");
    let mut out = Vec::new();
    man.render_title(&mut out)?;
    man.render_name_section(&mut out)?;
    man.render_synopsis_section(&mut out)?;
    man.render_description_section(&mut out)?;
    if command.get_arguments().any(|argument| !argument.is_hide_set()) {
        man.render_options_section(&mut out)?;
    }
    if command.has_subcommands() {
        man.render_subcommands_section(&mut out)?;
    }
    let text = String::from_utf8_lossy(&out).into_owned();
    Ok(text + &notes.map(|notes| set(&notes)).unwrap_or_default())
}

/// Paragraphs under NOTES, examples under EXAMPLES, line by line.
fn set(notes: &str) -> String {
    let (notes, examples) = match notes.split_once("Examples:\n") {
        Some((notes, examples)) => (notes.trim_end(), Some(examples)),
        None => (notes.trim_end(), None),
    };
    let notes = if notes.is_empty() {
        String::new()
    } else {
        let paragraphs: Vec<String> = notes.split("\n\n").map(|p| escaped(p.trim())).collect();
        format!(".SH NOTES\n{}\n", paragraphs.join("\n.PP\n"))
    };
    let examples = examples.map(|text| format!(".SH EXAMPLES\n.nf\n{}\n.fi\n", escaped(text.trim_end())));
    notes + &examples.unwrap_or_default()
}

/// Text that the typesetter takes for nothing else.
fn escaped(text: &str) -> String {
    let line = |line: &str| {
        let line = line.replace('\\', "\\e").replace('-', "\\-");
        if line.starts_with(['.', '\'']) { format!("\\&{line}") } else { line }
    };
    text.lines().map(line).collect::<Vec<_>>().join("\n")
}
