//! Boundedness: depths are between 0 and 1.

use super::NAME;
use crate::error::Result;
use crate::report::{Report, Table};
use crate::session::Session;
use crate::{compared, format, statistics};
use lossdepth::model::Value;
use lossdepth::numerics::Random;
use lossdepth::{Method, Settings, Variant};
use lossdepth_plot::{BoxKind, BoxPlot, Style, box_plot};
use serde::{Deserialize, Serialize};

const SEED: u64 = 101;

/// The depths of all queries in all samples.
#[derive(Serialize, Deserialize)]
struct Depths {
    depths: Vec<f64>,
    /// How many are outside [0, 1].
    outside: usize,
}

pub(super) fn run(session: &Session<'_>, report: &mut Report) -> Result<()> {
    let problems = if session.quick { 12 } else { 300 };
    report.heading("Boundedness");
    let mut table =
        Table::new(["depth", "variant", "queries", "lowest", "median", "highest", "outside [0, 1]"]);
    let (mut groups, mut values) = (Vec::new(), Vec::new());
    for method in Method::ALL {
        for variant in Variant::NAMES {
            // A method without variants is listed once, as `risk`.
            let has_variants = method.settings().contains(&"variant");
            let has_radius = method.settings().contains(&"radius");
            if (variant != "risk" && !has_variants) || (variant == "constrained" && !has_radius) {
                continue;
            }
            let name = format!("bounded-{method}-{variant}");
            let settings = ("problems", problems, "seed", SEED, method.name(), variant);
            let found = session.cell(NAME, &name, &settings, None, |run| {
                let mut found = Depths { depths: Vec::new(), outside: 0 };
                for problem in 0..problems {
                    let (settings, sample, queries, width) = random_problem(problem, method, variant)?;
                    let depths = compared::depths(&settings, &sample, &queries, width, run)?;
                    found.outside += depths.iter().filter(|d| !(0.0..=1.0).contains(*d)).count();
                    found.depths.extend(depths);
                }
                Ok(found)
            })?;
            let found = found.value;
            let (low, high) = statistics::range(found.depths.iter().copied());
            table.row([
                method.to_string(),
                if has_variants { variant } else { "—" }.to_owned(),
                found.depths.len().to_string(),
                format::number(low),
                format::share(statistics::median(&found.depths)?, 3),
                format::share(high, 3),
                found.outside.to_string(),
            ]);
            if variant == "risk" {
                groups.push(method.to_string());
                values.push(found.depths);
            }
        }
    }
    let plot = BoxPlot {
        names: [String::new(), "depth".to_owned()],
        groups,
        kinds: vec![BoxKind { name: String::new(), values, hollow: false, colour: 4 }],
        range: Some((-0.05, 1.05)),
        legend: false,
    };
    let style = Style {
        width: 1800,
        height: 900,
        title: Some("All depths are in [0, 1]".into()),
        caption: format!(
            "Depths in {problems} random problems: 2 to 31 rows in 1 to 5 columns, scales from 0.01 to 100, penalties from 0.0001 to \
             100; queries in the sample, in its middle, beside it and far away."
        ),
        text_scale: 1.35,
    };
    session.write_picture("theory-bounded", &box_plot(&style, &plot))?;
    report.text(
        "*Loss depths by the logistic or the hinge loss are in [0, 1].* Tried for every method. It is w = 0 that costs 1, whatever the \
         data; other losses with ℓ(0) = 1 and the other methods inherit it. (With natural logarithms the range of the logistic depth \
         would be [0, ln 2]. The paper's formula of the loss lacks the logarithm.)",
    );
    report.figure("theory-bounded", "Depths of random queries in random samples, by method.");
    report.table(table.clone());
    report.sheet("theory-bounded", table);
    Ok(())
}

/// Settings, sample, queries, number of columns.
type Problem = (Settings, Vec<f64>, Vec<f64>, usize);

fn random_problem(number: u64, method: Method, variant: &str) -> Result<Problem> {
    let mut random = Random::stream(SEED, number);
    let (rows, width) = (2 + random.below(30), 1 + random.below(5));
    let scale = 10f64.powf(random.between(-2.0, 2.0));
    let reg = 10f64.powf(random.between(-4.0, 2.0));
    let radius = 10f64.powf(random.between(-2.0, 2.0));
    let mut sample: Vec<f64> = (0..rows * width).map(|_| scale * (1.0 + random.normal())).collect();
    if number.is_multiple_of(4) {
        // A third of the rows are copies of the first.
        let copies = (rows / 3) * width;
        let first = sample[..width].to_vec();
        sample[..copies].chunks_exact_mut(width).for_each(|row| row.copy_from_slice(&first));
    }
    let mut queries = sample[..width].to_vec();
    queries.extend(vec![scale; width]);
    for spread in [1.0, 3.0, 10.0, 1000.0] {
        queries.extend((0..width).map(|_| scale * (1.0 + spread * random.normal())));
    }
    let mut values = vec![("scale", Value::Text("none".to_owned()))];
    let has = |name: &str| method.settings().contains(&name);
    if has("reg") {
        values.push(("reg", Value::Number(reg)));
    }
    if has("variant") {
        values.push(("variant", Value::Text(variant.to_owned())));
    }
    if variant == "constrained" {
        values.push(("radius", Value::Number(radius)));
    }
    Ok((Settings::with(method, values)?, sample, queries, width))
}
