//! Convexity: the level sets of linear depths are convex.

use super::NAME;
use crate::error::Result;
use crate::mixture::{Component, Mixture};
use crate::report::{Report, Table};
use crate::session::Session;
use crate::{compared, format, grid};
use lossdepth::kernel::{Gamma, KernelChoice};
use lossdepth::numerics::Random;
use lossdepth::{Intercept, Method, Reference, Rows, Run, Settings, Variant};
use lossdepth_plot::{Background, Chart, Map, Mark, Panels, Points, Scene, Style, Trace, TraceStyle, chart};
use serde::{Deserialize, Serialize};

const SEED: u64 = 202;
const REGS: [f64; 4] = [0.01, 0.1, 1.0, 10.0];
const WINDOW: [(f64, f64); 2] = [(-6.0, 6.0), (-6.0, 6.0)];

/// A depth to test with each of the penalties.
struct TestedDepth {
    name: &'static str,
    /// Whether the paper proves it.
    proven: &'static str,
    key: &'static str,
    settings: fn(f64) -> Settings,
}

fn linear(method: Method, variant: Variant, reg: f64) -> Settings {
    Settings {
        variant,
        reg,
        intercept: Intercept::Penalised,
        tol: 1e-9,
        scale: lossdepth::Scale::None,
        ..Settings::new(method)
    }
}

/// The radius that takes the place of a penalty.
fn constrained(reg: f64) -> Variant {
    Variant::Constrained { radius: 0.1 / reg }
}

fn svm(reg: f64) -> Settings {
    let kernel = KernelChoice::Gaussian { gamma: Gamma::Auto };
    Settings { reg, kernel, tol: 1e-9, scale: lossdepth::Scale::None, ..Settings::new(Method::Svm) }
}

const TESTED: [TestedDepth; 8] = [
    TestedDepth {
        name: "logistic, constrained",
        proven: "yes",
        key: "logistic-constrained",
        settings: |reg| linear(Method::Logistic, constrained(reg), 1.0),
    },
    TestedDepth {
        name: "logistic, objective",
        proven: "yes",
        key: "logistic-objective",
        settings: |reg| linear(Method::Logistic, Variant::Objective, reg),
    },
    TestedDepth {
        name: "logistic, risk",
        proven: "no",
        key: "logistic-risk",
        settings: |reg| linear(Method::Logistic, Variant::Risk, reg),
    },
    TestedDepth {
        name: "hinge, constrained",
        proven: "yes",
        key: "hinge-constrained",
        settings: |reg| linear(Method::Hinge, constrained(reg), 1.0),
    },
    TestedDepth {
        name: "hinge, objective",
        proven: "yes",
        key: "hinge-objective",
        settings: |reg| linear(Method::Hinge, Variant::Objective, reg),
    },
    TestedDepth {
        name: "hinge, risk",
        proven: "no",
        key: "hinge-risk",
        settings: |reg| linear(Method::Hinge, Variant::Risk, reg),
    },
    TestedDepth {
        name: "halfspace",
        proven: "yes",
        key: "halfspace",
        settings: |_| Settings::new(Method::Halfspace),
    },
    TestedDepth { name: "svm, Gaussian kernel", proven: "no (not linear)", key: "svm", settings: svm },
];

/// The results of the tests of a depth.
#[derive(Default, Serialize, Deserialize)]
struct TestResults {
    tests: usize,
    violations: usize,
    /// The largest difference of the shallower end and the point between, less their errors.
    largest: f64,
}

pub(super) fn run(session: &Session<'_>, report: &mut Report) -> Result<()> {
    let pairs = if session.quick { 40 } else { 2000 };
    report.heading("Convexity");
    let mut table = Table::new(["depth", "proven convex", "tests", "violations", "largest"]);
    for tested in &TESTED {
        let key = (REGS.map(tested.settings), pairs, SEED);
        let found = session.cell(NAME, &format!("convex-{}", tested.key), &key, None, |run| {
            let mut results = TestResults::default();
            for (stream, sample) in samples()?.iter().enumerate() {
                for reg in REGS {
                    results.test_pairs(&(tested.settings)(reg), sample, pairs, stream as u64, run)?;
                }
            }
            Ok(results)
        })?;
        let TestResults { tests, violations, largest } = found.value;
        table.row([
            tested.name.to_owned(),
            tested.proven.to_owned(),
            tests.to_string(),
            violations.to_string(),
            format::number(largest),
        ]);
    }
    session.write_picture("theory-convex", &scene(session)?)?;
    report.text(
        "*Level sets of a loss depth with plain features are convex, also of the third variant* (`objective`). A point between two \
         others must not be shallower than both: tried on pairs of points in the plane with a point between them, three samples \
         (one cluster, two clusters, a skewed cloud) and four penalties each. A violation exceeds the proven errors of all three \
         depths. The proposition is about infima, `constrained` and `objective`; the regularised depth that the paper works with \
         reports the risk at the minimiser of something else (`risk`), and the proof does not carry over. Nor need \
         the statement hold, see (d): the classifier that gives a far point away costs more penalty, so it is used less.",
    );
    report.figure(
        "theory-convex",
        "Lines of equal depth around two clusters, and depths along a line: convex where it is proven, not so for the risk of a linear \
         support vector machine and with a kernel.",
    );
    report.table(table.clone());
    report.sheet("theory-convex", table);
    Ok(())
}

/// A sample of one cluster, one of two, and a skewed one.
fn samples() -> Result<Vec<Vec<f64>>> {
    let mut random = Random::new(SEED);
    let part = |share: f64, x: f64, y: f64, sd: f64| Component { weight: share, mean: vec![x, y], sd };
    let one = Mixture::new(vec![part(1.0, -1.5, 0.5, 1.0)])?.draw(&[40], &mut random)?;
    let two = two_clusters()?;
    let skewed = (0..40).flat_map(|_| [random.normal().exp() - 2.0, random.normal()]).collect();
    Ok(vec![one, two, skewed])
}

fn two_clusters() -> Result<Vec<f64>> {
    let part = |share: f64, x: f64, y: f64, sd: f64| Component { weight: share, mean: vec![x, y], sd };
    let mixture = Mixture::new(vec![part(0.6, -2.0, -1.0, 0.9), part(0.4, 2.0, 1.5, 0.7)])?;
    Ok(mixture.draw(&[30, 20], &mut Random::new(SEED + 1))?)
}

impl TestResults {
    fn test_pairs(
        &mut self,
        settings: &Settings,
        sample: &[f64],
        pairs: usize,
        stream: u64,
        run: &Run<'_>,
    ) -> Result<()> {
        let mut random = Random::stream(SEED, stream);
        let mut rows = Vec::with_capacity(6 * pairs);
        for _ in 0..pairs {
            let ends = [0; 4].map(|_| random.between(WINDOW[0].0, WINDOW[0].1));
            let t = random.unit();
            rows.extend(ends);
            rows.extend([0, 1].map(|k| t * ends[k] + (1.0 - t) * ends[k + 2]));
        }
        let model = settings.fit(&Reference::new(&Rows::new(sample, 2)?)?)?;
        for fits in model.score(Rows::new(&rows, 2)?, run)?.chunks_exact(3) {
            let lower = |i: usize| fits[i].depth - fits[i].error;
            let violation = lower(0).min(lower(1)) - (fits[2].depth + fits[2].error);
            self.tests += 1;
            // 1e-12 allows for the rounding of the point between (heuristic).
            if violation > 1e-12 {
                self.violations += 1;
                self.largest = self.largest.max(violation);
            }
        }
        Ok(())
    }
}

fn scene(session: &Session<'_>) -> Result<Scene> {
    let side = if session.quick { 25 } else { 101 };
    let sample = two_clusters()?;
    let shown: [(&str, Settings); 3] = [
        ("Logistic, constrained", linear(Method::Logistic, Variant::Constrained { radius: 1.0 }, 1.0)),
        ("Logistic, risk, λ = 0.1", linear(Method::Logistic, Variant::Risk, 0.1)),
        ("SVM, λ = 0.1: not convex", svm(0.1)),
    ];
    let style = Style {
        width: 1800,
        height: 1760,
        title: Some("Which level sets are convex".into()),
        caption: "(a) to (c): 50 points in two clusters; darker is deeper, every map has its own scale. (d): four points on a line (dots); \
                  the risk at 3.25 is lower than on both sides."
            .into(),
        text_scale: 1.0,
    };
    let panels = Panels::new(style, (2, 2), Vec::new());
    let names = || ["x₁".to_owned(), "x₂".to_owned()];
    let mut parts = Vec::new();
    for (index, (name, settings)) in shown.iter().enumerate() {
        let style = panels.panel_style(format!("{} {name}", format::panel_label(index)));
        let window = lossdepth_plot::equal_window(&style, &names(), WINDOW, &[], true);
        let grid = grid::Grid::new(window, side, side);
        let rows = grid.rows();
        let key = (settings, side, window, SEED);
        let depths = session.cell(NAME, &format!("convex-map-{index}"), &key, Some(side * side), |run| {
            compared::depths(settings, &sample, &rows, 2, run)
        })?;
        let field = grid.field(&depths.value)?.refined(3);
        let contours = grid::contours(&field, 9);
        let points = vec![Points { name: None, at: grid::points(&sample), mark: Mark::Dot }];
        let map = Map {
            names: names(),
            window,
            background: Background::Heat(&field),
            contours,
            points,
            labels: Vec::new(),
            legend: false,
        };
        parts.push(lossdepth_plot::map(&style, &map));
    }
    let style = panels.panel_style("(d) Hinge along a line, λ = 2");
    parts.push(depth_along_line(session, &style)?);
    Ok(panels.arrange(parts))
}

/// A sample of four points for which the level sets of the risk are not convex.
const LINE: [f64; 4] = [-2.0, -0.25, -2.75, -1.25];

fn depth_along_line(session: &Session<'_>, style: &Style) -> Result<Scene> {
    let at: Vec<f64> = (0..=240).map(|i| -7.0 + 15.0 * f64::from(i) / 240.0).collect();
    let mut traces = Vec::new();
    for (name, style, variant) in [
        ("risk", TraceStyle::Dashes(1), Variant::Risk),
        ("objective", TraceStyle::Line(4), Variant::Objective),
    ] {
        let settings = linear(Method::Hinge, variant, 2.0);
        let key = (&settings, LINE, &at);
        let depths = session.cell(NAME, &format!("convex-line-{name}"), &key, Some(at.len()), |run| {
            compared::depths(&settings, &LINE, &at, 1, run)
        })?;
        let points = at.iter().zip(depths.value).map(|(x, depth)| [*x, depth]).collect();
        traces.push(Trace { name: name.to_owned(), points, style });
    }
    let sample = LINE.iter().map(|x| [*x, 0.02]).collect();
    traces.push(Trace { name: "sample".to_owned(), points: sample, style: TraceStyle::Marks(0) });
    Ok(chart(style, &Chart { traces, range: Some((0.0, 1.05)), ..Chart::new("x", "depth") }))
}
