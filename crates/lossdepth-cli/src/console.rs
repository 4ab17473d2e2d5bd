//! What is said on standard error: notes, warnings, errors, progress.

use crate::error::Error;
use clap::builder::styling::{AnsiColor, Style};
use indicatif::{HumanDuration, ProgressBar, ProgressDrawTarget, ProgressStyle};
use lossdepth::model::PassProgress;
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

/// A bar for passes over a reference: how far this one is, and about how long all of them will take.
pub(crate) struct PassBar {
    bar: Option<ProgressBar>,
    started: Instant,
    /// The pass before: its number, and the error that it started with.
    before: (usize, f64),
}

impl PassBar {
    pub(crate) fn new(quiet: bool) -> Self {
        let bar = (!quiet && stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(Some(0), ProgressDrawTarget::hidden());
            let template = "{bar:20} pass {msg}";
            bar.with_style(
                ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar()),
            )
        });
        Self { bar, started: Instant::now(), before: (0, f64::INFINITY) }
    }

    /// Shows how far a pass is; `tol` is the error that all rows are to reach.
    pub(crate) fn show(&mut self, progress: &PassProgress, tol: f64) {
        let Some(bar) = &self.bar else { return };
        let PassProgress { pass, rows, of, open, error, share, .. } = *progress;
        if rows == 0 {
            if pass == 1 || share.is_some() {
                self.started = Instant::now();
                self.before = (1, f64::INFINITY);
            }
            bar.set_length(of as u64);
            bar.set_draw_target(ProgressDrawTarget::stderr());
        }
        // Errors have been seen to fall by a factor of about 30 a pass; later by the factor of the last one. The sample may make
        // a start at 1e-2. (A heuristic.)
        let (now, factor) = if error.is_finite() {
            (error, if self.before.1.is_finite() { (self.before.1 / error).clamp(1.5, 1e3) } else { 30.0 })
        } else {
            (1e-1, 30.0)
        };
        let more = if now > tol { (now / tol).ln() / f64::ln(factor) } else { 0.0 };
        let done = (pass - 1) as f64 + rows as f64 / of.max(1) as f64;
        let all = (pass - 1) as f64 + more.ceil().max(1.0);
        let (done, all) = share.map_or((done, all), |share| (share, 1.0));
        let left = self.started.elapsed().mul_f64(((all - done) / done.max(1e-9)).clamp(0.0, 1e6));
        let error = if error.is_finite() { format!(", error {error:.0e}") } else { String::new() };
        bar.set_message(format!(
            "{pass}: {open} rows above the tolerance{error}, about {} left",
            HumanDuration(left)
        ));
        bar.set_position(rows as u64);
        if rows == of && pass != self.before.0 {
            self.before = (pass, progress.error);
        }
    }
}

impl Drop for PassBar {
    fn drop(&mut self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }
}
