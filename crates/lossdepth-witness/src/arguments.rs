//! The command line.

use crate::formulation::{Intercept, Problem, Variant};
use crate::generator::Kind;
use crate::loss::Loss;

pub(crate) const HELP: &str = "\
Checks the errors that the linear depths report against exact depths, in 77 digits.

  --problems N     how many problems (200000)
  --seed S         which problems (1)
  --threads T      how many threads (all)
  --kind LIST      only problems of these kinds, separated by commas
  --loss LIST      only these losses
  --variant LIST   only these variants
  --intercept LIST only these intercepts
  --only INDEX     one problem of the seed, with everything about it
  --show N         how many lines on single problems to print (all)

Kinds: plain, scales, offsets, collinear, drowned, duplicates, member (the query is a row), centre, outlier,
extreme, underdetermined (more columns than rows), tiny, large, long, mixed.
Losses: logistic, hinge, squared-hinge, exponential, and of a user: cubed-exponential, smoothed-hinge.
Variants: risk, objective, constrained. Intercepts: free, penalised, none.

A filter skips problems, it does not change them: an index means the same problem with and without it.
Exit status: 0 all errors are bounds, 1 some are not, 2 wrong arguments.
";

/// What was asked for.
#[derive(Debug)]
pub(crate) struct Arguments {
    pub(crate) problems: usize,
    pub(crate) seed: u64,
    pub(crate) threads: usize,
    pub(crate) only: Option<u64>,
    pub(crate) show: usize,
    pub(crate) help: bool,
    kinds: Vec<&'static str>,
    losses: Vec<&'static str>,
    variants: Vec<&'static str>,
    intercepts: Vec<&'static str>,
}

/// The names of a list, each of which must be known.
fn names(flag: &str, list: &str, known: &[&'static str]) -> Result<Vec<&'static str>, String> {
    let find = |name: &str| {
        known
            .iter()
            .copied()
            .find(|k| *k == name)
            .ok_or_else(|| format!("{flag}: `{name}` is not one of {}", known.join(", ")))
    };
    list.split(',').map(find).collect()
}

impl Arguments {
    pub(crate) fn parse(mut words: impl Iterator<Item = String>) -> Result<Self, String> {
        let mut parsed = Self {
            problems: 200_000,
            seed: 1,
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            only: None,
            show: usize::MAX,
            help: false,
            kinds: Vec::new(),
            losses: Vec::new(),
            variants: Vec::new(),
            intercepts: Vec::new(),
        };
        while let Some(flag) = words.next() {
            if flag == "--help" || flag == "-h" {
                parsed.help = true;
                continue;
            }
            let known = [
                "--problems",
                "--seed",
                "--threads",
                "--only",
                "--show",
                "--kind",
                "--loss",
                "--variant",
                "--intercept",
            ];
            if !known.contains(&flag.as_str()) {
                return Err(format!("unknown argument `{flag}`; --help lists them"));
            }
            let value = words.next().ok_or_else(|| format!("{flag} needs a value"))?;
            let number =
                || value.parse::<u64>().map_err(|_| format!("{flag}: `{value}` is not a whole number"));
            let size = || number().map(|x| usize::try_from(x).unwrap_or(usize::MAX));
            match flag.as_str() {
                "--problems" => parsed.problems = size()?,
                "--seed" => parsed.seed = number()?,
                "--threads" => parsed.threads = size()?.max(1),
                "--only" => parsed.only = Some(number()?),
                "--show" => parsed.show = size()?,
                "--kind" => parsed.kinds = names(&flag, &value, &Kind::ALL.map(Kind::name))?,
                "--loss" => parsed.losses = names(&flag, &value, &Loss::ALL.map(Loss::name))?,
                "--variant" => parsed.variants = names(&flag, &value, &Variant::NAMES)?,
                _ => parsed.intercepts = names(&flag, &value, &Intercept::ALL.map(Intercept::name))?,
            }
        }
        Ok(parsed)
    }

    /// Whether a problem passes the filters.
    pub(crate) fn wants(&self, kind: Kind, problem: &Problem) -> bool {
        let within = |list: &[&str], name: &str| list.is_empty() || list.contains(&name);
        within(&self.kinds, kind.name())
            && within(&self.losses, problem.loss.name())
            && within(&self.variants, problem.variant.name())
            && within(&self.intercepts, problem.intercept.name())
    }
}
