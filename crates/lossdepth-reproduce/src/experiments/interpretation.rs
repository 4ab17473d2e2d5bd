//! The coefficients of the logistic depth of images (section 6.2, figure 4).

use crate::data::Data;
use crate::error::{Error, Result};
use crate::format::{number, share};
use crate::report::{Report, Table};
use crate::session::Session;
use crate::statistics::median;
use lossdepth::model::Value;
use lossdepth::numerics::Random;
use lossdepth::stats::evaluation::Ranking;
use lossdepth::{Method, Preset, Settings};
use lossdepth_plot::{ImagePair, Style};
use serde::{Deserialize, Serialize};

const NAME: &str = "interpretation";
const SIDE: usize = 28;
const INLIER: u8 = 5;
const SNEAKER: u8 = 7;
const FASHION: [&str; 10] =
    ["T-shirt", "trouser", "pullover", "dress", "coat", "sandal", "shirt", "sneaker", "bag", "ankle boot"];
const SHAPES: [&str; 10] =
    ["square", "column", "cross", "disc", "frame", "thin bar", "ring", "thick bar", "saltire", "corner"];
const SEED: u64 = 5;
/// The number of deepest and of shallowest outliers that are counted by class.
const TOP: usize = 20;

/// The settings of the paper's text or scripts, and the factor on pixels from 0 to 255.
struct Configuration {
    name: &'static str,
    key: &'static str,
    preset: Preset,
    unit: f64,
}

const CONFIGURATIONS: [Configuration; 3] = [
    Configuration {
        name: "As the scripts have it, pixels 0 to 255",
        key: "paper-code",
        preset: Preset::PaperCode,
        unit: 1.0,
    },
    Configuration {
        name: "As defined (λ = 1), pixels 0 to 255",
        key: "paper",
        preset: Preset::Paper,
        unit: 1.0,
    },
    Configuration {
        name: "As defined (λ = 1), pixels 0 to 1",
        key: "paper-unit",
        preset: Preset::Paper,
        unit: 1.0 / 255.0,
    },
];

#[derive(Serialize)]
struct CellKey<'a> {
    data: &'a str,
    settings: &'a Settings,
    unit: f64,
    counts: [usize; 3],
    draw: u64,
    seed: u64,
}

/// The depths of one draw.
#[derive(Serialize, Deserialize)]
struct DrawDepths {
    auc: f64,
    inliers: Vec<f64>,
    outliers: Vec<f64>,
    /// The class of each outlier.
    classes: Vec<u8>,
}

/// An image with its depth and coefficients.
#[derive(Serialize, Deserialize)]
struct Image {
    label: u8,
    depth: f64,
    pixels: Vec<f64>,
    weights: Vec<f64>,
}

/// Images, with the names of their classes.
struct ImageSet {
    data: Data,
    fingerprint: String,
    names: &'static [&'static str; 10],
    /// The numbers of reference images, inliers and outliers of a draw.
    counts: [usize; 3],
}

pub(super) fn run(session: &Session<'_>) -> Result<Report> {
    let images = image_set(session)?;
    let draws = if session.quick { 2 } else { 10 };
    let mut report = Report::new("Interpretation: the images that stand out");
    let synthetic = session.data.is_none();
    report.text(format!(
        "The logistic regression depth of {} other images of class {INLIER} ({}) and of {} images of other classes, among {} \
         images of class {INLIER}; the deepest and the shallowest of both, beside the coefficients of the classifiers that tell \
         them from the reference: white pixels are negative (ink there gives the image away), black ones positive (ink there is \
         missing), grey ones do not matter.{}",
        images.counts[1],
        images.names[usize::from(INLIER)],
        images.counts[2],
        images.counts[0],
        if synthetic {
            " **Made-up images**: simple shapes, since there is no `--data`; the paper's are those of Fashion-MNIST."
        } else {
            ""
        }
    ));
    let mut sheet = Table::new(["way", "draw", "kind", "class", "depth"]);
    for configuration in &CONFIGURATIONS {
        let values = configuration.preset.values(Method::Logistic, images.counts[0] as f64)?;
        let settings =
            Settings::with(Method::Logistic, values.into_iter().chain([("tol", Value::Number(1e-8))]))?;
        let task = Task { session, images: &images, configuration, settings: &settings };
        let found = (0..draws).map(|draw| task.found(draw)).collect::<Result<Vec<DrawDepths>>>()?;
        let extremes = task.extremes(&found[0])?;
        task.report(&mut report, &found, &extremes)?;
        for (draw, found) in found.iter().enumerate() {
            let mut row = |kind: &str, class: u8, depth: f64| {
                sheet.row([
                    configuration.key.to_owned(),
                    draw.to_string(),
                    kind.to_owned(),
                    class.to_string(),
                    depth.to_string(),
                ]);
            };
            found.inliers.iter().for_each(|depth| row("inlier", INLIER, *depth));
            found
                .outliers
                .iter()
                .zip(&found.classes)
                .for_each(|(depth, class)| row("outlier", *class, *depth));
        }
    }
    report.sheet(NAME, sheet);
    Ok(report)
}

fn image_set(session: &Session<'_>) -> Result<ImageSet> {
    let (data, names) = if session.data.is_some() {
        (session.load(NAME, "fashion-mnist/train-images-idx3-ubyte.gz")?, &FASHION)
    } else {
        (synthetic(if session.quick { 1200 } else { 6000 })?, &SHAPES)
    };
    let inliers = (0..data.len()).filter(|row| data.labels[*row] == INLIER).count();
    let wanted = if session.quick { 60 } else { 1000 };
    let (count, others) = (wanted.min(inliers / 2), data.len() - inliers);
    let fingerprint = data.fingerprint();
    Ok(ImageSet { data, fingerprint, names, counts: [count, count, wanted.min(others)] })
}

/// A configuration on the images.
struct Task<'a> {
    session: &'a Session<'a>,
    images: &'a ImageSet,
    configuration: &'a Configuration,
    settings: &'a Settings,
}

impl Task<'_> {
    /// The row numbers of a draw: reference, inliers, outliers.
    fn rows(&self, draw: u64) -> [Vec<usize>; 3] {
        let labels = &self.images.data.labels;
        let [reference, inliers, outliers] = self.images.counts;
        let mut random = Random::stream(SEED, draw);
        let mut choose = |wanted: usize, keep: &dyn Fn(u8) -> bool| -> Vec<usize> {
            let all: Vec<usize> = (0..labels.len()).filter(|row| keep(labels[*row])).collect();
            random.choose(wanted, all.len()).into_iter().map(|i| all[i]).collect()
        };
        let mut first = choose(reference + inliers, &|label| label == INLIER);
        let second = first.split_off(reference);
        let third = choose(outliers, &|label| label != INLIER);
        [first, second, third]
    }

    fn key(&self, draw: u64) -> CellKey<'_> {
        CellKey {
            data: &self.images.fingerprint,
            settings: self.settings,
            unit: self.configuration.unit,
            counts: self.images.counts,
            draw,
            seed: SEED,
        }
    }

    fn found(&self, draw: u64) -> Result<DrawDepths> {
        let size = self.images.counts[1] + self.images.counts[2];
        let name = format!("{}-{draw}", self.configuration.key);
        let done = self.session.cell(NAME, &name, &self.key(draw), Some(size), |run| {
            let [reference, inliers, outliers] =
                self.rows(draw).map(|rows| self.images.data.pick(&rows).scaled(self.configuration.unit));
            let model = self.settings.fit(&reference.reference()?)?;
            let depths = |data: &Data| -> Result<Vec<f64>> {
                Ok(model.score(data.rows()?, run)?.iter().map(|fit| fit.depth).collect())
            };
            let (inliers, classes, outliers) =
                (depths(&inliers)?, outliers.labels.clone(), depths(&outliers)?);
            let auc = Ranking::new(outliers.clone(), inliers.clone())?.auc(0.95)?.value;
            Ok(DrawDepths { auc, inliers, outliers, classes })
        })?;
        let DrawDepths { inliers, outliers, classes, .. } = &done.value;
        if [inliers.len(), outliers.len(), classes.len()]
            == [self.images.counts[1], self.images.counts[2], self.images.counts[2]]
        {
            Ok(done.value)
        } else {
            Err(Error::Message(format!(
                "the kept result {NAME}/{name} is damaged: --fresh computes it again"
            )))
        }
    }

    /// The deepest and the shallowest inlier and outlier of the first draw.
    fn extremes(&self, found: &DrawDepths) -> Result<[Image; 4]> {
        let name = format!("{}-images", self.configuration.key);
        let done = self.session.cell(NAME, &name, &self.key(0), None, |run| {
            let [reference, inliers, outliers] = self.rows(0);
            let chosen = [
                inliers[extreme(&found.inliers, true)],
                inliers[extreme(&found.inliers, false)],
                outliers[extreme(&found.outliers, true)],
                outliers[extreme(&found.outliers, false)],
            ];
            let data = &self.images.data;
            let model =
                self.settings.fit(&data.pick(&reference).scaled(self.configuration.unit).reference()?)?;
            let queries = data.pick(&chosen).scaled(self.configuration.unit);
            let why = model.explain(queries.rows()?, run)?;
            let unscaled = data.pick(&chosen);
            let image = |(i, why): (usize, &lossdepth::Explanation)| -> Result<Image> {
                let (label, pixels) = (unscaled.labels[i], unscaled.rows()?.row(i).to_vec());
                let weights = why.gradient().unwrap_or_default().to_vec();
                Ok(Image { label, depth: why.fit.depth, pixels, weights })
            };
            let [a, b, c, d] = [0, 1, 2, 3].map(|i| image((i, &why[i])));
            Ok([a?, b?, c?, d?])
        })?;
        Ok(done.value)
    }

    fn report(&self, report: &mut Report, found: &[DrawDepths], extremes: &[Image; 4]) -> Result<()> {
        let names = self.images.names;
        let file = format!("{NAME}-{}", self.configuration.key);
        let kinds = ["Deepest inlier", "Shallowest inlier", "Deepest outlier", "Shallowest outlier"];
        let pair = |(kind, image): (&&str, &Image)| ImagePair {
            name: format!("{kind}: {}, depth {}", names[usize::from(image.label) % 10], number(image.depth)),
            pixels: image.pixels.clone(),
            coefficients: image.weights.clone(),
        };
        let pairs: Vec<ImagePair> = kinds.iter().zip(extremes).map(pair).collect();
        let class = names[usize::from(INLIER)];
        let style = Style {
            width: 1800,
            height: 1130,
            title: Some(format!("Class {INLIER} ({class}). {}", self.configuration.name)),
            caption: format!(
                "Left: the image. Right: the coefficients of its logistic regression depth (reg {}, {} reference images); white is \
                 negative, black positive.",
                number(self.settings.reg),
                self.images.counts[0]
            ),
            text_scale: 1.0,
        };
        self.session.write_picture(&file, &lossdepth_plot::images(&style, (SIDE, SIDE), &pairs))?;
        report.heading(self.configuration.name);
        report.figure(file, format!("The images that stand out. {}.", self.configuration.name));
        self.classes(report, found)?;
        self.claims(report, found, extremes);
        Ok(())
    }

    fn classes(&self, report: &mut Report, found: &[DrawDepths]) -> Result<()> {
        let mut table = Table::new([
            "class".to_owned(),
            "median depth".to_owned(),
            format!("of the {TOP} deepest outliers"),
            format!("of the {TOP} shallowest"),
            "deepest of all".to_owned(),
            "shallowest of all".to_owned(),
        ]);
        let inliers: Vec<f64> = found.iter().flat_map(|found| found.inliers.iter().copied()).collect();
        let inlier = format!("{} (inliers)", self.images.names[usize::from(INLIER)]);
        table.row([inlier, number(median(&inliers)?), "—".into(), "—".into(), "—".into(), "—".into()]);
        for class in (0..10u8).filter(|class| *class != INLIER) {
            let of = |found: &DrawDepths| -> Vec<f64> {
                let both = found.outliers.iter().zip(&found.classes);
                both.filter(|(_, label)| **label == class).map(|(depth, _)| *depth).collect()
            };
            let depths: Vec<f64> = found.iter().flat_map(of).collect();
            if depths.is_empty() {
                continue;
            }
            table.row([
                self.images.names[usize::from(class)].to_owned(),
                number(median(&depths)?),
                share(share_of_class(found, class, TOP, true), 2),
                share(share_of_class(found, class, TOP, false), 2),
                share(share_of_class(found, class, 1, true), 1),
                share(share_of_class(found, class, 1, false), 1),
            ]);
        }
        report.table(table);
        let auc = found.iter().map(|found| found.auc).sum::<f64>() / found.len() as f64;
        report.text(format!(
            "Shares of {} draws. AUC-ROC {}, mean of the draws.",
            found.len(),
            share(auc, 3)
        ));
        Ok(())
    }

    fn claims(&self, report: &mut Report, found: &[DrawDepths], extremes: &[Image; 4]) {
        if self.session.data.is_none() {
            return;
        }
        let names = self.images.names;
        let [_, _, deepest, shallowest] = extremes;
        let tops = |class: u8, deepest: bool| share_of_class(found, class, 1, deepest) * found.len() as f64;
        report.list([
            format!(
                "“The closest outliers are sneakers rather than T-shirts”: the deepest outlier shown is {}, a sneaker in {:.0} and a \
                 T-shirt in {:.0} of {} draws; of the {TOP} deepest, {} are sneakers and {} T-shirts.",
                with_article(names[usize::from(deepest.label) % 10]),
                tops(SNEAKER, true),
                tops(0, true),
                found.len(),
                share(share_of_class(found, SNEAKER, TOP, true), 2),
                share(share_of_class(found, 0, TOP, true), 2),
            ),
            format!(
                "The least deep outlier in the paper's figure is a T-shirt: here it is {}, a T-shirt in {:.0} of {} draws.",
                with_article(names[usize::from(shallowest.label) % 10]),
                tops(0, false),
                found.len(),
            ),
        ]);
    }
}

/// The mean share of a class among the `count` deepest or shallowest outliers.
fn share_of_class(found: &[DrawDepths], class: u8, count: usize, deepest: bool) -> f64 {
    let share = |found: &DrawDepths| {
        let mut order: Vec<usize> = (0..found.outliers.len()).collect();
        order.sort_by(|a, b| found.outliers[*a].total_cmp(&found.outliers[*b]));
        if deepest {
            order.reverse();
        }
        let taken = &order[..count.min(order.len())];
        taken.iter().filter(|row| found.classes[**row] == class).count() as f64 / taken.len().max(1) as f64
    };
    found.iter().map(share).sum::<f64>() / found.len().max(1) as f64
}

/// The index of the deepest or shallowest; the first of equals.
fn extreme(depths: &[f64], deepest: bool) -> usize {
    let better = |a: f64, b: f64| if deepest { a > b } else { a < b };
    (1..depths.len()).fold(0, |best, i| if better(depths[i], depths[best]) { i } else { best })
}

/// `a sandal`, `an ankle boot`.
fn with_article(name: &str) -> String {
    format!("{} {name}", if name.starts_with(['a', 'e', 'i', 'o', 'u']) { "an" } else { "a" })
}

/// Images of ten simple shapes, with random size, position, brightness and noise.
fn synthetic(count: usize) -> Result<Data> {
    let mut random = Random::new(SEED);
    let (mut values, mut labels) = (Vec::with_capacity(count * SIDE * SIDE), Vec::new());
    for row in 0..count {
        // Every second image is of the reference class.
        let class = if row % 2 == 0 { usize::from(INLIER) } else { (row / 2) % 10 };
        let size = random.between(6.0, 10.0);
        let (dx, dy) = (random.between(-2.0, 2.0), random.between(-2.0, 2.0));
        let ink = random.between(150.0, 255.0);
        let middle = 0.5 * (SIDE as f64 - 1.0);
        for pixel in 0..SIDE * SIDE {
            let x = ((pixel % SIDE) as f64 - middle - dx) / size;
            let y = ((pixel / SIDE) as f64 - middle - dy) / size;
            // Blurred edges and noise.
            let coverage = (0.5 + 6.0 * inside(class, x, y)).clamp(0.0, 1.0);
            values.push((ink * coverage + 8.0 * random.normal()).clamp(0.0, 255.0).round());
        }
        labels.push(u8::try_from(class).unwrap_or(0));
    }
    Ok(Data::new(values, SIDE * SIDE, labels)?)
}

/// The signed distance (up to a factor) from the boundary of a shape of radius 1; positive inside.
fn inside(class: usize, x: f64, y: f64) -> f64 {
    let square = |half: f64| half - x.abs().max(y.abs());
    let bar = |tall: f64| (tall - y.abs()).min(1.0 - x.abs());
    let column = (0.35 - x.abs()).min(1.0 - y.abs());
    match class {
        0 => square(0.9),
        1 => column,
        2 => bar(0.3).max(column),
        3 => 1.0 - x.hypot(y),
        4 => square(1.0).min(-square(0.6)),
        5 => bar(0.3),
        6 => (1.0 - x.hypot(y)).min(x.hypot(y) - 0.55),
        7 => bar(0.55),
        8 => (0.35 - (x.abs() - y.abs()).abs()).min(square(1.0)),
        _ => square(1.0).min(f64::midpoint(x, y) + 0.1),
    }
}
