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

/// Panels whose sums are computed with all queries before the next are read, times the number of coordinates: 128 kB (heuristic).
const PANELS: usize = 1024;

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
        self.sums(queries, out, squared_difference, |_| {});
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
        self.sums(queries, out, absolute_difference, |_| {});
    }

    /// $\langle x_i, z_j \rangle$, one column a query.
    pub fn products(&self, queries: Rows<'_>, out: &mut Columns<'_>) {
        self.sums(queries, out, coordinate_product, |_| {});
    }

    /// Sums of a term of each coordinate, one column a query. `finish` is called for parts of columns while they are in the
    /// cache: some panels with all queries, then the next.
    pub(super) fn sums(
        &self,
        queries: Rows<'_>,
        out: &mut Columns<'_>,
        term: impl Fn(f64, f64, f64) -> f64 + Copy,
        finish: impl Fn(&mut [f64]),
    ) {
        let (d, count) = (self.width, queries.len().min(out.len()));
        let mut packed = vec![0.0; d * count.next_multiple_of(WIDE)];
        for (j, query) in queries.iter().enumerate().take(count) {
            let packed = &mut packed[j / WIDE * WIDE * d..];
            for (k, z) in query.iter().enumerate().take(d) {
                packed[k * WIDE + j % WIDE] = *z;
            }
        }
        let panels = (PANELS / d).clamp(4, 64);
        for (block, points) in self.panels.chunks(panels * d * LANES).enumerate() {
            let start = block * panels * LANES;
            let rows = start..(start + panels * LANES).min(self.len);
            for (group, packed) in packed.chunks_exact(d * WIDE).enumerate() {
                let (first, wide) = (out.first + group * WIDE, WIDE.min(count - group * WIDE));
                vectorised!({
                    for (p, panel) in points.chunks_exact(d * LANES).enumerate() {
                        let sums = tile(panel, packed, term);
                        for (j, sums) in sums.iter().enumerate().take(wide) {
                            let column = &mut out.matrix.col_mut(first + j)[start + p * LANES..];
                            if let Some(whole) = column.first_chunk_mut::<LANES>() {
                                *whole = *sums;
                            } else {
                                let rest = column.len();
                                column.copy_from_slice(&sums[..rest]);
                            }
                        }
                    }
                });
                (0..wide).for_each(|j| finish(&mut out.matrix.col_mut(first + j)[rows.clone()]));
            }
        }
    }
}

/// The terms of the sums: `sum` and one coordinate more of a squared distance, a Manhattan distance, a product.
#[inline(always)]
pub(super) fn squared_difference(sum: f64, x: f64, z: f64) -> f64 {
    (x - z).mul_add(x - z, sum)
}

#[inline(always)]
pub(super) fn absolute_difference(sum: f64, x: f64, z: f64) -> f64 {
    sum + (x - z).abs()
}

#[inline(always)]
pub(super) fn coordinate_product(sum: f64, x: f64, z: f64) -> f64 {
    x.mul_add(z, sum)
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
