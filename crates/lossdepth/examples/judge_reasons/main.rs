//! How often the reasons name the columns that were corrupted: simulated tables, every method alike.
//!
//! ```text
//! cargo run --release -p lossdepth --example judge_reasons -- [--methods svm,forest] [--designs developed,fresh]
//!     [--rows 25] [--size 1000] [--seed 2026] [--new] [--write DIR]
//! ```
//!
//! A table has `size` rows, of which `rows` have one corrupted column and as many have two. By default the table is its
//! own reference, as in `lossdepth outliers`; with `--new` the corrupted rows are scored against the clean ones. `--write`
//! saves the tables, for `benchmarks/reasons.py` to compare with other explanations.
//!
//! A row is *seen* by a method if its percentile is at most 0.1 and each corrupted column accounts for at least one bit: the
//! Shapley value of the corrupted column in the game between the row and the row as it was before, which the search for
//! reasons does not know. *Found* is a row among as many oddest rows as were corrupted.

mod designs;
mod developed;
mod fresh;
mod table;
mod tally;

use designs::{Drawn, chosen};
use lossdepth::model::{Explainer, ReasonOptions};
use lossdepth::{Fit, Method, Rows, Run};
use std::error::Error;
use std::fmt::Write as _;
use std::path::Path;
use std::time::{SystemTime, UNIX_EPOCH};
use table::Fitted;
use tally::{TITLE, Tally, Truth};

/// The processor time of this thread; where the system does not tell, the time of day.
fn seconds() -> f64 {
    let text = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    let nanoseconds: Option<f64> = text.split(' ').next().and_then(|number| number.parse().ok());
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).map_or(0.0, |time| time.as_secs_f64());
    nanoseconds.map_or_else(now, |nanoseconds| 1e-9 * nanoseconds)
}

/// Whether each row is seen, as explained above.
fn seen(
    fitted: &Fitted,
    explainer: &Explainer<'_>,
    drawn: &Drawn,
    run: &Run<'_>,
) -> Result<Vec<bool>, Box<dyn Error>> {
    let mut variants: Vec<Vec<f64>> = Vec::new();
    for ((before, after), corrupted) in drawn.truth.iter().zip(&drawn.odd).zip(&drawn.corrupted) {
        // No corrupted column, the first, the last, all: for one column the first is the last.
        for columns in [&[][..], &corrupted[..1], &corrupted[corrupted.len() - 1..], &corrupted[..]] {
            let mut row = before.clone();
            for &j in columns {
                row[j] = after[j];
            }
            variants.push(row);
        }
    }
    let data = fitted.encoded(drawn, &variants)?;
    let fits = fitted.model.score(Rows::new(&data, fitted.model.width())?, run)?;
    let one = |fits: &[Fit]| {
        let standing = |k: usize| explainer.standing(fits[k].depth);
        let [none, first, last, all] = [0, 1, 2, 3].map(|k| standing(k).1);
        let least = 0.5 * f64::min(first - none + all - last, last - none + all - first);
        standing(3).0 <= 0.1 && least >= 1.0
    };
    let single = |fits: &[Fit]| {
        let [none, all] = [0, 3].map(|k| explainer.standing(fits[k].depth));
        all.0 <= 0.1 && all.1 - none.1 >= 1.0
    };
    let each = fits.chunks_exact(4).zip(&drawn.corrupted);
    Ok(each.map(|(fits, columns)| if columns.len() == 1 { single(fits) } else { one(fits) }).collect())
}

fn judge(method: Method, drawn: &Drawn, new: bool, verbose: bool) -> Result<Tally, Box<dyn Error>> {
    let mut sample = drawn.clean.clone();
    if !new {
        sample.extend_from_slice(&drawn.odd);
    }
    let fitted = Fitted::new(method, drawn, &sample)?;
    let (model, layout, width) = (&fitted.model, fitted.layout(), fitted.model.width());
    let run = Run { threads: Some(1), ..Run::default() };
    let explainer = Explainer::new(model, &run)?;
    let odd = fitted.encoded(drawn, &drawn.odd)?;
    let before = fitted.encoded(drawn, &drawn.truth)?;
    let start = seconds();
    let rows = Rows::new(&odd, width)?;
    let reasons = explainer.reasons(rows, &ReasonOptions::default(), &run)?;
    let mut tally = Tally::default();
    tally.seconds = seconds() - start;
    let seen = seen(&fitted, &explainer, drawn, &run)?;
    let all = fitted.encoded(drawn, &[&drawn.clean[..], &drawn.odd[..]].concat())?;
    let mut depths: Vec<f64> =
        model.score(Rows::new(&all, width)?, &run)?.iter().map(|fit| fit.depth).collect();
    depths.sort_by(f64::total_cmp);
    let limit = depths[drawn.odd.len().max(1) - 1];
    for (i, (reasons, corrupted)) in reasons.iter().zip(&drawn.corrupted).enumerate() {
        let (before, after) = (&before[i * width..][..width], rows.row(i));
        let (seen, found, relation) = (seen[i], reasons.depth <= limit, drawn.relation);
        tally.add(&Truth { corrupted, relation, before, after, seen, found }, reasons, &layout);
        if verbose {
            let first: Vec<String> = (reasons.columns.iter().take(4))
                .map(|r| {
                    let by = r.fits.as_ref().map_or(&[][..], |fits| &fits.determined_by);
                    format!("{} ({:.1} bits, by {by:?})", r.column, r.contribution)
                })
                .collect();
            let change = reasons.counterfactual.as_ref().map(|change| (&change.columns, change.percentile));
            eprintln!(
                "{i}: corrupted {corrupted:?}, seen {seen}, found {found}, {:.1} to {:.1} bits, {}, {change:?}",
                reasons.outlyingness,
                reasons.baseline,
                first.join(", ")
            );
        }
    }
    Ok(tally)
}

fn save(drawn: &Drawn, path: &Path) -> Result<(), Box<dyn Error>> {
    let mut text = String::new();
    let none = vec![Vec::new(); drawn.clean.len()];
    let rows = drawn.clean.iter().chain(&drawn.odd);
    for (row, corrupted) in rows.zip(none.iter().chain(&drawn.corrupted)) {
        for value in row {
            write!(text, "{value},")?;
        }
        let names: Vec<String> = corrupted.iter().map(ToString::to_string).collect();
        writeln!(text, "{}", names.join(" "))?;
    }
    Ok(std::fs::write(path, text)?)
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let (mut methods, mut names) = (String::from("auto,svm,logistic,forest,gp"), String::from("developed"));
    let (mut new, mut verbose, mut write, mut size, mut rows) = (false, false, None, 1000, 25);
    let mut seed = 2026;
    while let Some(argument) = arguments.next() {
        let mut value = || arguments.next().ok_or(format!("{argument} needs a value"));
        match argument.as_str() {
            "--methods" => methods = value()?,
            "--designs" => names = value()?,
            "--rows" => rows = value()?.parse()?,
            "--seed" => seed = value()?.parse()?,
            "--size" => size = value()?.parse()?,
            "--write" => write = Some(value()?),
            "--new" => new = true,
            "--verbose" => verbose = true,
            other => return Err(format!("unknown argument {other}").into()),
        }
    }
    let tables: Vec<(&str, Drawn)> =
        chosen(&names).into_iter().map(|design| (design.name, design.drawn(seed, size, rows))).collect();
    if let Some(folder) = write {
        for (name, drawn) in &tables {
            save(drawn, &Path::new(&folder).join(format!("{name}.csv")))?;
        }
    }
    println!("{TITLE}");
    for name in methods.split(',').filter(|name| !name.is_empty()) {
        let mut all = Tally::default();
        for (table, drawn) in &tables {
            let tally = judge(name.parse()?, drawn, new, verbose)?;
            println!("{}", tally.line(name, table));
            all.join(&tally);
        }
        println!("{}", all.line(name, "**all**"));
    }
    Ok(())
}
