//! `-h` shows what is used every day, `--help` everything.

use crate::args::Cli;
use clap::{Command, CommandFactory, FromArgMatches};

/// The flags of commands with many of them that `-h` shows, if the command has them.
const EVERY_DAY: [&str; 17] = [
    "reference",
    "model",
    "method",
    "methods",
    "columns",
    "exclude",
    "label",
    "kinds",
    "top",
    "keep",
    "p_values",
    "row",
    "shallowest",
    "axes",
    "format",
    "out",
    "quiet",
];

/// Flags that are every-day ones of some commands only.
const ALSO: [(&str, &str); 7] = [
    ("report", "title"),
    ("report", "open"),
    ("report", "mask"),
    ("plot", "zones"),
    ("evaluate", "plot"),
    ("central", "share"),
    ("central", "json"),
];

/// Commands with fewer flags show all of them.
const FEW: usize = 12;

/// How many examples `-h` shows.
const EXAMPLES: usize = 3;

/// Reads the arguments of this process.
pub(crate) fn parse() -> Cli {
    let matches = command().get_matches();
    Cli::from_arg_matches(&matches).unwrap_or_else(|error| error.exit())
}

/// The interface with a short help.
pub(crate) fn command() -> Command {
    let names: Vec<String> = Cli::command().get_subcommands().map(|c| c.get_name().to_owned()).collect();
    names.iter().fold(Cli::command(), |program, name| program.mut_subcommand(name, shortened))
}

fn shortened(command: Command) -> Command {
    if command.get_arguments().count() < FEW {
        return command;
    }
    let name = command.get_name().to_owned();
    let is_shown = |id: &str| EVERY_DAY.contains(&id) || ALSO.contains(&(name.as_str(), id));
    let notes = command.get_after_help().map(ToString::to_string).unwrap_or_default();
    let command = command.mut_args(|arg| {
        let hidden = !arg.is_positional() && !is_shown(arg.get_id().as_str());
        arg.hide_short_help(hidden)
    });
    command.after_help(first_examples(&notes)).after_long_help(notes)
}

/// The first of the examples, and where the rest is.
fn first_examples(notes: &str) -> String {
    let examples = notes.split("Examples:\n").nth(1).unwrap_or_default();
    let lines: Vec<&str> = examples.lines().take(EXAMPLES).collect();
    format!("Examples:\n{}\n\n--help shows all flags and says more.", lines.join("\n"))
}
