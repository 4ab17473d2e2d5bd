//! Lipschitz constants: the steepest slopes found, relative to the proven bound.

use super::NAME;
use crate::bounds::{Bounds, gaussian_slope};
use crate::error::Result;
use crate::report::{Report, Table};
use crate::session::Session;
use crate::{compared, format, statistics};
use lossdepth::kernel::{Gamma, KernelChoice};
use lossdepth::numerics::Random;
use lossdepth::{Intercept, Method, Reference, Rows, Run, Settings, Variant};
use lossdepth_plot::{Chart, Panels, Style, Trace, TraceStyle, chart, chart_legend};
use serde::{Deserialize, Serialize};

const SEED: u64 = 303;
const ROWS: usize = 40;
const GAMMA: f64 = 0.5;
/// The length of a step of a query or a row of the sample.
const STEP: f64 = 0.01;
const DIRECTIONS: usize = 16;

/// A depth with ‖w‖ ≤ W.
struct Family {
    name: &'static str,
    key: &'static str,
    proven: bool,
    colour: usize,
    settings: fn(f64) -> Settings,
    /// The bound for a radius.
    bound: fn(f64) -> Result<f64>,
}

fn logistic(variant: Variant, reg: f64) -> Settings {
    Settings {
        variant,
        reg,
        intercept: Intercept::Penalised,
        tol: 1e-8,
        scale: lossdepth::Scale::None,
        ..Settings::new(Method::Logistic)
    }
}

fn svm(variant: Variant, reg: f64) -> Settings {
    let kernel = KernelChoice::Gaussian { gamma: Gamma::Value(GAMMA) };
    Settings { variant, reg, kernel, tol: 1e-8, scale: lossdepth::Scale::None, ..Settings::new(Method::Svm) }
}

/// The penalty that implies this radius.
fn reg(radius: f64) -> f64 {
    radius.powi(-2)
}

fn logistic_bound(radius: f64) -> Result<f64> {
    // The Lipschitz constant depends on neither B nor C.
    Ok(Bounds::logistic(radius, 1.0)?.lipschitz(1.0))
}

fn svm_bound(radius: f64) -> Result<f64> {
    Ok(Bounds::hinge(radius, 1.0)?.lipschitz(gaussian_slope(GAMMA)?))
}

const FAMILIES: [Family; 5] = [
    Family {
        name: "logistic, constrained",
        key: "logistic-constrained",
        proven: true,
        colour: 4,
        settings: |radius| logistic(Variant::Constrained { radius }, 1.0),
        bound: logistic_bound,
    },
    Family {
        name: "logistic, objective",
        key: "logistic-objective",
        proven: true,
        colour: 5,
        settings: |radius| logistic(Variant::Objective, reg(radius)),
        bound: logistic_bound,
    },
    Family {
        name: "logistic, risk",
        key: "logistic-risk",
        proven: false,
        colour: 1,
        settings: |radius| logistic(Variant::Risk, reg(radius)),
        bound: logistic_bound,
    },
    Family {
        name: "svm, objective",
        key: "svm-objective",
        proven: true,
        colour: 3,
        settings: |radius| svm(Variant::Objective, reg(radius)),
        bound: svm_bound,
    },
    Family {
        name: "svm, risk",
        key: "svm-risk",
        proven: false,
        colour: 2,
        settings: |radius| svm(Variant::Risk, reg(radius)),
        bound: svm_bound,
    },
];

/// The steepest slopes found, in the query and in the sample.
#[derive(Serialize, Deserialize)]
struct Slopes {
    query: f64,
    sample: f64,
}

pub(super) fn run(session: &Session<'_>, report: &mut Report) -> Result<()> {
    let (radii, samples, queries) = if session.quick {
        (vec![0.1, 1.0, 10.0], 1, 6)
    } else {
        (vec![0.03, 0.1, 0.3, 1.0, 3.0, 10.0, 30.0], 4, 60)
    };
    report.heading("Lipschitz constants");
    let head = ["depth", "proven", "W", "bound", "steepest in z", "share", "steepest in Q", "share"];
    let mut table = Table::new(head);
    let mut shares: Vec<(&Family, Vec<[f64; 3]>)> = Vec::new();
    for family in &FAMILIES {
        let mut found = Vec::new();
        for radius in &radii {
            let settings = (family.settings)(*radius);
            let key = (&settings, samples, queries, ROWS, SEED);
            let name = format!("lipschitz-{}-{radius}", family.key);
            let slopes = session
                .cell(NAME, &name, &key, None, |run| steepest(&settings, samples, queries, run))?
                .value;
            let bound = (family.bound)(*radius)?;
            let (z, q) = (slopes.query / bound, slopes.sample / bound);
            table.row([
                family.name.to_owned(),
                if family.proven { "yes" } else { "no" }.to_owned(),
                radius.to_string(),
                format::number(bound),
                format::number(slopes.query),
                format::share(z, 2),
                format::number(slopes.sample),
                format::share(q, 2),
            ]);
            found.push([*radius, z, q]);
        }
        shares.push((family, found));
    }
    session.write_picture("theory-lipschitz", &scene(&shares))?;
    report.text(
        "*If the loss is L-Lipschitz and the classifiers W-Lipschitz, the depth is ½LW-Lipschitz in z, and in Q by the Wasserstein \
         distance.* For a linear classifier with ‖w‖ ≤ W, L = 1 / ln 2 for the logistic loss in bits; with a Gaussian kernel W is \
         multiplied by √(2γ); a penalty λ leaves W = 1/√λ. The slope in z is the largest of steps of 0.01 in 16 directions from \
         random places; that in Q of steps of single rows of the sample, which move it by 0.01 / n in the Wasserstein distance. \
         Samples have heavy tails.",
    );
    report.figure("theory-lipschitz", "The steepest slopes found, as shares of the proven bound.");
    let best = |which: usize| {
        let proven = shares.iter().filter(|(family, _)| family.proven);
        proven.flat_map(|(_, found)| found).map(|point| point[which]).fold(0.0, f64::max)
    };
    let exceeded = shares
        .iter()
        .flat_map(|(_, found)| found)
        .flat_map(|point| [point[1], point[2]])
        .filter(|s| *s > 1.0)
        .count();
    report.list([
        format!(
            "{} slope exceeds the bound where it is proven; the largest share of it is {} in z and {} in Q. In z no more than about one \
             half can be expected of the logistic loss: at the best classifier the query is on its own side, where the loss is no \
             steeper than ½L. In Q the bound is nearly met: a row of the sample far on the wrong side has the full slope.",
            if best(1).max(best(2)) <= 1.0 { "No" } else { "Some" },
            format::share(best(1), 2),
            format::share(best(2), 2)
        ),
        format!(
            "The corollary claims the bound for the regularised depths too (`risk`), by a proof that is about infima. {} of the slopes of \
             all five exceed it: where W comes from a penalty it is so generous that what is missing in the proof does not show.",
            if exceeded == 0 { "None".to_owned() } else { exceeded.to_string() }
        ),
    ]);
    report.table(table.clone());
    report.sheet("theory-lipschitz", table);
    Ok(())
}

fn steepest(settings: &Settings, samples: u64, queries: usize, run: &Run<'_>) -> Result<Slopes> {
    let mut slopes = Slopes { query: 0.0, sample: 0.0 };
    for number in 0..samples {
        let mut random = Random::stream(SEED, number);
        // Student's t with two degrees of freedom, in the plane.
        let sample: Vec<f64> = (0..ROWS)
            .flat_map(|_| {
                let factor = (-random.unit().ln()).sqrt().recip();
                [0; 2].map(|_| factor * random.normal())
            })
            .collect();
        let places: Vec<f64> = (0..2 * queries).map(|_| 3.0 * random.normal()).collect();
        slopes.query = slopes.query.max(slope_in_query(settings, &sample, &places, run)?);
        slopes.sample =
            slopes.sample.max(slope_in_sample(settings, &sample, &places[..2 * queries.min(6)], run)?);
    }
    Ok(slopes)
}

/// Steps of length [`STEP`] in all directions.
fn steps() -> impl Iterator<Item = [f64; 2]> {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / DIRECTIONS as f64;
    (0..DIRECTIONS).map(move |i| [STEP * angle(i).cos(), STEP * angle(i).sin()])
}

/// The steepest slope of the depth in the query.
fn slope_in_query(settings: &Settings, sample: &[f64], places: &[f64], run: &Run<'_>) -> Result<f64> {
    let mut rows = Vec::new();
    for query in places.chunks_exact(2) {
        rows.extend(query);
        steps().for_each(|[dx, dy]| rows.extend([query[0] + dx, query[1] + dy]));
    }
    let depths = compared::depths(settings, sample, &rows, 2, run)?;
    let groups = depths.chunks_exact(DIRECTIONS + 1);
    Ok(groups.flat_map(|group| group[1..].iter().map(|d| (d - group[0]).abs() / STEP)).fold(0.0, f64::max))
}

/// The steepest slope of the depth in the sample, by the Wasserstein distance: a step of one of n rows has length
/// [`STEP`] / n.
fn slope_in_sample(settings: &Settings, sample: &[f64], places: &[f64], run: &Run<'_>) -> Result<f64> {
    let places = Rows::new(places, 2)?;
    let depths = |sample: &[f64]| -> Result<Vec<f64>> {
        let fits = settings.fit(&Reference::new(&Rows::new(sample, 2)?)?)?.score(places, run)?;
        Ok(fits.iter().map(|fit| fit.depth).collect())
    };
    let before = depths(sample)?;
    let mut steepest = 0.0f64;
    for row in 0..sample.len() / 2 {
        for [dx, dy] in steps() {
            let mut moved = sample.to_vec();
            moved[2 * row] += dx;
            moved[2 * row + 1] += dy;
            let after = depths(&moved)?;
            let change = before.iter().zip(&after).map(|(a, b)| (a - b).abs()).fold(0.0, f64::max);
            steepest = steepest.max(change * (sample.len() / 2) as f64 / STEP);
        }
    }
    Ok(steepest)
}

fn scene(shares: &[(&Family, Vec<[f64; 3]>)]) -> lossdepth_plot::Scene {
    let style = Style {
        width: 1800,
        height: 1000,
        title: Some("The steepest slopes found".into()),
        caption: "As shares of the bound ½LW (√(2γ) ½LW with a kernel), which the dotted line is. Broken lines: depths for which it is not \
                  proven."
            .into(),
        text_scale: 1.3,
    };
    let plot = |which: usize| {
        let trace = |(family, found): &(&Family, Vec<[f64; 3]>)| Trace {
            name: family.name.to_owned(),
            points: found.iter().map(|point| [point[0], point[which]]).collect(),
            style: if family.proven {
                TraceStyle::Line(family.colour)
            } else {
                TraceStyle::Dashes(family.colour)
            },
        };
        let ends = shares.first().map(|(_, found)| statistics::range(found.iter().map(|point| point[0])));
        let (low, high) = ends.unwrap_or((0.1, 1.0));
        let guide =
            Trace { name: String::new(), points: vec![[low, 1.0], [high, 1.0]], style: TraceStyle::Guide };
        Chart {
            logarithmic: [true, false],
            range: Some((0.0, 1.1)),
            traces: std::iter::once(guide).chain(shares.iter().map(trace)).collect(),
            legend: false,
            ..Chart::new("W", "share of the bound")
        }
    };
    let (z, q) = (plot(1), plot(2));
    let keys = chart_legend(&style, &z);
    let panels = Panels::new(style, (2, 1), keys);
    let parts = vec![
        chart(&panels.panel_style("(a) In the query z"), &z),
        chart(&panels.panel_style("(b) In the distribution Q"), &q),
    ];
    panels.arrange(parts)
}
