//! The experiments of the paper *Data Depth as a Risk*.
//!
//! An experiment is a function from a [`Workshop`] to a [`Report`]. What takes time is done in cells that the workshop
//! keeps; a report is made of cells, anew each time.

mod data;
mod images;
mod odds;
mod report;
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
}

impl Experiment {
    pub(crate) const ALL: [Self; 3] = [Self::Odds, Self::Mnist, Self::FashionMnist];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Self::Odds => "odds",
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
        }
    }

    pub(crate) fn summary(self) -> &'static str {
        match self {
            Self::Odds => "Outliers in nine data sets: the table of the paper, and better ones",
            Self::Mnist => "One digit against the others",
            Self::FashionMnist => "One kind of clothing against the others",
        }
    }

    pub(crate) fn run(self, shop: &Workshop) -> Result<Report> {
        match self {
            Self::Odds => odds::run(shop),
            Self::Mnist => images::run(shop, images::Set::Mnist),
            Self::FashionMnist => images::run(shop, images::Set::FashionMnist),
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
