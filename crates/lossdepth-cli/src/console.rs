//! What is said on standard error: notes, warnings, errors, progress.

use crate::error::Error;
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use std::fmt::Display;
use std::io::{IsTerminal, Write, stderr};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Work shorter than this shows no progress.
const PATIENCE: Duration = Duration::from_secs(1);

const RED: Style = AnsiColor::Red.on_default().bold();
const YELLOW: Style = AnsiColor::Yellow.on_default().bold();

/// Unlike `eprintln!`, does not mind if nobody listens; colours are for terminals, and not where `NO_COLOR` is set.
fn say(text: impl Display) {
    let _ = writeln!(anstream::stderr(), "{text}");
}

pub(crate) fn error(error: &Error) {
    say(format_args!("{RED}error:{RED:#} {}", one_line(error)));
}

pub(crate) fn warning(text: impl Display) {
    say(format_args!("{YELLOW}warning:{YELLOW:#} {}", one_line(text)));
}

/// The same without line breaks and other controls, which the names of files and columns may have.
fn one_line(text: impl Display) -> String {
    text.to_string().replace(char::is_control, " ")
}

/// A number the user asked for.
pub(crate) fn result(text: impl Display) {
    say(text);
}

/// Something good to know, unless the user wants it quiet.
pub(crate) fn note(quiet: bool, text: impl Display) {
    if !quiet {
        say(text);
    }
}

/// A bar that appears once the work turns out to be long.
pub(crate) struct Progress {
    bar: Option<ProgressBar>,
    started: Instant,
    shown: AtomicBool,
}

impl Progress {
    /// How many rows there will be, if that is known.
    pub(crate) fn new(quiet: bool, total: Option<usize>) -> Self {
        let bar = (!quiet && stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(total.map(|n| n as u64), ProgressDrawTarget::hidden());
            let template = match total {
                Some(_) => "{bar:30} {human_pos} of {human_len} rows, {per_sec}, {eta} left",
                None => "{spinner} {human_pos} rows, {per_sec}",
            };
            bar.with_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
        });
        Self { bar, started: Instant::now(), shown: AtomicBool::new(false) }
    }

    pub(crate) fn advance(&self, rows: usize) {
        let Some(bar) = &self.bar else { return };
        bar.inc(rows as u64);
        if self.started.elapsed() > PATIENCE && !self.shown.swap(true, Ordering::Relaxed) {
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
    }

    /// Does something that may print while the bar steps aside.
    pub(crate) fn aside<T>(&self, work: impl FnOnce() -> T) -> T {
        match &self.bar {
            Some(bar) => bar.suspend(work),
            None => work(),
        }
    }
}

impl Drop for Progress {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
