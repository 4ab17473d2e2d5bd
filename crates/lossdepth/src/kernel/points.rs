//! The sample in a memory layout for blocks of kernel values.
//!
//! Points are stored in panels of [`LANES`], coordinate by coordinate, so that a tile of one panel and a few queries is
//! computed like a tile of a matrix product. Distances are sums of squared differences, not $|x|^2 + |z|^2 - 2xz$: equal
//! points have distance 0 exactly, and an origin far from the data costs no accuracy. Every entry is summed in the order of
//! the coordinates, so it depends on its two points alone.

use crate::data::Rows;
use crate::numerics::linalg::Matrix;
use crate::numerics::simd::{LANES, vectorised};

/// Queries in a tile.
const WIDE: usize = 4;

/// Queries whose distances are held at a time.
const BLOCK: usize = 32;

/// Points to evaluate a kernel at.
#[derive(Debug, Clone)]
pub struct Points {
    rows: Vec<f64>,
    panels: Vec<f64>,
    width: usize,
    len: usize,
}

/// A block of kernel values to fill in: one column a query, one entry a sample point.
#[derive(Debug)]
pub struct Columns<'a> {
    matrix: &'a mut Matrix,
    first: usize,
    count: usize,
}

impl<'a> Columns<'a> {
    pub(crate) fn new(matrix: &'a mut Matrix, first: usize, count: usize) -> Self {
        Self { matrix, first, count }
    }

    /// The number of columns.
    pub fn len(&self) -> usize {
        self.count
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Column `j`.
    ///
    /// # Panics
    /// If there are not that many columns.
    pub fn column(&mut self, j: usize) -> &mut [f64] {
        assert!(j < self.count, "column {j} of {}", self.count);
        self.matrix.col_mut(self.first + j)
    }
}

impl Points {
    /// The rows of a sample as points.
    pub fn new(rows: Rows<'_>) -> Self {
        let (len, width) = (rows.len(), rows.width());
        let mut panels = vec![0.0; len.div_ceil(LANES) * width * LANES];
        for (i, row) in rows.iter().enumerate() {
            let panel = &mut panels[i / LANES * width * LANES..];
            for (j, x) in row.iter().enumerate() {
                panel[j * LANES + i % LANES] = *x;
            }
        }
        Self { rows: rows.as_slice().to_vec(), panels, width, len }
    }

    /// The number of points.
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// The number of coordinates of a point.
    pub fn width(&self) -> usize {
        self.width
    }

    /// Point `i`.
    ///
    /// # Panics
    /// If there are not that many points.
    pub fn point(&self, i: usize) -> &[f64] {
        &self.rows[i * self.width..(i + 1) * self.width]
    }

    /// All points in order.
    pub fn iter(&self) -> impl Iterator<Item = &[f64]> {
        self.rows.chunks_exact(self.width)
    }

    /// All points as rows.
    pub fn rows(&self) -> Rows<'_> {
        Rows::new(&self.rows, self.width).unwrap_or_else(|_| unreachable!("rows of one width"))
    }

    /// $\|x_i - z_j\|^2$, one column a query.
    pub fn squared_distances(&self, queries: Rows<'_>, out: &mut Columns<'_>) {
        self.tiles(
            queries,
            out,
            #[inline(always)]
            |sum, x, z| {
                let d = x - z;
                d.mul_add(d, sum)
            },
        );
    }

    /// Calls `take` for each query in turn with its number and its squared distances to all points.
    pub fn for_each_query(&self, queries: Rows<'_>, mut take: impl FnMut(usize, &mut [f64])) {
        let mut block = Matrix::zeros(self.len, BLOCK.min(queries.len()));
        for first in (0..queries.len()).step_by(BLOCK) {
            let last = (first + BLOCK).min(queries.len());
            self.squared_distances(
                queries.range(first, last),
                &mut Columns::new(&mut block, 0, last - first),
            );
            (first..last).for_each(|query| take(query, block.col_mut(query - first)));
        }
    }

    /// $\|x_i - z_j\|_1$, one column a query.
    pub fn manhattan_distances(&self, queries: Rows<'_>, out: &mut Columns<'_>) {
        self.tiles(
            queries,
            out,
            #[inline(always)]
            |sum, x, z| sum + (x - z).abs(),
        );
    }

    /// $\langle x_i, z_j \rangle$, one column a query.
    pub fn products(&self, queries: Rows<'_>, out: &mut Columns<'_>) {
        self.tiles(
            queries,
            out,
            #[inline(always)]
            |sum, x, z| x.mul_add(z, sum),
        );
    }

    fn tiles(&self, queries: Rows<'_>, out: &mut Columns<'_>, term: impl Fn(f64, f64, f64) -> f64 + Copy) {
        let (d, count) = (self.width, queries.len().min(out.len()));
        let mut packed = vec![0.0; d * WIDE];
        for first in (0..count).step_by(WIDE) {
            let wide = WIDE.min(count - first);
            for j in 0..wide {
                for (k, z) in queries.row(first + j).iter().enumerate().take(d) {
                    packed[k * WIDE + j] = *z;
                }
            }
            vectorised!({
                for (p, panel) in self.panels.chunks_exact(d * LANES).enumerate() {
                    let sums = tile(panel, &packed, term);
                    let start = p * LANES;
                    for (j, sums) in sums.iter().enumerate().take(wide) {
                        let column = &mut out.matrix.col_mut(out.first + first + j)[start..];
                        if let Some(whole) = column.first_chunk_mut::<LANES>() {
                            *whole = *sums;
                        } else {
                            let rest = column.len();
                            column.copy_from_slice(&sums[..rest]);
                        }
                    }
                }
            });
        }
    }
}

/// The sums over all coordinates for one panel of points and [`WIDE`] queries.
///
/// Four arrays rather than an array of arrays: the compiler then vectorises over the points.
#[inline(always)]
fn tile(panel: &[f64], packed: &[f64], term: impl Fn(f64, f64, f64) -> f64 + Copy) -> [[f64; LANES]; WIDE] {
    let (mut a, mut b, mut c, mut d) = ([0.0; LANES], [0.0; LANES], [0.0; LANES], [0.0; LANES]);
    for (x, z) in panel.as_chunks::<LANES>().0.iter().zip(packed.as_chunks::<WIDE>().0) {
        a = add(a, x, z[0], term);
        b = add(b, x, z[1], term);
        c = add(c, x, z[2], term);
        d = add(d, x, z[3], term);
    }
    [a, b, c, d]
}

#[inline(always)]
fn add(
    mut sums: [f64; LANES],
    x: &[f64; LANES],
    z: f64,
    term: impl Fn(f64, f64, f64) -> f64,
) -> [f64; LANES] {
    for k in 0..LANES {
        sums[k] = term(sums[k], x[k], z);
    }
    sums
}
