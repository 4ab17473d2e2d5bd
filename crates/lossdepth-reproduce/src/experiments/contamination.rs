//! A cluster with ten percent contamination (section 6.1, figure 3).

use crate::baseline::Baseline;
use crate::compared;
use crate::error::Result;
use crate::format::{panel_label, percent, share};
use crate::grid::{self, Grid};
use crate::mixture::{Component, Mixture};
use crate::report::{Report, Table};
use crate::session::Session;
use crate::statistics::mean;
use lossdepth::model::Value;
use lossdepth::numerics::Random;
use lossdepth::{Method, Preset, Reference, Rows, Run, Settings};
use lossdepth_plot::EmpiricalDistribution;
use lossdepth_plot::{Background, Map, Mark, Panels, Points, Polygon, Scene, Style};
use serde::{Deserialize, Serialize};

const NAME: &str = "contamination";
const COUNTS: [usize; 2] = [180, 20];
const GAMMA: f64 = 1.0;
const NU: f64 = 0.15;
const WINDOW: [(f64, f64); 2] = [(-5.0, 5.0), (-5.0, 5.0)];
const SIDE: usize = 100;
const SEED: u64 = 3;
/// The quantiles of the scores on the grid that bound the zones, the smallest zone first.
const ZONES: [f64; 5] = [0.9, 0.8, 0.7, 0.6, 0.5];
/// The mean of the contamination, and the midpoint of both means.
const PLACES: [[f64; 2]; 2] = [[2.0, 2.0], [0.5, 0.5]];

/// How scores are computed.
enum Scorer {
    Depth(Settings),
    Baseline(Baseline),
}

struct Detector {
    name: &'static str,
    key: &'static str,
    scorer: Scorer,
}

impl Detector {
    fn all() -> Result<Vec<Self>> {
        let number = Value::Number;
        let oc_svm = Baseline::with("oc-svm", [("nu", number(NU)), ("gamma", number(GAMMA))])?;
        let svm = |preset: Preset| -> Result<Settings> {
            let n = COUNTS.iter().sum::<usize>() as f64;
            let values = preset.values(Method::Svm, n)?.into_iter().chain([("gamma", number(GAMMA))]);
            Ok(Settings::with(Method::Svm, values)?)
        };
        Ok(vec![
            Self { name: "One-class SVM", key: "oc-svm", scorer: Scorer::Baseline(oc_svm) },
            Self { name: "SVM depth, as defined", key: "svm", scorer: Scorer::Depth(svm(Preset::Paper)?) },
            Self {
                name: "SVM depth, paper-code",
                key: "svm-paper-code",
                scorer: Scorer::Depth(svm(Preset::PaperCode)?),
            },
            Self {
                name: "Gaussian process depth",
                key: "gp",
                scorer: Scorer::Depth(Settings::with(
                    Method::Gp,
                    [("gamma", number(GAMMA)), ("scale", "none".into())],
                )?),
            },
        ])
    }

    fn score(&self, sample: &[f64], rows: &[f64], run: &Run<'_>) -> Result<(Vec<f64>, Option<f64>)> {
        match &self.scorer {
            Scorer::Depth(settings) => Ok((compared::depths(settings, sample, rows, 2, run)?, None)),
            Scorer::Baseline(baseline) => {
                let fitted = baseline.fit(&Reference::new(&Rows::new(sample, 2)?)?, run)?;
                Ok((fitted.score(&Rows::new(rows, 2)?, run)?, fitted.offset()))
            }
        }
    }

    /// Settings by name, for the key of a cell.
    fn values(&self) -> Vec<(&'static str, Value)> {
        match &self.scorer {
            Scorer::Depth(settings) => settings.values(),
            Scorer::Baseline(baseline) => baseline.values(),
        }
    }
}

#[derive(Serialize)]
struct CellKey {
    method: &'static str,
    settings: Vec<(&'static str, Value)>,
    counts: [usize; 2],
    seeds: [u64; 2],
    window: [(f64, f64); 2],
    side: usize,
}

/// The zones of one sample.
#[derive(Serialize, Deserialize)]
struct Zones {
    /// The scores that bound the zones.
    levels: [f64; ZONES.len()],
    /// For each zone, the shares of the cluster and of the contamination inside.
    shares: [[f64; 2]; ZONES.len()],
    /// The ranks of [`PLACES`] among the scores on the grid.
    places: [f64; 2],
    /// The share of the contamination above the baseline's own threshold.
    accepted: Option<f64>,
    /// The scores on the grid; empty unless a picture needs them.
    grid: Vec<f64>,
}

pub(super) fn run(session: &Session<'_>) -> Result<Report> {
    let (side, coarse, draws) = if session.quick { (40, 20, 2) } else { (SIDE, SIDE / 2, 25) };
    let mixture = mixture()?;
    let sample = |seed: u64| mixture.draw(&COUNTS, &mut Random::stream(SEED, seed));
    let grid = |side: usize| Grid::new(WINDOW, side, side);
    let style = Style {
        width: 1800,
        height: 1900,
        title: Some("A tenth of the points do not belong".into()),
        caption: format!(
            "{} points of N((−1, −1), I) and {} of N((2, 2), I). Zones are bounded by the top five deciles of the scores on a \
             {side} × {side} grid over the window.",
            COUNTS[0], COUNTS[1]
        ),
        text_scale: 1.0,
    };
    let panels = Panels::new(style, (2, 2), lossdepth_plot::map_legend(&blank()));
    let mut report = Report::new("Contamination: what a detector makes of a wrong cluster");
    let mut parts = Vec::new();
    let mut results = Vec::new();
    let detectors = Detector::all()?;
    for (index, detector) in detectors.iter().enumerate() {
        let key = |seeds, side| CellKey {
            method: detector.key,
            settings: detector.values(),
            counts: COUNTS,
            seeds,
            window: WINDOW,
            side,
        };
        let drawn = session.cell(NAME, detector.key, &key([0, 1], side), None, |run| {
            detector.zones(&sample(0)?, &grid(side), true, run)
        })?;
        let repeated = session.cell(
            NAME,
            &format!("{}-draws", detector.key),
            &key([0, draws], coarse),
            None,
            |run| {
                (0..draws)
                    .map(|seed| detector.zones(&sample(seed)?, &grid(coarse), false, run))
                    .collect::<Result<Vec<_>>>()
            },
        )?;
        let title = format!("{} {}", panel_label(index), detector.name);
        parts.push(panel(&panels.panel_style(title), &drawn.value, &grid(side), &sample(0)?)?);
        results.push((detector, drawn.value, repeated.value));
    }
    session.write_picture(NAME, &panels.arrange(parts))?;
    report.text(format!(
        "n = {} points of N((−1, −1), I), of which a tenth are replaced by N((2, 2), I). A one-class support vector machine \
         (nu {NU}, gamma {GAMMA}) against the support vector machine depth (gamma {GAMMA}) with λ = 1 as defined and as the paper's \
         scripts set it (`C = 1`, a penalty 2 (n + 1) times weaker); the Gaussian process depth with the same kernel beside them.",
        COUNTS.iter().sum::<usize>()
    ));
    report.figure(NAME, "Zones at the top five deciles of the score over the window; darker is deeper.");
    tables(&mut report, &results);
    claims(&mut report, &results);
    Ok(report)
}

fn mixture() -> Result<Mixture> {
    let part = |share: f64, at: f64| Component { weight: share, mean: vec![at; 2], sd: 1.0 };
    Ok(Mixture::new(vec![part(0.9, -1.0), part(0.1, 2.0)])?)
}

impl Detector {
    fn zones(&self, sample: &[f64], grid: &Grid, keep: bool, run: &Run<'_>) -> Result<Zones> {
        let mut rows = grid.rows();
        let nodes = rows.len() / 2;
        rows.extend(sample);
        rows.extend(PLACES.iter().flatten());
        let (mut scores, offset) = self.score(sample, &rows, run)?;
        let own = scores.split_off(nodes);
        let ranked = EmpiricalDistribution::new(&scores, &vec![1.0; nodes])?;
        let levels = ZONES.map(|p| ranked.quantile(p));
        let inside = |level: f64, list: &[f64]| {
            list.iter().filter(|score| **score >= level).count() as f64 / list.len() as f64
        };
        let (cluster, others) = own.split_at(COUNTS[0]);
        let (wrong, places) = others.split_at(COUNTS[1]);
        Ok(Zones {
            shares: levels.map(|level| [inside(level, cluster), inside(level, wrong)]),
            places: [ranked.mid_rank(places[0]), ranked.mid_rank(places[1])],
            accepted: offset.map(|offset| inside(offset, wrong)),
            levels,
            grid: if keep { scores } else { Vec::new() },
        })
    }
}

fn names() -> [String; 2] {
    ["x₁".to_owned(), "x₂".to_owned()]
}

fn shade(zone: usize) -> f64 {
    0.1 + 0.62 * (ZONES.len() - zone) as f64 / ZONES.len() as f64
}

fn kinds(sample: &[f64]) -> Vec<Points> {
    let (cluster, wrong) = sample.split_at((2 * COUNTS[0]).min(sample.len()));
    vec![
        Points { name: Some("cluster".into()), at: grid::points(cluster), mark: Mark::Kind(0) },
        Points { name: Some("contamination".into()), at: grid::points(wrong), mark: Mark::Outlier },
    ]
}

/// A map with nothing but a legend.
fn blank() -> Map<'static> {
    let zone = |(zone, p): (usize, &f64)| Polygon {
        name: format!("top {}", percent(1.0 - p)),
        rings: Vec::new(),
        shade: Some(shade(zone)),
    };
    Map {
        names: names(),
        window: WINDOW,
        background: Background::Polygons(ZONES.iter().enumerate().map(zone).rev().collect()),
        contours: Vec::new(),
        points: kinds(&[]),
        labels: Vec::new(),
        legend: true,
    }
}

fn panel(style: &Style, found: &Zones, grid: &Grid, sample: &[f64]) -> Result<Scene> {
    let field = grid.field(&found.grid)?.refined(4);
    let zone = |(zone, level): (usize, &f64)| Polygon {
        name: String::new(),
        rings: field.regions(*level),
        shade: Some(shade(zone)),
    };
    // The largest zone first.
    let zones = found.levels.iter().enumerate().map(zone).rev().collect();
    let map = Map {
        names: names(),
        window: WINDOW,
        background: Background::Polygons(zones),
        contours: Vec::new(),
        points: kinds(sample),
        labels: Vec::new(),
        legend: false,
    };
    Ok(lossdepth_plot::map(style, &map))
}

/// A detector with the zones of the sample in the picture, and of all samples.
type Results<'a> = (&'a Detector, Zones, Vec<Zones>);

fn tables(report: &mut Report, results: &[Results<'_>]) {
    let mut sheet = Table::new(["method", "draw", "zone", "cluster inside", "contamination inside"]);
    report.heading("Who is in which zone");
    let zones = ZONES.iter().map(|p| format!("top {}", percent(1.0 - p)));
    let mut table = Table::new(["score", "of"].into_iter().map(str::to_owned).chain(zones));
    for (detector, drawn, repeated) in results {
        for (kind, of) in ["cluster", "contamination"].into_iter().enumerate() {
            let cells = (0..ZONES.len()).map(|zone| {
                let average = mean(repeated.iter().map(|zones| zones.shares[zone][kind]));
                format!("{} ({})", percent(drawn.shares[zone][kind]), percent(average))
            });
            table.row([detector.name.to_owned(), of.to_owned()].into_iter().chain(cells));
        }
        for (draw, zones) in repeated.iter().enumerate() {
            for (zone, [cluster, wrong]) in zones.shares.iter().enumerate() {
                let zone = format!("{:.1}", 1.0 - ZONES[zone]);
                sheet.row([
                    detector.key.to_owned(),
                    draw.to_string(),
                    zone,
                    cluster.to_string(),
                    wrong.to_string(),
                ]);
            }
        }
    }
    let draws = results.first().map_or(0, |result| result.2.len());
    report.table(table);
    report.text(format!(
        "The share of the {} points of the cluster and of the {} of the contamination inside each zone, in the picture; in brackets \
         the mean over {draws} samples, with zones by a grid of half as many points a side.",
        COUNTS[0], COUNTS[1]
    ));
    let mut table = Table::new(["score", "at (2, 2)", "at (½, ½)", "contamination taken for normal"]);
    for (detector, _, repeated) in results {
        let accepted: Option<Vec<f64>> = repeated.iter().map(|zones| zones.accepted).collect();
        table.row([
            detector.name.to_owned(),
            share(mean(repeated.iter().map(|zones| zones.places[0])), 2),
            share(mean(repeated.iter().map(|zones| zones.places[1])), 2),
            accepted.map_or("—".to_owned(), |list| percent(mean(list.into_iter()))),
        ]);
    }
    report.table(table);
    report.text(
        "Where the middle of the wrong cluster and the middle of the bridge stand among all scores on the grid (1 is the \
         highest), and what the one-class machine's own threshold says; means over all samples.",
    );
    report.sheet(NAME, sheet);
}

fn claims(report: &mut Report, results: &[Results<'_>]) {
    let of = |key: &str| results.iter().find(|result| result.0.key == key);
    let (Some(machine), Some(depth), Some(code)) = (of("oc-svm"), of("svm"), of("svm-paper-code")) else {
        return;
    };
    let inside = |result: &Results<'_>, zone: usize, kind: usize| {
        mean(result.2.iter().map(|zones| zones.shares[zone][kind]))
    };
    let place = |result: &Results<'_>, which: usize| mean(result.2.iter().map(|zones| zones.places[which]));
    let verdict = |yes: bool| if yes { "Holds" } else { "Does not hold" };
    let accepted = mean(machine.2.iter().filter_map(|zones| zones.accepted));
    report.heading("What the paper says");
    let most = |result: &Results<'_>| inside(result, 0, 0) > 0.5 && inside(result, 0, 1) < 0.5;
    report.list([
        format!(
            "“OC-SVM gives a high score to the contamination cluster and good scores to the bridge”. {}: its middle is higher than \
             {} of the window, the bridge than {}; the machine's own threshold takes {} of the contamination for normal.",
            verdict(place(machine, 0) > 0.8 && place(machine, 1) > 0.8),
            percent(place(machine, 0)),
            percent(place(machine, 1)),
            percent(accepted),
        ),
        format!(
            "“With SVM depth, the highest decile zone contains most of the authentic cluster”. {}: {} of it as defined, {} as the \
             scripts set it, {} for OC-SVM.",
            verdict(most(depth)),
            percent(inside(depth, 0, 0)),
            percent(inside(code, 0, 0)),
            percent(inside(machine, 0, 0)),
        ),
        format!(
            "“[It] leaves out most of the contamination points”. {}: {} of them are inside as defined, {} as the scripts set it, {} \
             for OC-SVM.",
            verdict(inside(depth, 0, 1) < 0.5),
            percent(inside(depth, 0, 1)),
            percent(inside(code, 0, 1)),
            percent(inside(machine, 0, 1)),
        ),
    ]);
}
