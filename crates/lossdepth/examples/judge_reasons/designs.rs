//! What the tables are, and how they are drawn.

use crate::developed::{
    SHOP, between_clusters, chain, factors, far, heavy, hidden, inside, miscoded, mixture, product, shifted,
    shifted_units, shop, skewed, slipped, tenfold,
};
use crate::fresh::{
    CLINIC, body, clinic, invoice, journey, loose, mistaken, other_body, other_invoice, other_journey,
    other_receipt, other_stay, receipt, six, skewed_chain, stay, thirtyfold, wide,
};
use lossdepth::numerics::Random;

/// How a table is drawn, and by how much a corrupted value is off.
pub(crate) struct Design {
    pub(crate) name: &'static str,
    group: Group,
    width: usize,
    draw: fn(&mut Random, usize) -> Vec<f64>,
    corrupt: fn(&mut Random, &[f64], usize) -> f64,
    /// How many levels each column has, 0 for a number; empty if all are numbers.
    levels: &'static [usize],
    /// The columns of which one determines another; only these are corrupted, one a row. Empty if there is no such relation.
    relation: &'static [usize],
    /// The share of the other cells that are removed.
    gaps: f64,
}

/// Which tables belong together.
#[derive(Clone, Copy, PartialEq)]
enum Group {
    Developed,
    Fresh,
    Relations,
}

const PLAIN: Design = Design {
    name: "",
    group: Group::Developed,
    width: 0,
    draw: chain,
    corrupt: shifted,
    levels: &[],
    relation: &[],
    gaps: 0.0,
};

static DESIGNS: [Design; 20] = [
    Design { name: "chain5", width: 5, ..PLAIN },
    Design { name: "chain10", width: 10, ..PLAIN },
    Design { name: "chain20", width: 20, ..PLAIN },
    Design { name: "factors12", width: 12, draw: factors, corrupt: shifted_units, ..PLAIN },
    Design { name: "heavy8", width: 8, draw: heavy, corrupt: far, ..PLAIN },
    Design { name: "product6", width: 6, draw: product, corrupt: slipped, ..PLAIN },
    Design { name: "mixture6", width: 6, draw: mixture, corrupt: between_clusters, ..PLAIN },
    Design { name: "hidden8", width: 8, draw: hidden, corrupt: inside, ..PLAIN },
    Design { name: "skewed8", width: 8, draw: skewed, corrupt: tenfold, ..PLAIN },
    Design { name: "mixed8", width: 8, draw: shop, corrupt: miscoded, levels: &SHOP, ..PLAIN },
    Design { name: "loose7", width: 7, draw: loose, corrupt: six, ..FRESH },
    Design { name: "wide30", width: 30, draw: wide, corrupt: six, ..FRESH },
    Design { name: "lognormal9", width: 9, draw: skewed_chain, corrupt: thirtyfold, ..FRESH },
    Design { name: "clinic10", width: 10, draw: clinic, corrupt: mistaken, levels: &CLINIC, ..FRESH },
    Design {
        name: "gaps10",
        width: 10,
        draw: clinic,
        corrupt: mistaken,
        levels: &CLINIC,
        gaps: 0.08,
        ..FRESH
    },
    Design {
        name: "invoice6",
        width: 6,
        draw: invoice,
        corrupt: other_invoice,
        relation: &[0, 1, 2, 3],
        ..RELATED
    },
    Design { name: "body5", width: 5, draw: body, corrupt: other_body, relation: &[0, 1, 2], ..RELATED },
    Design { name: "stay5", width: 5, draw: stay, corrupt: other_stay, relation: &[0, 1, 2], ..RELATED },
    Design {
        name: "receipt5",
        width: 5,
        draw: receipt,
        corrupt: other_receipt,
        relation: &[0, 1, 2],
        ..RELATED
    },
    Design {
        name: "journey5",
        width: 5,
        draw: journey,
        corrupt: other_journey,
        relation: &[0, 1, 2],
        ..RELATED
    },
];

const FRESH: Design = Design { group: Group::Fresh, ..PLAIN };
const RELATED: Design = Design { group: Group::Relations, ..PLAIN };

/// The designs with these names or groups, separated by commas: `developed`, `fresh`, `relations`, `all`.
pub(crate) fn chosen(names: &str) -> Vec<&'static Design> {
    let is = |design: &Design, name: &str| match name {
        "all" => true,
        "developed" => design.group == Group::Developed,
        "fresh" => design.group == Group::Fresh,
        "relations" => design.group == Group::Relations,
        name => design.name == name,
    };
    DESIGNS.iter().filter(|design| names.split(',').any(|name| is(design, name))).collect()
}

/// Rows as drawn, and the same with corrupted columns.
pub(crate) struct Drawn {
    /// Rows that are as they should be.
    pub(crate) clean: Vec<Vec<f64>>,
    /// The rows that are corrupted, before.
    pub(crate) truth: Vec<Vec<f64>>,
    /// The same after it.
    pub(crate) odd: Vec<Vec<f64>>,
    /// The corrupted columns of each.
    pub(crate) corrupted: Vec<Vec<usize>>,
    pub(crate) levels: &'static [usize],
    pub(crate) relation: &'static [usize],
    pub(crate) has_gaps: bool,
}

impl Design {
    /// A table of `size` rows, of which `rows` have one corrupted column and as many have two.
    pub(crate) fn drawn(&self, seed: u64, size: usize, rows: usize) -> Drawn {
        let width = self.width;
        let mut random = Random::stream(seed, width as u64 + 100 * u64::from(self.name.as_bytes()[0]));
        let mut clean: Vec<Vec<f64>> =
            (0..size.saturating_sub(2 * rows)).map(|_| (self.draw)(&mut random, width)).collect();
        let (mut truth, mut odd, mut corrupted) = (Vec::new(), Vec::new(), Vec::new());
        for i in 0..2 * rows {
            let before = (self.draw)(&mut random, width);
            let mut row = before.clone();
            let mut columns = if self.relation.is_empty() {
                random.choose(1 + i % 2, width)
            } else {
                vec![self.relation[random.below(self.relation.len())]]
            };
            columns.sort_unstable();
            for &j in &columns {
                row[j] = (self.corrupt)(&mut random, &before, j);
            }
            truth.push(before);
            odd.push(row);
            corrupted.push(columns);
        }
        let has_gaps = self.gaps > 0.0;
        if has_gaps {
            let mut removed = |columns: &[usize]| -> Vec<usize> {
                (0..width).filter(|j| !columns.contains(j) && random.between(0.0, 1.0) < self.gaps).collect()
            };
            for row in &mut clean {
                for j in removed(&[]) {
                    row[j] = f64::NAN;
                }
            }
            for ((before, row), columns) in truth.iter_mut().zip(&mut odd).zip(&corrupted) {
                for j in removed(columns) {
                    (before[j], row[j]) = (f64::NAN, f64::NAN);
                }
            }
        }
        Drawn { clean, truth, odd, corrupted, levels: self.levels, relation: self.relation, has_gaps }
    }
}
