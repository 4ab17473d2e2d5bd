//! Throwaway.
use lossdepth::{Method, Reference, Rows, Run, Settings};
use std::io::Write;
fn read(p: &str) -> Vec<f64> {
    std::fs::read(p).unwrap().chunks_exact(8).map(|b| f64::from_le_bytes(b.try_into().unwrap())).collect()
}
fn main() {
    for base in std::env::args().skip(1) {
        let width: usize = std::fs::read_to_string(format!("{base}.w")).unwrap().trim().parse().unwrap();
        let r = read(&format!("{base}.r.bin"));
        let qp = format!("{base}.q.bin");
        let q = if std::path::Path::new(&qp).exists() { read(&qp) } else { r.clone() };
        let model =
            match Reference::from_vec(r, width, None).and_then(|s| Settings::new(Method::Auto).fit(&s)) {
                Ok(m) => m,
                Err(e) => {
                    eprintln!("{base} {e}");
                    continue;
                }
            };
        let fits =
            model.score(Rows::new(&q, width).unwrap(), &Run { threads: Some(1), ..Run::default() }).unwrap();
        let mut f = std::fs::File::create(format!("{base}.new.csv")).unwrap();
        for fit in fits {
            writeln!(f, "{:e}", fit.depth).unwrap();
        }
    }
}
