//! Compares depths by passes with those of the full solution on many random problems, and counts violations of the proven errors.
//!
//! `cargo run --release -p lossdepth --example certify_passes -- [PROBLEMS] [SEED] [ONLY]`; `VERBOSE=1` names queries that did not
//! converge, `ONLY` replays one problem.

use lossdepth::data::{RowSource, Visit};
use lossdepth::kernel::{Gamma, Kernel, KernelChoice, Sigma};
use lossdepth::model::Passes;
use lossdepth::{DepthError, Fit, Intercept, Method, Reference, Rows, Run, Scale, Settings, Stop, Variant};

/// SplitMix64.
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut x = self.0;
        x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        x ^ (x >> 31)
    }

    fn unit(&mut self) -> f64 {
        ((self.next() >> 11) as f64 + 0.5) / (1u64 << 53) as f64
    }

    fn below(&mut self, end: usize) -> usize {
        usize::try_from(self.next() % end as u64).expect("below a usize")
    }

    fn normal(&mut self) -> f64 {
        (-2.0 * self.unit().ln()).sqrt() * (std::f64::consts::TAU * self.unit()).cos()
    }
}

/// Rows in pieces of some size.
struct Pieces<'a> {
    data: &'a [f64],
    weights: Option<&'a [f64]>,
    width: usize,
    size: usize,
}

impl RowSource for Pieces<'_> {
    type Error = DepthError;

    fn read(&mut self, visit: &mut Visit<'_>) -> Result<(), DepthError> {
        let pieces = self.data.chunks(self.size * self.width).enumerate();
        pieces.into_iter().try_for_each(|(k, piece)| {
            let rows = Rows::new(piece, self.width)?;
            let first = k * self.size;
            visit(rows, self.weights.map(|weights| &weights[first..first + rows.len()]))
        })
    }
}

/// One random problem: settings, rows, weights and queries.
struct Problem {
    settings: Settings,
    width: usize,
    data: Vec<f64>,
    weights: Option<Vec<f64>>,
    queries: Vec<f64>,
    sample: usize,
    piece: usize,
}

impl Problem {
    fn draw(random: &mut Random) -> Self {
        let methods = [Method::Logistic, Method::SquaredHinge, Method::Exponential, Method::Svm, Method::Svm];
        let method = methods[random.below(methods.len())];
        let variant = [Variant::Risk, Variant::Objective][random.below(2)];
        let intercept = Intercept::ALL[random.below(3)];
        let reg = 10f64.powf(5.0 * random.unit() - 4.0);
        let (width, n) = (1 + random.below(6), 50 + random.below(1500));
        // Units and places of the columns, tails, and a few rows that are far off.
        let units: Vec<f64> = (0..width).map(|_| 10f64.powf(3.0 * random.unit() - 1.5)).collect();
        let places: Vec<f64> =
            (0..width).map(|_| if random.below(3) == 0 { 100.0 * random.normal() } else { 0.0 }).collect();
        let heavy = random.below(2) == 0;
        let cell = |random: &mut Random, j: usize, far: f64| {
            let x = if heavy { random.normal() / random.unit().sqrt() } else { random.normal() };
            units[j] * (places[j] + far * x)
        };
        let mut data = Vec::new();
        for _ in 0..n {
            let far = if random.below(100) == 0 { 30.0 } else { 1.0 };
            data.extend((0..width).map(|j| cell(random, j, far)).collect::<Vec<f64>>());
        }
        let weights = match random.below(3) {
            0 => Some((0..n).map(|_| random.below(4) as f64).collect()),
            1 => Some((0..n).map(|_| random.unit()).collect()),
            _ => None,
        };
        let mut queries = Vec::new();
        for k in 0..4 {
            let far = [0.1, 1.0, 4.0, 50.0][k];
            queries.extend((0..width).map(|j| cell(random, j, far)).collect::<Vec<f64>>());
        }
        let scale = [Scale::None, Scale::Standard, Scale::Robust][random.below(3)];
        let settings = Settings { reg, variant, intercept, scale: Scale::None, ..Settings::new(method) };
        // The same scaling for both sides: it is learned here, on all rows.
        let problem = Self {
            settings,
            width,
            weights,
            queries,
            sample: 20 + random.below(n),
            piece: 1 + random.below(300),
            data,
        };
        let problem = problem.scaled(scale);
        if method == Method::Svm { problem.with_kernel(random) } else { problem }
    }

    /// A kernel by name, of a width that suits the rows or does not, a penalty that the closed form holds for, mostly not by far, and a
    /// tolerance: it decides on centres and blocks.
    fn with_kernel(mut self, random: &mut Random) -> Self {
        let rows = self.data.chunks_exact(self.width);
        let square = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>();
        let mut squares: Vec<f64> = rows.clone().map(square).collect();
        squares.sort_by(f64::total_cmp);
        let typical = squares[squares.len() / 2].max(1e-12);
        let gamma = Gamma::Value(10f64.powf(3.0 * random.unit() - 2.0) / typical);
        let width = 10f64.powf(2.0 * random.unit() - 1.0) * typical.sqrt();
        let kernel = match random.below(5) {
            0 => KernelChoice::Gaussian { gamma },
            1 => KernelChoice::Laplacian { sigma: Sigma::Value(width) },
            2 => KernelChoice::Imq { c: width, beta: [-0.5, -1.3][random.below(2)] },
            3 => KernelChoice::Linear,
            _ => {
                let degree = u32::try_from(1 + random.below(3)).expect("small");
                KernelChoice::Polynomial { gamma, degree, coef0: random.below(2) as f64 }
            }
        };
        let all = Reference::from_vec(self.data.clone(), self.width, self.weights.clone()).expect("finite");
        let function = kernel.learn(&all).expect("good settings").expect("a function of rows");
        let largest = rows.map(|x| function.diagonal(x)).fold(0.0, f64::max);
        // The closed form holds for this and more; queries that are far off may still be beyond it.
        let reg = 0.25
            * largest
            * (1.0 + 1e-9)
            * if random.below(2) == 0 { 1.0 } else { 1.0 + 9.0 * random.unit() };
        let tol = 10f64.powf(5.0 * random.unit() - 6.0);
        self.settings = Settings { kernel, reg, tol, seed: random.next() >> 12, ..self.settings };
        self
    }

    fn scaled(mut self, scale: Scale) -> Self {
        let rows = Rows::new(&self.data, self.width).expect("whole rows");
        let equal = vec![1.0; rows.len()];
        let weights = self.weights.as_ref().unwrap_or(&equal);
        let (scaling, _) = lossdepth::data::Scaling::learn(scale, rows, weights, 0.75).expect("it varies");
        let width = self.width;
        for values in [&mut self.data, &mut self.queries] {
            for row in values.chunks_exact_mut(width) {
                let given = row.to_vec();
                scaling.apply(&given, row);
            }
        }
        self
    }

    fn queries(&self) -> Rows<'_> {
        Rows::new(&self.queries, self.width).expect("whole rows")
    }

    fn full(&self) -> Vec<Fit> {
        let all = Reference::from_vec(self.data.clone(), self.width, self.weights.clone()).expect("finite");
        self.settings
            .fit(&all)
            .expect("good settings")
            .score(self.queries(), &Run::default())
            .expect("scored")
    }

    fn by_passes(&self) -> Vec<Fit> {
        let mut source = Pieces {
            data: &self.data,
            weights: self.weights.as_deref(),
            width: self.width,
            size: self.piece,
        };
        let passes =
            Passes::with_sample(&self.settings, &mut source, self.width, self.sample).expect("good settings");
        passes.score(&mut source, self.queries(), &Run::default(), &mut |_| ()).expect("scored")
    }
}

fn main() {
    let mut arguments = std::env::args().skip(1).map(|a| a.parse::<u64>().expect("a whole number"));
    let (problems, seed) = (arguments.next().unwrap_or(1000), arguments.next().unwrap_or(1));
    let only = arguments.next();
    let (mut violations, mut queries, mut converged, mut passes, mut worst) =
        (0u64, 0u64, 0u64, 0u64, 0.0f64);
    let (mut open_full, mut both) = (0u64, 0u64);
    // Problems of svm, their queries with an error that is not rounding, and the largest share of it.
    let (mut svm, mut bounded, mut worst_bounded) = (0u64, 0u64, 0.0f64);
    for number in (0..problems).filter(|number| only.is_none_or(|only| only == *number)) {
        let problem = Problem::draw(&mut Random(seed.wrapping_mul(0x1000_0000).wrapping_add(number)));
        for (k, (ours, full)) in problem.by_passes().iter().zip(&problem.full()).enumerate() {
            let off = (ours.depth - full.depth).abs();
            let (error, allowed) = (ours.error, ours.error + full.error);
            queries += 1;
            passes += ours.iterations as u64;
            converged += u64::from(ours.stop == Stop::Converged);
            open_full += u64::from(full.stop != Stop::Converged);
            both += u64::from(full.stop == Stop::Converged && ours.stop != Stop::Converged);
            if off.is_nan()
                || off > allowed
                || (ours.stop == Stop::Converged) != (error <= problem.settings.tol)
            {
                violations += 1;
                println!(
                    "VIOLATION {number}.{k}: off {off:e}, allowed {allowed:e}: {:?} {ours:?}",
                    problem.settings
                );
            }
            if ours.stop != Stop::Converged && std::env::var("VERBOSE").is_ok() {
                let s = &problem.settings;
                println!(
                    "open {number}.{k}: {} {:?} {:?} {} reg {:.1e}, {} rows, sample {}: error {error:.1e} after {}, full {:.1e}",
                    s.method,
                    s.kernel,
                    s.variant,
                    s.intercept,
                    s.reg,
                    problem.data.len() / problem.width,
                    problem.sample,
                    ours.iterations,
                    full.error
                );
            }
            worst = worst.max(off / allowed);
            if problem.settings.method == Method::Svm {
                svm += u64::from(k == 0);
                if error > 1e-9 {
                    bounded += 1;
                    worst_bounded = worst_bounded.max(off / allowed);
                }
            }
        }
    }
    println!(
        "{problems} problems, {queries} queries: {violations} violations; {converged} converged by passes ({both} open of those that the full solver closes, \
         {open_full} open by the full solver), {:.1} passes on average, largest share of the proven error {worst:.3}",
        passes as f64 / queries as f64
    );
    println!(
        "svm: {svm} problems, {bounded} queries with an error above 1e-9, largest share of it {worst_bounded:.3}"
    );
    assert_eq!(violations, 0);
}
