//! The experiments, each a function from a [`Session`] to a [`Report`].
//!
//! Expensive computations are cells of the session, which caches them; a report is made from the cells in every run.

mod contamination;
mod illustration;
mod images;
mod interpretation;
mod odds;
mod ranking;
mod theory;

use crate::error::Result;
use crate::host::Host;
use crate::report::{Report, Table};
use crate::session::{Options, Session};
use std::time::Instant;

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Experiment {
    /// Outliers in nine data sets.
    Odds,
    /// One digit against the others.
    Mnist,
    /// One kind of clothing against the others.
    FashionMnist,
    /// Maps of depths (figure 2).
    Illustration,
    /// Rank correlations of depth and density (figure 5).
    Ranking,
    /// A contaminated sample (figure 3).
    Contamination,
    /// Coefficients of images (figure 4).
    Interpretation,
    /// The propositions (sections 3 to 5).
    Theory,
}

impl Experiment {
    /// All experiments, in the order in which they are run.
    pub const ALL: [Self; 8] = [
        Self::Odds,
        Self::Mnist,
        Self::FashionMnist,
        Self::Illustration,
        Self::Ranking,
        Self::Contamination,
        Self::Interpretation,
        Self::Theory,
    ];

    /// Its name, as in the names of its files.
    pub fn name(self) -> &'static str {
        match self {
            Self::Odds => "odds",
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
            Self::Illustration => "illustration",
            Self::Ranking => "ranking",
            Self::Contamination => "contamination",
            Self::Interpretation => "interpretation",
            Self::Theory => "theory",
        }
    }

    /// A line about it.
    pub fn summary(self) -> &'static str {
        match self {
            Self::Odds => "Outliers in nine data sets: the table of the paper, and better ones",
            Self::Mnist => "One digit against the others",
            Self::FashionMnist => "One kind of clothing against the others",
            Self::Illustration => "Maps of the depths of two clusters",
            Self::Ranking => "Whether depths follow the density, in 2 to 8 dimensions",
            Self::Contamination => "What a detector makes of a sample that a tenth does not belong to",
            Self::Interpretation => "The images that stand out, and what gives them away",
            Self::Theory => "The propositions: range, convexity, slopes, rates",
        }
    }

    fn report(self, session: &Session<'_>) -> Result<Report> {
        match self {
            Self::Odds => odds::run(session),
            Self::Mnist => images::run(session, images::Set::Mnist),
            Self::FashionMnist => images::run(session, images::Set::FashionMnist),
            Self::Illustration => illustration::run(session),
            Self::Ranking => ranking::run(session),
            Self::Contamination => contamination::run(session),
            Self::Interpretation => interpretation::run(session),
            Self::Theory => theory::run(session),
        }
    }
}

/// Runs experiments in the order of [`Experiment::ALL`] and writes a page for each, and an index.
///
/// # Errors
/// A data set is missing or cannot be loaded, a file cannot be written, or the library refuses a problem.
pub fn run(experiments: &[Experiment], options: Options, host: &dyn Host) -> Result<()> {
    let session = Session::new(options, host);
    let mut index = Table::new(["experiment", "cells", "seconds"]);
    for experiment in Experiment::ALL.into_iter().filter(|experiment| experiments.contains(experiment)) {
        let (started, name) = (Instant::now(), experiment.name());
        experiment.report(&session)?.write(&session, name)?;
        let counts = session.take_counts();
        let (page, seconds) = (session.out.join(format!("{name}.md")), started.elapsed().as_secs_f64());
        let (page, cells, computed) = (page.display(), counts.computed + counts.cached, counts.computed);
        let noun = if cells == 1 { "cell" } else { "cells" };
        session.note(&format!("{page}: {cells} {noun}, {computed} of them computed now; {seconds:.1} s"));
        index.row([format!("[{name}]({name}.md)"), cells.to_string(), format!("{:.1}", counts.seconds)]);
    }
    let mut report = Report::new("Data Depth as a Risk, reproduced");
    report.text(format!(
        "By lossdepth {}. Seconds are those of the cells when they were computed.",
        env!("CARGO_PKG_VERSION")
    ));
    report.table(index);
    report.write(&session, "index")
}
