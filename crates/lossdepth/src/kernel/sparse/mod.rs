//! A sparse sample, as kernels see it.
//!
//! Distances and products of sparse rows are sums over the columns in which both have a number:
//! $\|x - z\|^2 = \|x\|^2 + \|z\|^2 - 2 \langle x, z \rangle$. An index from columns to rows finds these, so a query costs as many
//! operations as there are such pairs. Equal rows have distance 0 exactly: all sums run in the order of the columns.
//!
//! Columns in which a large share of the sample has a number are kept dense, as [`Points`]: there the index would save nothing,
//! and the difference of squares could cancel where an origin is far from the data. In all others at most a share
//! [`DENSE`] of the rows has a number, so that the mean of a standardised column is at most $\sqrt{1/3}$.

mod bandwidth;
mod precision;

use super::points::{Columns, Points};
use super::{Kernel, Standard};
use crate::data::{Rows, Scaling, SparseReference, SparseRows, Transform};
use crate::error::Result;
use crate::numerics::double_double::Twofold;
use crate::numerics::linalg::Matrix;

/// Columns in which a larger share of the rows has a number are kept dense: then four times as many numbers as are stored, at most
/// (heuristic).
const DENSE: f64 = 0.25;

/// Queries whose distances or products are held at a time.
const BLOCK: usize = 32;

/// What is computed of two rows before the kernel is applied.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Measure {
    SquaredDistance,
    ManhattanDistance,
    Product,
}

/// Where the numbers of a column are.
#[derive(Debug, Clone, Copy)]
enum Place {
    /// No row of the sample has a number in it.
    Absent,
    /// Among the dense columns.
    Dense(u32),
    /// In the index.
    Indexed(u32),
}

/// Sums over the indexed columns of a row.
#[derive(Debug, Clone, Copy)]
struct Sums {
    /// $\|x\|^2$.
    square: f64,
    /// $\|x\|_1$.
    length: f64,
    /// $\langle x, m \rangle$ with the centre $m$.
    along_center: f64,
}

/// A row in the scaled columns.
struct SparseRow {
    dense: Vec<f64>,
    /// The place in the index and the number, places increasing.
    indexed: Vec<(u32, f64)>,
    sums: Sums,
    /// The squared and the absolute sum of the numbers in columns that the sample lacks.
    absent: (f64, f64),
}

/// A sparse sample after a scaling by columns.
#[derive(Debug, Clone)]
pub(crate) struct SparseSample {
    sample: SparseReference,
    scaling: Scaling,
    places: Vec<Place>,
    /// The dense columns of the sample; none if there are none.
    points: Option<Points>,
    /// What 0 is in the dense columns.
    dense_zero: Vec<f64>,
    /// Where each indexed column begins among the entries, which are a row and its number.
    starts: Vec<usize>,
    entries: Vec<(u32, f64)>,
    /// The scaled centre of the indexed columns, and its square.
    center: Vec<f64>,
    center_square: f64,
    sums: Vec<Sums>,
    /// The most indexed numbers in a row.
    longest: usize,
}

impl SparseSample {
    /// The scaling is diagonal or the identity.
    pub(crate) fn new(sample: &SparseReference, scaling: &Scaling) -> Self {
        let (rows, most) = (sample.rows(), DENSE * sample.len() as f64);
        let (column_starts, column_entries) = rows.by_column();
        let mut built = Self {
            sample: sample.clone(),
            scaling: scaling.clone(),
            places: Vec::with_capacity(rows.width()),
            points: None,
            dense_zero: Vec::new(),
            starts: vec![0],
            entries: Vec::new(),
            center: Vec::new(),
            center_square: 0.0,
            sums: Vec::new(),
            longest: 0,
        };
        let mut counts = vec![0usize; sample.len()];
        for (column, range) in column_starts.windows(2).enumerate() {
            let entries = &column_entries[range[0]..range[1]];
            built.places.push(match entries.len() {
                0 => Place::Absent,
                count if count as f64 > most => {
                    built.dense_zero.push(built.scaled(column, 0.0));
                    Place::Dense(position(built.dense_zero.len() - 1))
                }
                _ => {
                    let factor = built.factor(column);
                    built.entries.extend(entries.iter().map(|&(row, value)| (row, value * factor)));
                    for &(row, _) in entries {
                        counts[row as usize] += 1;
                    }
                    built.starts.push(built.entries.len());
                    built.center.push(built.scaling.center()[column] * factor);
                    Place::Indexed(position(built.center.len() - 1))
                }
            });
        }
        let mut square = Twofold::default();
        built.center.iter().for_each(|m| square.add_product(*m, *m));
        built.center_square = square.value();
        built.longest = counts.into_iter().max().unwrap_or(0);
        let mut dense = Vec::with_capacity(sample.len() * built.dense_zero.len());
        for row in rows.iter() {
            let row = built.locate(row);
            dense.extend(row.dense);
            built.sums.push(row.sums);
        }
        built.points = Rows::new(&dense, built.dense_zero.len()).ok().map(Points::new);
        built
    }

    /// The number of rows.
    pub(crate) fn len(&self) -> usize {
        self.sample.len()
    }

    fn factor(&self, column: usize) -> f64 {
        match self.scaling.transform() {
            Transform::Diagonal(factors) => factors[column],
            Transform::Identity | Transform::Full(_) => 1.0,
        }
    }

    fn scaled(&self, column: usize, value: f64) -> f64 {
        (value - self.scaling.center()[column]) * self.factor(column)
    }

    /// A row in the scaled columns.
    fn locate(&self, (columns, values): (&[u32], &[f64])) -> SparseRow {
        let mut dense = self.dense_zero.clone();
        let (mut indexed, mut absent) = (Vec::with_capacity(columns.len()), (0.0, 0.0));
        for (&column, &value) in columns.iter().zip(values) {
            let column = column as usize;
            match self.places[column] {
                Place::Dense(place) => dense[place as usize] = self.scaled(column, value),
                Place::Indexed(place) => indexed.push((place, value * self.factor(column))),
                Place::Absent => {
                    let x = value * self.factor(column);
                    absent = (x.mul_add(x, absent.0), absent.1 + x.abs());
                }
            }
        }
        let sums = self.sums(&indexed);
        SparseRow { dense, indexed, sums, absent }
    }

    /// A row with more numbers than any of the sample is equal to none, so that its sums may be rounded in another way: they
    /// are as exact as those of the sample.
    fn sums(&self, indexed: &[(u32, f64)]) -> Sums {
        let [mut square, mut length, mut along] = [Twofold::default(); 3];
        let (mut plain_square, mut plain_length) = (0.0, 0.0);
        for &(place, x) in indexed {
            square.add_product(x, x);
            length.add(x.abs());
            along.add_product(x, self.center[place as usize]);
            (plain_square, plain_length) = (x.mul_add(x, plain_square), plain_length + x.abs());
        }
        let exact = indexed.len() > self.longest;
        Sums {
            square: if exact { square.value() } else { plain_square },
            length: if exact { length.value() } else { plain_length },
            along_center: along.value(),
        }
    }

    /// $\langle x - m, z - m \rangle$ in the indexed columns, from $\langle x, z \rangle$; the same for x and z exchanged.
    fn centred(&self, product: f64, x: &Sums, z: &Sums) -> f64 {
        (product - (x.along_center + z.along_center)) + self.center_square
    }

    /// A measure of all rows of the sample and some others, one column each.
    fn measure(&self, measure: Measure, rows: &[SparseRow], out: &mut Matrix) {
        if let Some(points) = &self.points {
            let dense: Vec<f64> = rows.iter().flat_map(|row| &row.dense).copied().collect();
            let queries = Rows::new(&dense, points.width())
                .unwrap_or_else(|_| unreachable!("every row has all dense columns"));
            let mut block = Columns::new(out, 0, rows.len());
            match measure {
                Measure::SquaredDistance => points.squared_distances(queries, &mut block),
                Measure::ManhattanDistance => points.manhattan_distances(queries, &mut block),
                Measure::Product => points.products(queries, &mut block),
            }
        } else {
            (0..rows.len()).for_each(|j| out.col_mut(j).fill(0.0));
        }
        let mut sums = vec![0.0; self.len()];
        for (j, z) in rows.iter().enumerate() {
            sums.fill(0.0);
            let column = out.col_mut(j);
            match measure {
                Measure::SquaredDistance => {
                    self.add_terms(&z.indexed, &mut sums, |sum, x, z| x.mul_add(z, sum));
                    for ((out, product), x) in column.iter_mut().zip(&sums).zip(&self.sums) {
                        let apart = (x.square + z.sums.square) - 2.0 * product;
                        *out = (*out + apart.max(0.0)) + z.absent.0;
                    }
                }
                Measure::ManhattanDistance => {
                    self.add_terms(&z.indexed, &mut sums, |sum, x, z| {
                        sum + ((x - z).abs() - x.abs() - z.abs())
                    });
                    for ((out, common), x) in column.iter_mut().zip(&sums).zip(&self.sums) {
                        let apart = (x.length + z.sums.length) + common;
                        *out = (*out + apart.max(0.0)) + z.absent.1;
                    }
                }
                Measure::Product => {
                    self.add_terms(&z.indexed, &mut sums, |sum, x, z| x.mul_add(z, sum));
                    for ((out, product), x) in column.iter_mut().zip(&sums).zip(&self.sums) {
                        *out += self.centred(*product, x, &z.sums);
                    }
                }
            }
        }
    }

    /// Adds a term for each indexed column in which both a row of the sample and the other one have a number.
    fn add_terms(&self, indexed: &[(u32, f64)], sums: &mut [f64], term: impl Fn(f64, f64, f64) -> f64) {
        for &(place, z) in indexed {
            let place = place as usize;
            for &(row, x) in &self.entries[self.starts[place]..self.starts[place + 1]] {
                let sum = &mut sums[row as usize];
                *sum = term(*sum, x, z);
            }
        }
    }

    /// $k(z, z)$.
    fn own(&self, kernel: &Standard, z: &SparseRow) -> f64 {
        if Measure::of(kernel) != Measure::Product {
            // Not a function of the point.
            return kernel.diagonal(&[]);
        }
        let dense = z.dense.iter().fold(0.0, |sum: f64, x| x.mul_add(*x, sum));
        let mut own = [(dense + self.centred(z.sums.square, &z.sums, &z.sums)).max(0.0) + z.absent.0];
        kernel.apply(&mut own);
        own[0]
    }

    /// Kernel values of some rows as a precomputed kernel has them: for each row one with every row of the sample, and one with
    /// itself.
    pub(crate) fn values(
        &self,
        kernel: &Standard,
        rows: &SparseRows,
        range: std::ops::Range<usize>,
    ) -> Vec<f64> {
        let mut values = Vec::with_capacity(range.len() * (self.len() + 1));
        let mut block = Matrix::zeros(self.len(), BLOCK.min(range.len()));
        for first in range.clone().step_by(BLOCK) {
            let last = (first + BLOCK).min(range.end);
            let located: Vec<SparseRow> = (first..last).map(|i| self.locate(rows.row(i))).collect();
            self.measure(Measure::of(kernel), &located, &mut block);
            for (j, row) in located.iter().enumerate() {
                kernel.apply(block.col_mut(j));
                values.extend_from_slice(block.col(j));
                values.push(self.own(kernel, row));
            }
        }
        values
    }

    /// Kernel values of the sample itself, some rows at a time.
    pub(crate) fn own_values(&self, kernel: &Standard, range: std::ops::Range<usize>) -> Vec<f64> {
        let (first, width) = (range.start, self.len() + 1);
        let mut values = self.values(kernel, self.sample.rows(), range);
        for (j, row) in values.chunks_exact_mut(width).enumerate() {
            row[first + j] = row[width - 1];
        }
        values
    }

    /// A kernel by name for this sample; `None` for `precomputed`.
    pub(crate) fn learn(&self, kernel: &super::KernelChoice) -> Result<Option<Standard>> {
        kernel.learn_by(|gamma| self.gamma(gamma), |sigma| self.sigma(sigma))
    }
}

impl Measure {
    fn of(kernel: &Standard) -> Self {
        match kernel {
            Standard::Gaussian { .. } | Standard::Imq { .. } => Self::SquaredDistance,
            Standard::Laplacian { .. } => Self::ManhattanDistance,
            Standard::Linear | Standard::Polynomial { .. } => Self::Product,
        }
    }
}

/// A number of columns, of which there are at most as many as 32 bits count.
fn position(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
