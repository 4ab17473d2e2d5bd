use lossdepth::hypothesis::Svm;
use lossdepth::{Depth, Intercept, Reference, Rows, Run, Variant};
use std::time::Duration;
fn cpu() -> Duration {
    let t = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap();
    Duration::from_nanos(t.split(' ').next().unwrap().parse().unwrap())
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let text = std::fs::read_to_string(&args[1]).unwrap();
    let rows: Vec<Vec<f64>> =
        text.lines().map(|l| l.split(',').map(|x| x.parse().unwrap()).collect()).collect();
    let n = rows.len();
    let sample = Reference::new(&rows).unwrap();
    let data = rows.concat();
    let many: usize = args.get(2).map_or(n, |x| x.parse().unwrap()).min(n);
    let queries = Rows::new(&data[..many * rows[0].len()], rows[0].len()).unwrap();
    let regs: Vec<f64> = if args.len() > 3 {
        args[3..].iter().map(|x| x.parse().unwrap()).collect()
    } else {
        vec![1.0, 0.05, 0.005, 1.0 / (2.0 * n as f64 + 2.0)]
    };
    for reg in regs {
        for intercept in [Intercept::Free] {
            for variant in [Variant::Risk] {
                let t = cpu();
                let depth = Depth::new(Svm::new().reg(reg).intercept(intercept).variant(variant))
                    .fit(&sample)
                    .unwrap();
                let prep = cpu() - t;
                let t = cpu();
                let run = Run { threads: Some(1), ..Run::default() };
                let one = depth.score_with(&queries.range(0, 1), &run).unwrap();
                let first = cpu() - t;
                let t = cpu();
                let fits = depth.score_with(&queries, &run).unwrap();
                let all = cpu() - t;
                assert_eq!(one[0], fits[0]);
                let worst = fits.iter().map(|f| f.error).fold(0.0, f64::max);
                let it = fits.iter().map(|f| f.iterations).sum::<usize>() as f64 / many as f64;
                println!(
                    "reg {reg:.2e} {intercept:9} {variant:?} prep {prep:?} first {first:?} each {:?} worst {worst:.1e} rounds {it:.1} mean {:.6}",
                    all / many as u32,
                    fits.iter().map(|f| f.depth).sum::<f64>() / many as f64
                );
            }
        }
    }
}
