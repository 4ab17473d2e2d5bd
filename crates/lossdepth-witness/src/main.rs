//! Checks the errors that the linear depths report against exact depths, in 77 digits, on random and hostile problems.
//!
//! `error` is a bound on |depth - exact|. Here the exact depth comes from a program that shares no code with the library: its own
//! arithmetic ([`double_double`], [`wide`]), its own solvers ([`newton`], [`interior_point`]) and its own proof by duality
//! ([`certificate`]), from the rows, weights and settings as they are given. Only [`subject`] knows the library.

mod arguments;
mod certificate;
mod double_double;
mod formulation;
mod generator;
mod interior_point;
mod linalg;
mod loss;
mod newton;
mod random;
mod real;
mod report;
mod subject;
mod verdict;
mod wide;
mod witness;

use arguments::Arguments;
use generator::{Generated, generate, indices};
use real::Real;
use report::Report;
use std::process::ExitCode;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};
use verdict::Verdict;

fn main() -> ExitCode {
    let arguments = match Arguments::parse(std::env::args().skip(1)) {
        Ok(arguments) => arguments,
        Err(message) => {
            eprintln!("{message}");
            return ExitCode::from(2);
        }
    };
    if arguments.help {
        print!("{}", arguments::HELP);
        return ExitCode::SUCCESS;
    }
    let clean = match arguments.only {
        Some(index) => replay(arguments.seed, index),
        None => run(&arguments),
    };
    ExitCode::from(u8::from(!clean))
}

/// Many problems; says whether every error is a bound.
fn run(arguments: &Arguments) -> bool {
    let indices = indices(arguments.seed, arguments.problems, |kind, problem| arguments.wants(kind, problem));
    let (next, finished, violated) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicUsize::new(0));
    let begin = Instant::now();
    let mut report = Report::default();
    thread::scope(|scope| {
        let work = || {
            let mut report = Report::default();
            while let Some(&index) = indices.get(next.fetch_add(1, Ordering::Relaxed)) {
                let holds = check(&generate(arguments.seed, index), &mut report);
                violated.fetch_add(usize::from(!holds), Ordering::Relaxed);
                finished.fetch_add(1, Ordering::Relaxed);
            }
            report
        };
        let workers: Vec<_> = (0..arguments.threads).map(|_| scope.spawn(work)).collect();
        let mut last = Instant::now();
        while workers.iter().any(|worker| !worker.is_finished()) {
            thread::sleep(Duration::from_millis(50));
            if last.elapsed() > Duration::from_secs(30) {
                last = Instant::now();
                let [finished, violated] = [&finished, &violated].map(|count| count.load(Ordering::Relaxed));
                let (all, seconds) = (indices.len(), begin.elapsed().as_secs());
                eprintln!("{finished} of {all} after {seconds} s, {violated} violated");
            }
        }
        for worker in workers {
            match worker.join() {
                Ok(part) => report.merge(part),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
    });
    println!("seed {0}; --seed {0} --only INDEX replays a problem", arguments.seed);
    report.print(arguments.show);
    report.is_clean()
}

/// Adds one problem to a report; says whether its error is a bound, as far as is known.
fn check(generated: &Generated, report: &mut Report) -> bool {
    let begin = Instant::now();
    let answer = subject::answer(&generated.problem);
    report.asking += begin.elapsed();
    match answer {
        Ok(answer) => {
            let begin = Instant::now();
            let examined = verdict::examine(&generated.problem, answer);
            report.solving += begin.elapsed();
            report.add(generated, &examined);
            examined.verdict != Verdict::Violated
        }
        Err(why) => {
            report.add_failure(generated, &why);
            false
        }
    }
}

/// One problem, with everything about it; says whether its error is a bound.
fn replay(seed: u64, index: u64) -> bool {
    let generated = generate(seed, index);
    let problem = &generated.problem;
    println!("seed {seed}, {}", report::describe(&generated));
    println!("reg {:?}, tol {:?}, {:?}, {:?}", problem.reg, problem.tol, problem.variant, problem.intercept);
    for (i, row) in problem.rows.iter().enumerate() {
        let weight = problem.weights.as_ref().map_or(1.0, |weights| weights[i]);
        println!("row {i} weight {weight:?} {row:?}");
    }
    println!("query {:?}", problem.query);
    match subject::answer(problem) {
        Err(why) => {
            println!("library: {why}");
            false
        }
        Ok(answer) => {
            let examined = verdict::examine(problem, answer);
            println!("library: depth {:e} error {:e}", answer.depth, answer.error);
            println!("library: converged {} after {} iterations", answer.converged, answer.iterations);
            if let Some(witness) = &examined.witness {
                let proven = &witness.proven;
                println!("exact: {} ({:?})", proven.value.decimal(40), witness.path);
                println!("exact: to within {}, gap {}", proven.bound.decimal(3), proven.gap.decimal(3));
                let theta: Vec<f64> = proven.theta.iter().map(|x| x.to_f64()).collect();
                println!("exact: classifier {theta:?} (a free intercept belongs to x - query)");
            }
            println!("{:?}: off by {:e}, {:e} of the error", examined.verdict, examined.off, examined.ratio);
            examined.verdict != Verdict::Violated
        }
    }
}
