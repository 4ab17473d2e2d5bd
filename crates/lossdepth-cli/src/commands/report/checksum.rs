//! Checksums of files, for an audit.

use super::file_name;
use lossdepth_plot::report::Fact;
use sha2::{Digest, Sha256};
use std::fmt::Write as _;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};

/// Of each regular file; others cannot be read twice.
pub(super) fn of_files<'a>(paths: impl Iterator<Item = &'a PathBuf>) -> Vec<Fact> {
    let fact =
        |path: &PathBuf| checksum(path).map(|sum| Fact::new(format!("SHA-256 of {}", file_name(path)), sum));
    paths.filter_map(fact).collect()
}

fn checksum(path: &Path) -> Option<String> {
    let mut file = File::open(path).ok().filter(|file| file.metadata().is_ok_and(|about| about.is_file()))?;
    let mut hash = Writer(Sha256::new());
    io::copy(&mut file, &mut hash).ok()?;
    Some(hash.0.finalize().iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    }))
}

/// Takes what is written into a sum.
struct Writer(Sha256);

impl io::Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.update(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
