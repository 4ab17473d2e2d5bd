//! Every reader, on files that are damaged, cut, spliced, or noise: an answer or an error, never a panic.
//!
//! `FUZZ` is how many inputs each format gets; `scripts/fuzz` asks for a million, with a limit on the memory. In the folder
//! `FUZZ_KEEP` the last input of each format remains, should the program die of it.
// The sizes are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]

use crate::build::{gzip, sample};
use lossdepth_cli::testing::read;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::PathBuf;

/// A small generator: the same inputs in every run.
pub(crate) struct Noise(pub(crate) u64);

impl Noise {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        usize::try_from(self.next() % n.max(1) as u64).unwrap()
    }

    fn byte(&mut self) -> u8 {
        const TELLING: [u8; 8] = [0, 1, 2, 0x7f, 0x80, 0xff, b',', b'"'];
        let pick = self.below(16);
        TELLING.get(pick).copied().unwrap_or(self.next() as u8)
    }

    /// Changes a file in one of the ways in which files go wrong.
    fn damage(&mut self, bytes: &mut Vec<u8>) {
        let length = bytes.len();
        if length == 0 {
            bytes.push(self.byte());
            return;
        }
        // Headers and footers are where it hurts.
        let at = match self.below(3) {
            0 => self.below(length.min(200)),
            1 => length - 1 - self.below(length.min(400)),
            _ => self.below(length),
        };
        match self.below(8) {
            0 => bytes[at] ^= 1 << self.below(8),
            1 => bytes.truncate(at),
            2 => {
                bytes.remove(at);
            }
            3 => bytes.insert(at, self.byte()),
            4 => {
                let end = (at + 1 + self.below(16)).min(length);
                bytes[at..end].fill_with(|| self.byte());
            }
            5 => {
                // A number that is too large, in either order.
                let value = [u32::MAX, i32::MAX as u32, 1 << 31, 1 << 24, 65_536][self.below(5)];
                let word = if self.below(2) == 0 { value.to_le_bytes() } else { value.to_be_bytes() };
                let end = (at + 4).min(length);
                bytes[at..end].copy_from_slice(&word[..end - at]);
            }
            6 => {
                let (from, size) = (self.below(length), 1 + self.below(32));
                let copy = bytes[from..(from + size).min(length)].to_vec();
                bytes.splice(at..at, copy);
            }
            _ => bytes[at] = self.byte(),
        }
    }
}

/// Damages the files of these names; `FUZZ` times in all.
fn fuzz(seed: u64, names: &[&str], packed: bool) {
    let files: Vec<(&str, Vec<u8>)> =
        sample(12).everywhere().into_iter().filter(|(name, _)| names.contains(name)).collect();
    assert_eq!(files.len(), names.len());
    fuzz_files(seed, &files, packed);
}

fn fuzz_files(seed: u64, files: &[(&str, Vec<u8>)], packed: bool) {
    let inputs: usize = std::env::var("FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let keep = std::env::var_os("FUZZ_KEEP")
        .map(|folder| PathBuf::from(folder).join(format!("last-{}", files[0].0)));
    let mut noise = Noise(seed);
    let mut read_well = 0;
    for input in 0..inputs {
        let (name, file) = &files[noise.below(files.len())];
        let mut bytes = file.clone();
        if input % 20 == 19 {
            // Noise behind a good start, or noise alone.
            bytes.truncate([0, 4, 8, 128][noise.below(4)]);
            let more = noise.below(300);
            bytes.extend((0..more).map(|_| noise.byte()));
        } else {
            for _ in 0..=noise.below(4) {
                noise.damage(&mut bytes);
            }
        }
        if packed {
            bytes = gzip(&bytes);
        }
        let piece = [1, 5, usize::MAX][noise.below(3)];
        let kept = bytes.clone();
        if let Some(path) = &keep {
            std::fs::write(path, &kept).unwrap();
        }
        let Ok(answer) = catch_unwind(AssertUnwindSafe(|| read(name, bytes, piece))) else {
            let path = std::env::temp_dir().join(format!("found-{input}-{name}"));
            std::fs::write(&path, kept).unwrap();
            panic!("input {input} of {name} brings the reader to a panic: kept in {}", path.display());
        };
        read_well += usize::from(answer.is_ok());
    }
    // If all or none can be read, the damage is not what it should be.
    assert!(read_well > 0 && read_well < inputs, "{read_well} of {inputs} read");
}

#[test]
fn text() {
    fuzz(1, &["t.csv"], false);
}

#[test]
fn arff() {
    let rows = "@attribute kind {a, 'b c'}\n@data\n1.5, a\n{0 2, 1 'b c'}\n?, \"b c\" % last\n{}\n";
    let sparse = format!("@RELATION 'two words'\n@attribute x numeric\n{rows}");
    fuzz_files(13, &[("t.arff", sample(12).arff()), ("sparse.arff", sparse.into_bytes())], false);
}

#[test]
fn gzipped() {
    fuzz(2, &["t.csv.gz", "t.npy.gz", "fortran.npy.gz", "t-idx2-double.gz"], false);
    fuzz(3, &["t.csv", "fortran.npy", "t-idx2-double", "t.arrow"], true);
}

#[test]
fn npy() {
    fuzz(4, &["t.npy", "fortran.npy"], false);
}

#[test]
fn npz() {
    fuzz(5, &["t.npz", "fortran.npz", "deflate.npz", "deflate-fortran.npz"], false);
}

#[test]
fn mat() {
    fuzz(6, &["t.mat", "packed.mat", "big.mat", "packed-big.mat"], false);
}

#[test]
fn idx() {
    fuzz(7, &["t-idx2-double"], false);
}

#[test]
fn parquet() {
    fuzz(8, &["t.parquet", "snappy.parquet", "zstd.parquet", "lz4.parquet", "gzip.parquet"], false);
}

#[test]
fn arrow_file() {
    fuzz(9, &["t.arrow", "lz4.feather", "zstd.feather"], false);
}

#[test]
fn arrow_stream() {
    fuzz(10, &["t.arrows"], false);
}

#[test]
fn workbooks() {
    let folder = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messy"));
    let names = ["invoices.xlsx", "calc.ods", "old_excel.xls"];
    let files: Vec<(&str, Vec<u8>)> =
        names.iter().map(|name| (*name, std::fs::read(folder.join(name)).unwrap())).collect();
    fuzz_files(11, &files, false);
}

#[test]
fn json() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/messy/events.jsonl");
    let lines = std::fs::read_to_string(path).unwrap();
    let array = format!("[{}]", lines.trim_end().replace('\n', ",\n"));
    fuzz_files(12, &[("events.jsonl", lines.into_bytes()), ("events.json", array.into_bytes())], false);
}

/// What was found before stays found.
#[test]
fn found_before() {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/corpus");
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let name = path.file_name().unwrap().to_str().unwrap().to_owned();
        // Rows of nothing take no bytes, and a few of them are no harm.
        let is_fine = name == "claims-dictionary.arrows";
        assert!(read(&name, std::fs::read(&path).unwrap(), 5).is_err() || is_fine, "{name}");
    }
}
