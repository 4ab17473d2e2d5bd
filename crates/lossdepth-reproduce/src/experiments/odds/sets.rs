//! The nine data sets, and what the paper prints for them.

use super::EXPERIMENT;
use crate::data::Data;
use crate::error::Result;
use crate::session::Session;

/// A data set, and the AUCs that the paper prints for it in the order of [`COLUMNS`].
pub(super) struct Set {
    pub(super) name: &'static str,
    pub(super) file: &'static str,
    pub(super) printed: [Option<f64>; 7],
    /// Rows, columns and outliers of the data set in a quick run.
    pub(super) size: [usize; 3],
}

/// The nine data sets; glass and lympho in the versions that the paper's scripts read.
pub(super) const SETS: [Set; 9] = [
    set("wine", "odds/wine.mat", [0.8529, 0.9983, 0.8891, 0.9664, 0.6294, 0.3311, 0.9924], [60, 6, 6]),
    set(
        "glass",
        "adbench/14_glass.npz",
        [0.5659, 0.8661, 0.5469, 0.8065, 0.5577, 0.7171, 0.8640],
        [70, 5, 5],
    ),
    set(
        "lympho",
        "adbench/21_Lymphography.npz",
        [0.9178, 0.9847, 0.9824, 0.8721, 0.9965, 0.9742, 0.9918],
        [50, 8, 4],
    ),
    set("vowels", "odds/vowels.mat", [0.6864, 0.9467, 0.6845, 0.7798, 0.6635, 0.8771, 0.9021], [100, 6, 5]),
    set("pima", "odds/pima.mat", [0.5986, 0.5850, 0.6119, 0.6725, 0.5849, 0.5634, 0.6122], [80, 4, 28]),
    set("breastw", "odds/breastw.mat", [0.4086, 0.4644, 0.9730, 0.9863, 0.9722, 0.9513, 0.9693], [80, 5, 26]),
    set("thyroid", "odds/thyroid.mat", [0.9143, 0.8871, 0.8353, 0.9852, 0.9707, 0.7055, NONE], [120, 4, 4]),
    set(
        "annthyroid",
        "odds/annthyroid.mat",
        [0.6617, 0.7386, 0.5421, 0.8901, 0.7705, 0.5063, NONE],
        [120, 4, 9],
    ),
    set(
        "pendigits",
        "odds/pendigits.mat",
        [0.8613, 0.5437, 0.9342, 0.8292, 0.9108, 0.9341, NONE],
        [120, 6, 4],
    ),
];

/// glass and lympho in the versions of ODDS, for which the paper prints nothing.
pub(super) const ORIGINALS: [Set; 2] = [
    set("glass (ODDS)", "odds/glass.mat", [NONE; 7], [70, 6, 5]),
    set("lympho (ODDS)", "odds/lympho.mat", [NONE; 7], [50, 8, 4]),
];

const NONE: f64 = f64::NAN;

const fn set(name: &'static str, file: &'static str, printed: [f64; 7], size: [usize; 3]) -> Set {
    let mut list = [None; 7];
    let mut i = 0;
    while i < 7 {
        if !printed[i].is_nan() {
            list[i] = Some(printed[i]);
        }
        i += 1;
    }
    Set { name, file, printed: list, size }
}

/// The columns of the paper's table.
pub(super) const COLUMNS: [&str; 7] = ["OC-SVM", "LOF", "LR", "SVM", "RF", "MLP", "GP"];

/// Data sets with more rows than this are expensive.
pub(super) const LARGE: usize = 2000;

/// A data set in memory.
pub(super) struct Loaded {
    pub(super) set: &'static Set,
    pub(super) data: Data,
    pub(super) fingerprint: String,
}

pub(super) fn load(session: &Session<'_>, set: &'static Set) -> Result<Loaded> {
    let [rows, width, outliers] = set.size;
    let data = if session.quick && session.data.is_none() {
        Data::synthetic(rows, width, outliers, width as u64)
    } else {
        let data = session.load(EXPERIMENT, set.file)?;
        if session.quick {
            // The first outliers, and every `step`-th other row.
            let step = data.len().div_ceil(rows);
            let few = data.labels.iter().scan(0, |seen, label| {
                *seen += usize::from(*label == 1);
                Some(*label == 1 && *seen <= outliers)
            });
            let kept =
                few.enumerate().filter(|(row, few)| *few || (row % step == 0 && data.labels[*row] != 1));
            data.pick(&kept.map(|(row, _)| row).collect::<Vec<_>>())
        } else {
            data
        }
    };
    Ok(Loaded { set, fingerprint: data.fingerprint(), data })
}
