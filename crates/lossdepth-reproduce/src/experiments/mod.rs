//! The experiments of the paper *Data Depth as a Risk*.
//!
//! An experiment is a function from a [`Workshop`] to a [`Report`]. What takes time is done in cells that the workshop
//! keeps; a report is made of cells, anew each time.

mod choice;
mod contamination;
mod data;
mod illustration;
mod images;
mod interpretation;
mod odds;
mod ranking;
mod report;
mod sketch;
mod theory;
mod workshop;

pub(crate) use report::{Report, Table};
pub(crate) use workshop::Workshop;

use crate::error::Result;

/// An experiment of the paper.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Experiment {
    Odds,
    Mnist,
    FashionMnist,
    Illustration,
    Ranking,
    Contamination,
    Interpretation,
    Theory,
}

impl Experiment {
    pub(crate) const ALL: [Self; 8] = [
        Self::Odds,
        Self::Mnist,
        Self::FashionMnist,
        Self::Illustration,
        Self::Ranking,
        Self::Contamination,
        Self::Interpretation,
        Self::Theory,
    ];

    pub(crate) fn name(self) -> &'static str {
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

    pub(crate) fn summary(self) -> &'static str {
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

    pub(crate) fn run(self, shop: &Workshop) -> Result<Report> {
        match self {
            Self::Odds => odds::run(shop),
            Self::Mnist => images::run(shop, images::Set::Mnist),
            Self::FashionMnist => images::run(shop, images::Set::FashionMnist),
            Self::Illustration => illustration::run(shop),
            Self::Ranking => ranking::run(shop),
            Self::Contamination => contamination::run(shop),
            Self::Interpretation => interpretation::run(shop),
            Self::Theory => theory::run(shop),
        }
    }
}

/// The page that leads to the others.
pub(crate) fn index(experiments: Table) -> Report {
    let mut report = Report::new("Data Depth as a Risk, reproduced");
    report.text(format!(
        "By lossdepth {}. Seconds are those of the cells when they were computed.",
        env!("CARGO_PKG_VERSION")
    ));
    report.table(experiments);
    report
}
