//! Two samples, for `compare` and its DD-plot.

use crate::convert::{count, method, numbers, settings, texts, threads};
use crate::failure::{Answer, given};
use crate::interrupt::interruptible;
use crate::model::within_memory;
use crate::table::{described, options, table};
use extendr_api::prelude::*;
use lossdepth::Run;
use lossdepth::data::{EncodingOptions, Table};
use lossdepth::stats::two_sample::{ColumnShift, CompareOptions, Comparison, DepthPairs};

/// Two tables, and how to compare them.
struct Question {
    tables: [Table; 2],
    weights: [Option<Vec<f64>>; 2],
    encoding: EncodingOptions,
    asked: CompareOptions,
    threads: Option<usize>,
}

impl Question {
    /// From a list: both tables, both weights, tests, method, settings, kinds, missing, permutations, seed, most rows, threads.
    fn read(asked: &Robj) -> Answer<Self> {
        let parts: Vec<Robj> = asked.as_list().map_or_else(Vec::new, |list| list.values().collect());
        let [
            first,
            second,
            above,
            below,
            tests,
            name,
            values,
            kinds,
            missing,
            permutations,
            seed,
            most,
            threads,
        ] = &parts[..]
        else {
            return Err(crate::failure::Failure::new("a comparison must be a list of thirteen"));
        };
        let counted = |name: &str, value: &Robj| {
            count(name, value).map(|count| usize::try_from(count).unwrap_or(usize::MAX))
        };
        let tables = [table(first)?, table(second)?];
        let settings = settings(method(name)?, values, &NULL.into(), tables[0].rows() as f64)?;
        let tests = texts("tests", tests)?.iter().map(|test| test.parse()).collect::<Result<_, _>>()?;
        Ok(Self {
            weights: [numbers("weights", above)?, numbers("weights", below)?],
            encoding: options(kinds, missing, true)?,
            asked: CompareOptions {
                tests,
                settings: within_memory(&settings),
                permutations: counted("permutations", permutations)?,
                seed: count("seed", seed)?,
                max_rows: counted("max_rows", most)?,
            },
            threads: self::threads(threads)?,
            tables,
        })
    }

    /// Runs one of the library's functions on the tables, apart from R.
    fn answer<T: Send + 'static>(
        self,
        work: impl FnOnce(
            [&Table; 2],
            [Option<&[f64]>; 2],
            &EncodingOptions,
            &CompareOptions,
            &Run<'_>,
        ) -> lossdepth::Result<T>
        + Send
        + 'static,
    ) -> Answer<T> {
        interruptible(move |cancel| {
            let run = Run { threads: self.threads, cancel: Some(cancel), ..Run::default() };
            let (tables, weights) = (self.tables.each_ref(), self.weights.each_ref().map(Option::as_deref));
            Ok(work(tables, weights, &self.encoding, &self.asked, &run)?)
        })
    }
}

/// Tests of whether two tables come from one distribution, and how each column moved.
#[extendr]
fn native_compare(asked: Robj) -> Robj {
    given(compare(&asked))
}

fn compare(asked: &Robj) -> Answer<Robj> {
    let (found, encoding) = Question::read(asked)?.answer(Comparison::of_tables)?;
    let tests = found.tests.iter();
    let test = |value: fn(&lossdepth::stats::two_sample::TestResult) -> f64| {
        tests.clone().map(value).collect::<Vec<f64>>()
    };
    let columns = found.columns.iter();
    let column = |value: fn(&ColumnShift) -> f64| columns.clone().map(value).collect::<Vec<f64>>();
    let (what, ends): (Vec<String>, Vec<[String; 2]>) =
        columns.clone().map(|column| column.shifted.in_words()).unzip();
    let end = |k: usize| ends.iter().map(|end| end[k].as_str()).collect::<Vec<&str>>();
    Ok(list!(
        encoding = described(&encoding),
        rows = found.rows.map(|rows| rows as f64).to_vec(),
        used = found.used.map(|rows| rows as f64).to_vec(),
        unmatched = found.left_out,
        tests = list!(
            test = tests.clone().map(|test| test.test.name()).collect::<Vec<&str>>(),
            statistic = test(|test| test.statistic),
            p = test(|test| test.p),
            adjusted = test(|test| test.adjusted)
        ),
        shifts = list!(
            column = columns.clone().map(|column| column.name.as_str()).collect::<Vec<&str>>(),
            what = what,
            first = end(0),
            second = end(1),
            distance = column(|column| column.distance),
            p = column(|column| column.p),
            adjusted = column(|column| column.adjusted)
        )
    )
    .into())
}

/// The depths of both samples in each other: for each a vector of depths in the first, then in the second.
#[extendr]
fn native_depth_pairs(asked: Robj) -> Robj {
    given(depth_pairs(&asked))
}

fn depth_pairs(asked: &Robj) -> Answer<Robj> {
    let DepthPairs { first, second } = Question::read(asked)?.answer(DepthPairs::of_tables)?;
    let flat = |pairs: Vec<[f64; 2]>| {
        [0, 1].map(|k| pairs.iter().map(|pair| pair[k]).collect::<Vec<f64>>()).concat()
    };
    Ok(list!(first = flat(first), second = flat(second)).into())
}

extendr_module! {
    mod two_sample;
    fn native_compare;
    fn native_depth_pairs;
}
