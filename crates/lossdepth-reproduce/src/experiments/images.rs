//! One class of MNIST or Fashion-MNIST as the reference, the others as outliers.

use crate::data::Data;
use crate::error::{Error, Result};
use crate::report::{Report, Table};
use crate::session::Session;
use lossdepth::model::Value;
use lossdepth::numerics::Random;
use lossdepth::stats::evaluation::Ranking;
use lossdepth::{Method, Preset, Run, Settings};
use serde::Serialize;

/// A data set of images.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Set {
    Mnist,
    FashionMnist,
}

/// The number of images of the reference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Size {
    Some(usize),
    All,
}

const SIZES: [Size; 3] = [Size::Some(100), Size::Some(1000), Size::All];

const CLASSES: usize = 10;

/// The number of references drawn, where a reference is not the whole class.
const SEEDS: u64 = 10;

impl Set {
    fn name(self) -> &'static str {
        match self {
            Self::Mnist => "mnist",
            Self::FashionMnist => "fashion-mnist",
        }
    }

    fn title(self) -> &'static str {
        match self {
            Self::Mnist => "MNIST: one digit against the others",
            Self::FashionMnist => "Fashion-MNIST: one kind of clothing against the others",
        }
    }

    /// The percentages that the paper prints: one per class, then the mean.
    fn printed(self, method: Method, size: Size) -> [u8; CLASSES + 1] {
        match (self, method, size) {
            (Self::Mnist, Method::Svm, Size::Some(100)) => [96, 99, 87, 88, 92, 91, 97, 94, 85, 94, 92],
            (Self::Mnist, Method::Svm, Size::Some(_)) => [98, 99, 91, 92, 94, 94, 98, 95, 88, 96, 94],
            (Self::Mnist, Method::Svm, Size::All) => [96, 99, 87, 87, 92, 91, 96, 94, 84, 94, 92],
            (Self::Mnist, _, Size::Some(100)) => [99, 100, 89, 92, 94, 91, 98, 95, 87, 94, 94],
            (Self::Mnist, _, Size::Some(_)) => [99, 100, 92, 94, 96, 95, 99, 97, 89, 96, 96],
            (Self::Mnist, _, Size::All) => [100, 100, 93, 95, 97, 96, 99, 97, 91, 97, 97],
            (Self::FashionMnist, Method::Svm, Size::Some(100)) => {
                [88, 97, 86, 90, 87, 86, 81, 95, 81, 94, 89]
            }
            (Self::FashionMnist, Method::Svm, Size::Some(_)) => [88, 98, 86, 90, 89, 86, 80, 94, 79, 94, 89],
            (Self::FashionMnist, Method::Svm, Size::All) => [86, 98, 85, 88, 86, 86, 79, 92, 79, 93, 87],
            (Self::FashionMnist, _, Size::Some(100)) => [91, 98, 89, 93, 91, 89, 84, 98, 86, 97, 92],
            (Self::FashionMnist, _, Size::Some(_)) => [91, 99, 89, 94, 91, 90, 84, 98, 86, 98, 92],
            (Self::FashionMnist, _, Size::All) => [91, 99, 90, 93, 90, 91, 84, 99, 85, 98, 92],
        }
    }
}

/// A method with the settings of the paper's text or scripts.
struct Configuration {
    method: Method,
    preset: Preset,
    /// The factor on pixels from 0 to 255.
    unit: f64,
    tol: Option<f64>,
}

/// With the scripts' penalty on raw pixels depths are about 1e-5, which needs a smaller tolerance.
const CONFIGURATIONS: [Configuration; 4] = [
    Configuration { method: Method::Logistic, preset: Preset::PaperCode, unit: 1.0, tol: Some(1e-8) },
    Configuration { method: Method::Svm, preset: Preset::PaperCode, unit: 1.0, tol: None },
    Configuration { method: Method::Logistic, preset: Preset::Paper, unit: 1.0 / 255.0, tol: None },
    Configuration { method: Method::Svm, preset: Preset::Paper, unit: 1.0 / 255.0, tol: None },
];

/// The images, split into training and test parts.
struct Split {
    /// For each class, the indices of its images in `train`.
    classes: Vec<Vec<usize>>,
    train: Data,
    test: Data,
    fingerprint: String,
}

pub(super) fn run(session: &Session<'_>, set: Set) -> Result<Report> {
    let split = split(session, set)?;
    let mut report = Report::new(set.title());
    report.text(format!(
        "AUC-ROC in percent with one class as the reference and all {} test images scored, those of other classes as outliers: \
         {} images split 80 to 20, n images of the class drawn from the training part (ten times for n = 100 and 1000, means \
         of ten). In brackets: what the paper prints.",
        split.test.len(),
        split.train.len() + split.test.len(),
    ));
    if session.quick {
        report.text("**A trial**: made-up images or a part of the real ones; the numbers mean nothing.");
    }
    let mut sheet = Table::new(["method", "preset", "n", "class", "seed", "AUC-ROC", "printed", "seconds"]);
    let mut discrepancies = Vec::new();
    for preset in [Preset::PaperCode, Preset::Paper] {
        let (heading, text) = if preset == Preset::PaperCode {
            (
                "As the paper's scripts compute it",
                "`--preset paper-code` on raw pixels from 0 to 255: the penalties of the scripts, which are weak in these units.",
            )
        } else {
            (
                "As the paper defines it",
                "`--preset paper`, reg = 1, on pixels from 0 to 1. The paper's numbers fit the weaker penalty of its scripts.",
            )
        };
        report.heading(heading);
        report.text(text);
        let head = ["method", "n"].into_iter().map(str::to_owned);
        let mut table =
            Table::new(head.chain((0..CLASSES).map(|class| class.to_string())).chain(["mean".to_owned()]));
        for configuration in CONFIGURATIONS.iter().filter(|configuration| configuration.preset == preset) {
            for size in SIZES {
                let printed = set.printed(configuration.method, size);
                let (label, mut row, mut sum) =
                    (size.label(), vec![configuration.method.to_string(), size.label()], 0.0);
                for class in 0..CLASSES {
                    let (aucs, seconds) = cell(session, set, &split, configuration, size, class)?;
                    let mean = 100.0 * aucs.iter().sum::<f64>() / aucs.len() as f64;
                    sum += mean;
                    row.push(with_printed(session, format!("{mean:.1}"), printed[class]));
                    for (seed, auc) in aucs.iter().enumerate() {
                        sheet.row([
                            configuration.method.to_string(),
                            preset.to_string(),
                            label.clone(),
                            class.to_string(),
                            seed.to_string(),
                            auc.to_string(),
                            format!("{}", f64::from(printed[class]) / 100.0),
                            (seconds / aucs.len() as f64).to_string(),
                        ]);
                    }
                }
                let mean = sum / CLASSES as f64;
                row.push(with_printed(session, format!("**{mean:.1}**"), printed[CLASSES]));
                let off = mean - f64::from(printed[CLASSES]);
                if off.abs() > 1.0 && !session.quick {
                    discrepancies.push(format!(
                        "{} at n = {label}, {preset}: {mean:.1} where {} is printed ({off:+.1}).",
                        configuration.method, printed[CLASSES]
                    ));
                }
                table.row(row);
            }
        }
        report.table(table);
    }
    report.heading("Means more than one point apart");
    if discrepancies.is_empty() {
        report.text("None.");
    }
    report.list(discrepancies);
    report.sheet(set.name(), sheet);
    Ok(report)
}

/// A number with the printed one in brackets, except in a quick run.
fn with_printed(session: &Session<'_>, ours: String, printed: u8) -> String {
    if session.quick { ours } else { format!("{ours} ({printed})") }
}

impl Size {
    fn label(self) -> String {
        match self {
            Self::Some(n) => n.to_string(),
            Self::All => "all".to_owned(),
        }
    }
}

fn split(session: &Session<'_>, set: Set) -> Result<Split> {
    let all = if session.quick && session.data.is_none() {
        synthetic()?
    } else {
        let read = |part: &str| {
            let file = format!("{}/{part}-images-idx3-ubyte.gz", set.name());
            session.load(set.name(), &file)
        };
        let (train, more) = (read("train")?, read("t10k")?);
        train.concatenated(&more).ok_or_else(|| {
            Error::Message(format!("the images of {}/train and {0}/t10k differ in size", set.name()))
        })?
    };
    let mut order = Random::new(2025).choose(all.len(), all.len());
    if session.quick {
        order.truncate(800);
    }
    let (test, train) = order.split_at(order.len() / 5);
    let (train, test) = (all.pick(train), all.pick(test));
    let of = |class: u8| (0..train.len()).filter(|row| train.labels[*row] == class).collect();
    let classes = (0..10).map(of).collect();
    let fingerprint = format!("train {}; test {}", train.fingerprint(), test.fingerprint());
    Ok(Split { classes, train, test, fingerprint })
}

/// Ten classes of small images: a blurred bar at an angle of the class.
fn synthetic() -> Result<Data> {
    const SIDE: usize = 8;
    let mut random = Random::new(7);
    let (mut values, mut labels) = (Vec::new(), Vec::new());
    for row in 0..600 {
        let class = row % CLASSES;
        let angle = std::f64::consts::PI * (class as f64 + 0.3 * random.normal()) / CLASSES as f64;
        let (sin, cos) = angle.sin_cos();
        let middle = 0.5 * (SIDE as f64 - 1.0);
        for pixel in 0..SIDE * SIDE {
            let (x, y) = ((pixel % SIDE) as f64 - middle, (pixel / SIDE) as f64 - middle);
            let distance = x * sin - y * cos;
            let value = 255.0 * (-distance * distance).exp() + 10.0 * random.normal();
            values.push(value.clamp(0.0, 255.0).round());
        }
        labels.push(u8::try_from(class).unwrap_or(0));
    }
    Ok(Data::new(values, SIDE * SIDE, labels)?)
}

/// The AUC-ROC for each draw of the reference, and the total time.
fn cell(
    session: &Session<'_>,
    set: Set,
    split: &Split,
    configuration: &Configuration,
    size: Size,
    class: usize,
) -> Result<(Vec<f64>, f64)> {
    #[derive(Serialize)]
    struct Key<'a> {
        data: &'a str,
        settings: &'a Settings,
        unit: f64,
        n: usize,
        class: usize,
        seeds: u64,
    }
    let members = &split.classes[class];
    let (n, seeds) = match size {
        Size::Some(n) if n < members.len() => (n, if session.quick { 2 } else { SEEDS }),
        _ => (members.len(), 1),
    };
    let extra = configuration.tol.map(|tol| ("tol", Value::Number(tol)));
    let values = configuration.preset.values(configuration.method, n as f64)?.into_iter().chain(extra);
    let settings = Settings::with(configuration.method, values)?;
    let key =
        Key { data: &split.fingerprint, settings: &settings, unit: configuration.unit, n, class, seeds };
    let name = format!("{}-{}-{}-{class}", configuration.method, configuration.preset, size.label());
    let work = usize::try_from(seeds).unwrap_or(1) * split.test.len();
    let done = session.cell(set.name(), &name, &key, Some(work), |run| {
        let queries = split.test.clone().scaled(configuration.unit);
        (0..seeds)
            .map(|seed| auc(session, split, members, n, seed, class, configuration, &settings, &queries, run))
            .collect()
    })?;
    Ok((done.value, done.seconds))
}

#[expect(clippy::too_many_arguments, reason = "one draw of one cell")]
fn auc(
    session: &Session<'_>,
    split: &Split,
    members: &[usize],
    n: usize,
    seed: u64,
    class: usize,
    configuration: &Configuration,
    settings: &Settings,
    queries: &Data,
    run: &Run<'_>,
) -> Result<f64> {
    let chosen: Vec<usize> = if n == members.len() {
        members.to_vec()
    } else {
        Random::stream(seed, class as u64).choose(n, members.len()).into_iter().map(|i| members[i]).collect()
    };
    let sample = split.train.pick(&chosen).scaled(configuration.unit).reference()?;
    let fits = session.with_memory(settings).fit(&sample)?.score(queries.rows()?, run)?;
    let (mut outliers, mut others) = (Vec::new(), Vec::new());
    for (fit, label) in fits.iter().zip(&queries.labels) {
        if usize::from(*label) == class { &mut others } else { &mut outliers }.push(fit.depth);
    }
    Ok(Ranking::new(outliers, others)?.auc(0.95)?.value)
}
