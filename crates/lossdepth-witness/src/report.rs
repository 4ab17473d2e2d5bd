//! What a run found, in tables.

use crate::formulation::{Intercept, Problem, Variant};
use crate::generator::{Generated, Kind};
use crate::loss::Loss;
use crate::verdict::{Examined, Verdict};
use crate::witness::Path;
use std::collections::BTreeMap;
use std::time::Duration;

/// Counts of one class of problems.
#[derive(Debug, Clone, Copy, Default)]
struct Count {
    problems: u64,
    converged: u64,
    violated: u64,
    undecided: u64,
    worst: f64,
}

impl Count {
    fn add(&mut self, examined: &Examined) {
        self.problems += 1;
        self.converged += u64::from(examined.answer.converged);
        self.violated += u64::from(examined.verdict == Verdict::Violated);
        self.undecided += u64::from(examined.verdict == Verdict::Undecided);
        if examined.verdict != Verdict::Undecided {
            self.worst = self.worst.max(examined.ratio);
        }
    }

    fn merge(&mut self, other: &Self) {
        self.problems += other.problems;
        self.converged += other.converged;
        self.violated += other.violated;
        self.undecided += other.undecided;
        self.worst = self.worst.max(other.worst);
    }
}

/// What was found so far.
#[derive(Debug, Default)]
pub(crate) struct Report {
    /// By title and class.
    classes: BTreeMap<(usize, String), Count>,
    /// Errors by power of ten: how many, and how many of them converged.
    errors: BTreeMap<i32, (u64, u64)>,
    /// Lines on violations, refusals and problems that are undecided, by index.
    lines: BTreeMap<u64, String>,
    total: Count,
    failed: u64,
    wide: u64,
    /// The largest bound on the witness's own error, over the error it was to check.
    loosest: f64,
    beyond_tolerance: u64,
    pub(crate) asking: Duration,
    pub(crate) solving: Duration,
}

const TITLES: [&str; 3] = ["loss and variant", "intercept", "kind"];

/// A ratio, with the digits that tell it from one.
fn ratio(ratio: f64) -> String {
    if ratio < 1000.0 { format!("{ratio:.6}") } else { format!("{ratio:.3e}") }
}

/// One line that says which problem it is.
pub(crate) fn describe(generated: &Generated) -> String {
    let Generated { index, kind, problem } = generated;
    let Problem { loss, intercept, variant, reg, tol, .. } = problem;
    let strength = match variant {
        Variant::Constrained { radius } => format!("radius {radius:.3e}"),
        Variant::Risk | Variant::Objective => format!("reg {reg:.3e}"),
    };
    let (n, d) = (problem.rows.len(), problem.query.len());
    let weights = if problem.weights.is_some() { " weighted" } else { "" };
    format!(
        "{index}: {} {} {} {} n {n} d {d}{weights} {strength} tol {tol:.1e}",
        kind.name(),
        loss.name(),
        variant.name(),
        intercept.name()
    )
}

impl Report {
    pub(crate) fn add(&mut self, generated: &Generated, examined: &Examined) {
        let Generated { index, kind, problem } = generated;
        let names = [
            format!("{:<18} {}", problem.loss.name(), problem.variant.name()),
            problem.intercept.name().to_owned(),
            kind.name().to_owned(),
        ];
        for (title, name) in names.into_iter().enumerate() {
            self.classes.entry((title, name)).or_default().add(examined);
        }
        self.total.add(examined);
        let answer = examined.answer;
        #[expect(clippy::cast_possible_truncation, reason = "a power of ten of a double")]
        let decade = if answer.error > 0.0 { answer.error.log10().floor() as i32 } else { i32::MIN };
        let entry = self.errors.entry(decade).or_default();
        entry.0 += 1;
        entry.1 += u64::from(answer.converged);
        self.beyond_tolerance += u64::from(answer.converged && answer.error > problem.tol);
        self.wide += u64::from(examined.path() == Some(Path::Full));
        let bound =
            examined.witness.as_ref().map_or(f64::INFINITY, |w| crate::real::Real::to_f64(w.proven.bound));
        if answer.error > 0.0 && examined.verdict != Verdict::Undecided {
            self.loosest = self.loosest.max(bound / answer.error);
        }
        let word = match examined.verdict {
            Verdict::Holds => return,
            Verdict::Violated => "violated",
            Verdict::Undecided => "undecided",
        };
        let line = format!(
            "{word} {} | depth {:e} error {:.3e} off {:.3e} ratio {} witness to {bound:.1e}",
            describe(generated),
            answer.depth,
            answer.error,
            examined.off,
            ratio(examined.ratio)
        );
        self.add_line(*index, line);
    }

    /// A problem that the library did not answer.
    pub(crate) fn add_failure(&mut self, generated: &Generated, why: &str) {
        self.failed += 1;
        self.add_line(generated.index, format!("{why} {}", describe(generated)));
    }

    /// Keeps a line for the end, and prints it at once, so that it is known even if the run is ended before.
    fn add_line(&mut self, index: u64, line: String) {
        eprintln!("{line}");
        self.lines.insert(index, line);
    }

    pub(crate) fn merge(&mut self, other: Self) {
        for (class, count) in other.classes {
            self.classes.entry(class).or_default().merge(&count);
        }
        for (decade, (all, converged)) in other.errors {
            let entry = self.errors.entry(decade).or_default();
            (entry.0, entry.1) = (entry.0 + all, entry.1 + converged);
        }
        self.lines.extend(other.lines);
        self.total.merge(&other.total);
        self.failed += other.failed;
        self.wide += other.wide;
        self.loosest = self.loosest.max(other.loosest);
        self.beyond_tolerance += other.beyond_tolerance;
        self.asking += other.asking;
        self.solving += other.solving;
    }

    /// Whether every error is a bound, as far as is known.
    pub(crate) fn is_clean(&self) -> bool {
        self.total.violated == 0 && self.failed == 0
    }

    pub(crate) fn print(&self, show: usize) {
        for line in self.lines.values().take(show) {
            println!("{line}");
        }
        if self.lines.len() > show {
            println!("... and {} more (--show)", self.lines.len() - show);
        }
        for (number, title) in TITLES.iter().enumerate() {
            println!();
            println!(
                "{title:<32} {:>9} {:>10} {:>9} {:>10} {:>12}",
                "problems", "converged", "violated", "undecided", "worst ratio"
            );
            let mut names: Vec<_> = self.classes.iter().filter(|((t, _), _)| *t == number).collect();
            names.sort_by_key(|((_, name), _)| order(name));
            for ((_, name), c) in names {
                println!(
                    "{name:<32} {:>9} {:>10} {:>9} {:>10} {:>12}",
                    c.problems,
                    c.converged,
                    c.violated,
                    c.undecided,
                    ratio(c.worst)
                );
            }
        }
        println!("\n{:<32} {:>9} {:>10}", "error reported", "problems", "converged");
        for (&decade, (all, converged)) in &self.errors {
            let name =
                if decade == i32::MIN { "0".to_owned() } else { format!("1e{decade} to 1e{}", decade + 1) };
            println!("{name:<32} {all:>9} {converged:>10}");
        }
        let Count { problems, converged, violated, undecided, worst } = self.total;
        println!("\n{problems} problems, {converged} converged, {} without an answer", self.failed);
        println!("{violated} violated, {undecided} undecided, worst ratio {}", ratio(worst));
        println!("{} converged with an error above the tolerance", self.beyond_tolerance);
        println!(
            "witness: its own bound is at most {:.1e} of the error it checks; {} solved in 77 digits throughout",
            self.loosest, self.wide
        );
        println!(
            "time: library {:.1} s, witness {:.1} s (summed over threads)",
            self.asking.as_secs_f64(),
            self.solving.as_secs_f64()
        );
    }
}

/// The order of the definitions, not of the alphabet.
fn order(name: &str) -> (usize, usize) {
    let mut words = name.split_whitespace();
    let (first, second) = (words.next().unwrap_or(""), words.next().unwrap_or(""));
    let place = |list: &[&str], word: &str| list.iter().position(|w| *w == word);
    let firsts: Vec<&str> = (Loss::ALL.map(Loss::name).into_iter())
        .chain(Intercept::ALL.map(Intercept::name))
        .chain(Kind::ALL.map(Kind::name))
        .collect();
    (place(&firsts, first).unwrap_or(0), place(&Variant::NAMES, second).unwrap_or(0))
}
