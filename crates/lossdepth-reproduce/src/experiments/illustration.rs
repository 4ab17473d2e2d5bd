//! Maps of the depths of a sample of two clusters (section 3.3, figure 2).

use crate::compared::{self, ComparedMethod};
use crate::error::Result;
use crate::format::{number, panel_label, share};
use crate::grid::{self, Grid};
use crate::mixture::Mixture;
use crate::report::{Report, Table};
use crate::session::Session;
use crate::statistics;
use lossdepth::model::Value;
use lossdepth::numerics::Random;
use lossdepth::stats::evaluation::kendall;
use lossdepth::{Method, Settings};
use lossdepth_plot::EmpiricalDistribution;
use lossdepth_plot::{Background, Map, Mark, Panels, Points, Scene, Style};
use serde::{Deserialize, Serialize};

const NAME: &str = "illustration";
const SHIFT: f64 = 3.5;
const SEED: u64 = 1;
const WINDOW: [(f64, f64); 2] = [(-7.6, 7.6), (-7.6, 7.6)];
/// The radius of a circle on which the density of a cluster is e⁻² times that at its mean.
const CIRCLE: f64 = 2.0;
const ANGLES: usize = 72;

/// What a cell depends on.
#[derive(Serialize)]
struct CellKey<'a> {
    settings: &'a Settings,
    each: usize,
    shift: f64,
    seed: u64,
    window: [(f64, f64); 2],
    grid: [usize; 2],
    ring: f64,
}

/// The depths of one method.
#[derive(Serialize, Deserialize)]
struct Depths {
    grid: Vec<f64>,
    /// Of the rows of the sample.
    own: Vec<f64>,
    /// At the two modes.
    modes: [f64; 2],
    /// Between the modes.
    middle: f64,
    /// On circles around both modes.
    ring: Vec<f64>,
}

pub(super) fn run(session: &Session<'_>) -> Result<Report> {
    let (each, side) = if session.quick { (60, 33) } else { (200, 121) };
    let mixture = Mixture::two_modes(SHIFT, 2)?;
    let sample = mixture.draw(&[each, each], &mut Random::new(SEED))?;
    let printed = [
        ComparedMethod::as_in_text("Multi-layer perceptron", "mlp", Method::Mlp)?,
        ComparedMethod::as_in_text("Support vector machine", "svm", Method::Svm)?,
        ComparedMethod::as_in_text("Random forest", "forest", Method::Forest)?,
        ComparedMethod::as_in_text("Gaussian process", "gp", Method::Gp)?,
    ];
    let others = [
        ComparedMethod::as_in_scripts(
            "Support vector machine, paper-code",
            "svm-paper-code",
            Method::Svm,
            2 * each,
        )?,
        ComparedMethod::additional(
            "Rotated forest",
            "forest-rotated",
            Method::Forest,
            &[("rotations", Value::Count(100))],
        )?,
        ComparedMethod::as_in_text("Logistic regression", "logistic", Method::Logistic)?,
        ComparedMethod::additional("Halfspace", "halfspace", Method::Halfspace, &[])?,
    ];
    let of = format!(
        "The sample: {each} + {each} points of N(±{SHIFT} · 1, I₂). Darker is deeper; every map has its own scale. Lines of \
         equal depth."
    );
    let mut summary = Summary::new(&mixture, &sample)?;
    for (file, title, group) in [
        (NAME, "Loss depths of two clusters: the paper's four", &printed),
        ("illustration-more", "The same sample: what else there is", &others),
    ] {
        let style = Style {
            width: 1800,
            height: 1760,
            title: Some(title.into()),
            caption: of.clone(),
            text_scale: 1.0,
        };
        let panels = Panels::new(style, (2, 2), Vec::new());
        let mut parts = Vec::new();
        for (index, method) in group.iter().enumerate() {
            let style = panels.panel_style(format!("{} {}", panel_label(index), method.name));
            let window = lossdepth_plot::equal_window(&style, &names(), WINDOW, &[], true);
            let nodes_per_side = side
                * if matches!(method.settings.method, Method::Forest | Method::Halfspace) { 3 } else { 1 };
            let grid = Grid::new(window, nodes_per_side, nodes_per_side);
            let found = depths(session, method, &sample, each, window, &grid, nodes_per_side)?;
            summary.add(method, &found)?;
            parts.push(panel(&style, method, window, &grid, &found, &sample)?);
        }
        session.write_picture(file, &panels.arrange(parts))?;
    }
    Ok(summary.report(each, &of))
}

fn names() -> [String; 2] {
    ["x₁".to_owned(), "x₂".to_owned()]
}

fn depths(
    session: &Session<'_>,
    method: &ComparedMethod,
    sample: &[f64],
    each: usize,
    window: [(f64, f64); 2],
    grid: &Grid,
    side: usize,
) -> Result<Depths> {
    let settings = &method.settings;
    let key = CellKey { settings, each, shift: SHIFT, seed: SEED, window, grid: [side; 2], ring: CIRCLE };
    let mut rows = grid.rows();
    let nodes = rows.len() / 2;
    rows.extend(sample);
    rows.extend([-SHIFT, -SHIFT, SHIFT, SHIFT, 0.0, 0.0]);
    for centre in [-SHIFT, SHIFT] {
        rows.extend(circle(centre));
    }
    let done = session.cell(NAME, method.key, &key, Some(rows.len() / 2), |run| {
        let all = compared::depths(settings, sample, &rows, 2, run)?;
        let (grid, rest) = all.split_at(nodes);
        let (own, rest) = rest.split_at(sample.len() / 2);
        let (grid, own, ring) = (grid.to_vec(), own.to_vec(), rest[3..].to_vec());
        Ok(Depths { grid, own, modes: [rest[0], rest[1]], middle: rest[2], ring })
    })?;
    Ok(done.value)
}

/// Points on a circle around a mode.
fn circle(centre: f64) -> impl Iterator<Item = f64> {
    let angle = |i: usize| std::f64::consts::TAU * i as f64 / ANGLES as f64;
    (0..ANGLES).flat_map(move |i| [centre + CIRCLE * angle(i).cos(), centre + CIRCLE * angle(i).sin()])
}

fn panel(
    style: &Style,
    method: &ComparedMethod,
    window: [(f64, f64); 2],
    grid: &Grid,
    found: &Depths,
    sample: &[f64],
) -> Result<Scene> {
    let piecewise_constant = matches!(method.settings.method, Method::Forest | Method::Halfspace);
    let field = grid.field(&found.grid)?;
    let field = if piecewise_constant { field } else { field.refined(2) };
    // The contours of a piecewise constant depth are its steps, which the heat map shows.
    let contours = if piecewise_constant { Vec::new() } else { grid::contours(&field, 7) };
    let points = vec![Points { name: None, at: grid::points(sample), mark: Mark::Dot }];
    let map = Map {
        names: names(),
        window,
        background: Background::Heat(&field),
        contours,
        points,
        labels: Vec::new(),
        legend: false,
    };
    Ok(lossdepth_plot::map(style, &map))
}

/// The numbers of the report.
struct Summary {
    density: Vec<f64>,
    table: Table,
    lines: Vec<String>,
    uneven: Vec<(&'static str, f64)>,
}

impl Summary {
    fn new(mixture: &Mixture, sample: &[f64]) -> Result<Self> {
        let density = sample.chunks_exact(2).map(|row| mixture.log_density(row)).collect::<Result<_, _>>()?;
        let table = Table::new([
            "depth",
            "at the modes",
            "between them",
            "quantile of the depth between them",
            "on the circles: lowest",
            "highest",
            "unevenness",
            "τ with the density",
        ]);
        Ok(Self { density, table, lines: Vec::new(), uneven: Vec::new() })
    }

    fn add(&mut self, method: &ComparedMethod, found: &Depths) -> Result<()> {
        let tau = kendall(&found.own, &self.density)?;
        let ranked = EmpiricalDistribution::new(&found.own, &vec![1.0; found.own.len()])?;
        let (low, high) = statistics::range(found.ring.iter().copied());
        let (bottom, top) = statistics::range(found.grid.iter().copied());
        let uneven = if top > bottom { (high - low) / (top - bottom) } else { 0.0 };
        self.uneven.push((method.key, uneven));
        let mode = f64::midpoint(found.modes[0], found.modes[1]);
        self.table.row([
            method.name.to_owned(),
            share(mode, 3),
            share(found.middle, 3),
            share(ranked.mid_rank(found.middle), 2),
            share(low, 3),
            share(high, 3),
            share(uneven, 2),
            share(tau, 2),
        ]);
        let verdict = if found.middle > mode {
            "takes the gap between the clusters for the deepest place"
        } else if ranked.mid_rank(found.middle) > 0.5 {
            "finds the gap between the clusters deeper than most of the sample"
        } else if ranked.mid_rank(found.middle) < 0.02 {
            "sees both clusters and the gap"
        } else {
            "sees the gap, but not as outlying"
        };
        self.lines.push(format!(
            "**{}**: {} at the modes, {} between them — {verdict}.",
            method.name,
            number(mode),
            number(found.middle)
        ));
        Ok(())
    }

    fn report(self, each: usize, of: &str) -> Report {
        let mut report = Report::new("Illustration: loss depths of two clusters");
        report.text(format!(
            "{each} + {each} points of N(±{SHIFT} · 1, I₂), the four nonlinear depths with the settings of the paper's text \
             (section 3.3); beside them the support vector machine as the paper's scripts set it, the rotated forest that the \
             paper suggests, and two linear depths for contrast."
        ));
        report.figure(NAME, format!("The paper's four depths. {of}"));
        report.figure("illustration-more", format!("Four more. {of}"));
        report.heading("Numbers");
        report.table(self.table.clone());
        report.text(format!(
            "The circles have radius {CIRCLE} around the modes, where the density is 14 % of that in the middle of the \
             cluster: a depth that follows it is constant there. Unevenness is the spread of the depth on the circles as a \
             share of its whole range over the window. The quantile is among the depths of the sample's own rows."
        ));
        report.heading("What the paper says");
        report.list(self.lines);
        let uneven =
            |key: &str| self.uneven.iter().find(|(known, _)| *known == key).map_or(f64::NAN, |(_, u)| *u);
        report.list([
            "“These algorithms recover the central part of each mode as very deep”: see above; the paper's colours are light \
             where it is deep, ours dark."
                .to_owned(),
            format!(
                "“The random forest has more trouble with the spherical symmetry”: unevenness {} for the forest, {} for the \
                 support vector machine, {} for the Gaussian process, {} for the network. “Random rotation […] could help”: it \
                 does, {} with a hundred random frames.",
                share(uneven("forest"), 2),
                share(uneven("svm"), 2),
                share(uneven("gp"), 2),
                share(uneven("mlp"), 2),
                share(uneven("forest-rotated"), 2),
            ),
        ]);
        report.sheet(NAME, self.table);
        report
    }
}
