//! IDX: one array of images or labels, as MNIST comes. An image is a row.

use super::arrays::{self, Array, Data, cut_off};
use super::open::{self, Input, Opened};
use super::scalar::{Kind, Scalar};
use crate::error::Problem;
use std::io::Read;
use std::path::{Path, PathBuf};

const IDX: &str = "IDX";

/// Opens an array; the labels next to images become `y`.
pub(super) fn open(input: Input, path: &Path) -> Opened {
    let images = read(input, "X")?;
    let Some(beside) = labels_of(path) else { return arrays::one(IDX, images) };
    let name = beside.display().to_string();
    let blame = |problem: &Problem| Problem::Unsupported(format!("its labels, {name}: {problem}"));
    let labels =
        open::beside(&beside).and_then(|input| read(input, "y")).map_err(|problem| blame(&problem))?;
    if labels.shape != [images.rows()] {
        let (got, expected) = (labels.rows(), images.rows());
        return Err(Problem::Unsupported(format!("{expected} images, but {got} labels in {name}")));
    }
    arrays::table(IDX, images, vec![labels])
}

/// `train-images-idx3-ubyte.gz` has its labels in `train-labels-idx1-ubyte.gz`, packed or not.
fn labels_of(path: &Path) -> Option<PathBuf> {
    let name = path.file_name()?.to_str()?;
    let (before, after) = name.split_once("images")?;
    let after = after.replacen("idx3", "idx1", 1);
    let plain = after.strip_suffix(".gz").unwrap_or(&after);
    let candidates = [after.clone(), plain.to_owned(), format!("{plain}.gz")];
    let paths = candidates.iter().map(|after| path.with_file_name(format!("{before}labels{after}")));
    paths.into_iter().find(|path| path.is_file())
}

fn read(input: Input, name: &str) -> Result<Array, Problem> {
    let (mut stream, length) = input.stream()?;
    let mut head = [0; 4];
    stream.read_exact(&mut head).map_err(|_| cut_off(IDX))?;
    let [0, 0, kind, dimensions @ 1..=u8::MAX] = head else {
        return Err(Problem::Damaged { format: IDX, why: "it does not start as one".to_owned() });
    };
    let (kind, size) = match kind {
        8 => (Kind::Unsigned, 1),
        9 => (Kind::Signed, 1),
        11 => (Kind::Signed, 2),
        12 => (Kind::Signed, 4),
        13 => (Kind::Float, 4),
        14 => (Kind::Float, 8),
        other => return Err(Problem::Unsupported(format!("IDX values of type {other:#04x} are not known"))),
    };
    let mut shape = Vec::new();
    for _ in 0..dimensions {
        let mut bytes = [0; 4];
        stream.read_exact(&mut bytes).map_err(|_| cut_off(IDX))?;
        shape.push(u64::from(u32::from_be_bytes(bytes)));
    }
    let scalar = Scalar { kind, size, big_endian: true };
    let array = Array { name: name.to_owned(), shape, scalar, data: Data::Rows(stream) };
    let start = 4 + 4 * u64::from(dimensions);
    if length.is_some_and(|length| array.size() > length.saturating_sub(start)) {
        return Err(cut_off(IDX));
    }
    Ok(array)
}
