//! Convergence rates: the error of the depth in a sample, relative to the depth in its distribution.

use super::NAME;
use crate::bounds::{Bounds, PowerLaw, radius};
use crate::error::Result;
use crate::mixture::{Component, Mixture};
use crate::report::{Report, Table};
use crate::session::Session;
use crate::{format, grid};
use lossdepth::kernel::{Gamma, KernelChoice};
use lossdepth::numerics::Random;
use lossdepth::{Intercept, Method, Reference, Rows, Run, Settings, Variant};
use lossdepth_plot::{
    Band, Chart, EmpiricalDistribution, Panels, Style, Trace, TraceStyle, chart, chart_legend,
};
use serde::{Deserialize, Serialize};

const SEED: u64 = 404;
const GAMMA: f64 = 0.5;
const DELTA: f64 = 0.05;
/// The largest norm in the support of the distribution.
const SUPPORT_RADIUS: f64 = 3.0;
const RADIUS: f64 = 1.0;

/// A depth to test.
struct Family {
    name: &'static str,
    key: &'static str,
    /// Whether the theorem covers it.
    proven: bool,
    settings: fn() -> Settings,
    bound: fn(usize) -> Result<f64>,
}

fn logistic(variant: Variant) -> Settings {
    Settings {
        variant,
        reg: 0.1,
        intercept: Intercept::Penalised,
        tol: 1e-7,
        scale: lossdepth::Scale::None,
        ..Settings::new(Method::Logistic)
    }
}

fn svm(reg: f64) -> Settings {
    let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(GAMMA) };
    Settings { reg, kernel, tol: 1e-7, scale: lossdepth::Scale::None, ..Settings::new(Method::Svm) }
}

/// The largest norm of the features (x, 1).
fn feature_norm() -> f64 {
    SUPPORT_RADIUS.hypot(1.0)
}

const FAMILIES: [Family; 4] = [
    Family {
        name: "Logistic, ‖w‖ ≤ 1",
        key: "logistic-constrained",
        proven: true,
        settings: || logistic(Variant::Constrained { radius: RADIUS }),
        bound: |n| Ok(Bounds::logistic(RADIUS, feature_norm())?.rate(n, DELTA)?),
    },
    Family {
        name: "SVM, risk, λ = 1",
        key: "svm-1",
        proven: true,
        settings: || svm(1.0),
        bound: |n| Ok(Bounds::hinge(radius(1.0)?, 1.0)?.penalised_rate(n, DELTA)?),
    },
    Family {
        name: "SVM, risk, λ = 0.01",
        key: "svm-0.01",
        proven: true,
        settings: || svm(0.01),
        bound: |n| Ok(Bounds::hinge(radius(0.01)?, 1.0)?.penalised_rate(n, DELTA)?),
    },
    Family {
        name: "Logistic, risk, λ = 0.1",
        key: "logistic-risk",
        proven: false,
        settings: || logistic(Variant::Risk),
        // The constants of the proof for the support vector machine, which does not cover the logistic loss.
        bound: |n| Ok(Bounds::logistic(radius(0.1)?, feature_norm())?.penalised_rate(n, DELTA)?),
    },
];

/// The largest errors over all queries, for each sample of one size.
#[derive(Serialize, Deserialize)]
struct Errors {
    largest: Vec<f64>,
    /// The largest proven error of the depths themselves.
    proven: f64,
}

/// A family, its results at each size (size, median error, 5 % and 95 % quantiles, bound), and the fitted power law.
type FamilyResults<'a> = (&'a Family, Vec<[f64; 5]>, PowerLaw);

pub(super) fn run(session: &Session<'_>, report: &mut Report) -> Result<()> {
    let (atoms, queries, draws) = if session.quick { (120, 8, 4) } else { (1000, 60, 150) };
    let sizes: Vec<usize> = (4..=if session.quick { 8 } else { 14 }).map(|power| 1 << power).collect();
    let problem = Problem::new(atoms, queries)?;
    report.heading("Convergence rates");
    let mut table = Table::new(["depth", "n", "median error", "5 %", "95 %", "bound", "bound / median"]);
    let mut all: Vec<FamilyResults<'_>> = Vec::new();
    for family in &FAMILIES {
        let settings = (family.settings)();
        let mut found = Vec::new();
        for &n in &sizes {
            let key = (&settings, atoms, queries, draws, n, SEED);
            let size = usize::try_from(draws).unwrap_or(1) * queries;
            let errors =
                session.cell(NAME, &format!("rates-{}-{n}", family.key), &key, Some(size), |run| {
                    problem.errors(&settings, n, draws, run)
                })?;
            let ranked =
                EmpiricalDistribution::new(&errors.value.largest, &vec![1.0; errors.value.largest.len()])?;
            let bound = (family.bound)(n)?;
            let [low, middle, high] = [0.05, 0.5, 0.95].map(|p| ranked.quantile(p));
            table.row([
                family.name.to_owned(),
                n.to_string(),
                format::number(middle),
                format::number(low),
                format::number(high),
                format::number(bound),
                format!("{:.0}", bound / middle),
            ]);
            found.push([n as f64, middle, low, high, bound]);
        }
        let law = PowerLaw::fit(&found.iter().map(|point| [point[0], point[1]]).collect::<Vec<_>>())?;
        all.push((family, found, law));
    }
    session.write_picture("theory-rates", &scene(&all, atoms, draws))?;
    text(report, &all, atoms, queries, draws);
    report.table(table.clone());
    report.sheet("theory-rates", table);
    Ok(())
}

fn text(report: &mut Report, all: &[FamilyResults<'_>], atoms: usize, queries: usize, draws: u64) {
    report.text(format!(
        "*sup over z of |LRD(z|Qₙ) − LRD(z|Q)| and |SVM(z|Qₙ) − SVM(z|Q)| are O(n^−½).* Q has {atoms} atoms in a disc of radius {SUPPORT_RADIUS}, so \
         that the depth in Q itself is computed, not estimated; Qₙ are {draws} samples of n draws with replacement; the error is the \
         largest over {queries} queries, in the disc and beyond it. The bound holds with probability 0.95 and has the constants of the \
         proof: 2LWB/√n + 2C√(ln(2/δ)/n), with B = ‖(x, 1)‖ ≤ {:.2} and C = ℓ(−WB), and for the support vector machine the difference of \
         the penalties on top.",
        feature_norm()
    ));
    report.figure("theory-rates", "The error of the depth in a sample of n, and the theorem's bound.");
    let line = |(family, found, law): &FamilyResults<'_>| {
        let within = found.iter().all(|point| point[3] <= point[4]);
        let (first, last) = (found[0], found[found.len() - 1]);
        format!(
            "**{}**: slope {} (−0.5 is {}); {} the bound, which is {:.0} to {:.0} times the median error and below 1, so that it says \
             anything about a depth, from n = {} on.",
            family.name,
            format!("{:.3}", law.exponent).replace('-', "−"),
            if family.proven { "the theorem's" } else { "not proven: the paper's outlook asks for it" },
            if within { "always within" } else { "beyond" },
            (first[4] / first[1]).min(last[4] / last[1]),
            (first[4] / first[1]).max(last[4] / last[1]),
            informative_from(family),
        )
    };
    report.list(all.iter().map(line));
}

/// The first sample size at which the bound is below 1, to two digits.
fn informative_from(family: &Family) -> String {
    let informative = |n: usize| (family.bound)(n).is_ok_and(|bound| bound < 1.0);
    let mut sizes = (0..7).flat_map(|power| (10..100).map(move |digits| digits * 10usize.pow(power)));
    sizes.find(|n| informative(*n)).map_or("more than a hundred million".to_owned(), |n| n.to_string())
}

/// A discrete distribution, and queries.
struct Problem {
    atoms: Vec<f64>,
    queries: Vec<f64>,
}

impl Problem {
    fn new(atoms: usize, queries: usize) -> Result<Self> {
        let mut random = Random::new(SEED);
        let part = |share: f64, x: f64, y: f64, sd: f64| Component { weight: share, mean: vec![x, y], sd };
        let mixture = Mixture::new(vec![part(0.5, -1.2, -0.6, 0.8), part(0.5, 1.0, 0.8, 0.6)])?;
        let mut found = Vec::new();
        while found.len() < 2 * atoms {
            let counts = if random.unit() < 0.5 { [1, 0] } else { [0, 1] };
            let row = mixture.draw(&counts, &mut random)?;
            if row[0].hypot(row[1]) <= SUPPORT_RADIUS {
                found.extend(row);
            }
        }
        let queries =
            (0..2 * queries).map(|_| random.between(-1.5 * SUPPORT_RADIUS, 1.5 * SUPPORT_RADIUS)).collect();
        Ok(Self { atoms: found, queries })
    }

    fn depths(&self, settings: &Settings, sample: &Reference, run: &Run<'_>) -> Result<(Vec<f64>, f64)> {
        let fits = settings.fit(sample)?.score(Rows::new(&self.queries, 2)?, run)?;
        Ok((fits.iter().map(|fit| fit.depth).collect(), fits.iter().map(|fit| fit.error).fold(0.0, f64::max)))
    }

    fn errors(&self, settings: &Settings, n: usize, draws: u64, run: &Run<'_>) -> Result<Errors> {
        let atoms = self.atoms.len() / 2;
        let without_progress = Run { progress: None, ..*run };
        let (truth, mut proven) =
            self.depths(settings, &Reference::new(&Rows::new(&self.atoms, 2)?)?, &without_progress)?;
        let mut largest = Vec::new();
        for draw in 0..draws {
            let mut random = Random::stream(SEED + n as u64, draw);
            let mut counts = vec![0.0; atoms];
            (0..n).for_each(|_| counts[random.below(atoms)] += 1.0);
            let (rows, weights): (Vec<[f64; 2]>, Vec<f64>) =
                grid::points(&self.atoms).into_iter().zip(counts).filter(|(_, count)| *count > 0.0).unzip();
            let sample = Reference::weighted(&rows[..], &weights)?;
            let (depths, error) = self.depths(settings, &sample, run)?;
            proven = proven.max(error);
            largest.push(truth.iter().zip(&depths).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max));
        }
        Ok(Errors { largest, proven })
    }
}

fn scene(all: &[FamilyResults<'_>], atoms: usize, draws: u64) -> lossdepth_plot::Scene {
    let style = Style {
        width: 1800,
        height: 1760,
        title: Some("The depth in a sample of n".into()),
        caption: format!(
            "The largest error over all queries, for {draws} samples of n draws from a distribution of {atoms} atoms. The bound holds with \
             probability 0.95."
        ),
        text_scale: 1.0,
    };
    let plot = |(_, found, law): &FamilyResults<'_>| {
        let trace = |name: &str, style, at: &dyn Fn(&[f64; 5]) -> f64| Trace {
            name: name.to_owned(),
            points: found.iter().map(|point| [point[0], at(point)]).collect(),
            style,
        };
        Chart {
            logarithmic: [true; 2],
            traces: vec![
                trace("the theorem's bound", TraceStyle::Dashes(1), &|point| point[4]),
                trace("fitted power of n", TraceStyle::Line(4), &|point| law.at(point[0])),
                trace("median error", TraceStyle::Marks(0), &|point| point[1]),
            ],
            bands: vec![Band {
                name: "5 % to 95 % of the samples".to_owned(),
                points: found.iter().map(|point| [point[0], point[2], point[3]]).collect(),
                colour: 4,
            }],
            legend: false,
            ..Chart::new("n", "error of the depth")
        }
    };
    let charts: Vec<Chart> = all.iter().map(plot).collect();
    let keys = charts.first().map(|first| chart_legend(&style, first)).unwrap_or_default();
    let panels = Panels::new(style, (2, 2), keys);
    let panel = |(index, (plot, (family, _, law))): (usize, (&Chart, &FamilyResults<'_>))| {
        let slope = format!("{:.2}", law.exponent).replace('-', "−");
        chart(
            &panels.panel_style(format!("{} {}: slope {slope}", format::panel_label(index), family.name)),
            plot,
        )
    };
    let parts = charts.iter().zip(all).enumerate().map(panel).collect();
    panels.arrange(parts)
}
