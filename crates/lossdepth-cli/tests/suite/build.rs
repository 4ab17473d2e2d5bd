//! Small files of every format, made by hand or by the libraries of the formats.
// The sizes are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap)]

use arrow_array::{ArrayRef, Float64Array, RecordBatch};
use arrow_ipc::CompressionType;
use arrow_ipc::writer::{FileWriter, IpcWriteOptions, StreamWriter};
use flate2::Compression;
use flate2::write::{DeflateEncoder, GzEncoder, ZlibEncoder};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression as Codec, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Write;
use std::sync::Arc;

/// A table of three columns: numbers that need all their digits, a label.
pub(crate) struct Sample {
    pub(crate) rows: Vec<[f64; 3]>,
    pub(crate) labels: Vec<u8>,
}

/// The same rows every time.
pub(crate) fn sample(rows: usize) -> Sample {
    let value = |i: usize, j: usize| ((i * 7 + j * 3 + 1) as f64).sin() * 10f64.powi(j as i32 * 3);
    Sample {
        rows: (0..rows).map(|i| [value(i, 0), value(i, 1), value(i, 2)]).collect(),
        labels: (0..rows).map(|i| u8::from(i % 5 == 4)).collect(),
    }
}

impl Sample {
    pub(crate) fn values(&self) -> Vec<f64> {
        self.rows.concat()
    }

    fn column(&self, j: usize) -> Vec<f64> {
        self.rows.iter().map(|row| row[j]).collect()
    }

    fn by_columns(&self) -> Vec<f64> {
        (0..3).flat_map(|j| self.column(j)).collect()
    }

    pub(crate) fn csv(&self) -> Vec<u8> {
        let line = |row: &[f64; 3]| format!("{:?},{:?},{:?}\n", row[0], row[1], row[2]);
        ("a,b,c\n".to_owned() + &self.rows.iter().map(line).collect::<String>()).into_bytes()
    }

    pub(crate) fn arff(&self) -> Vec<u8> {
        let head =
            "% made\n@relation t\n@attribute a numeric\n@attribute 'b' REAL\n@attribute c real\n@data\n";
        let line = |row: &[f64; 3]| format!("{:?}, {:?},{:?}\n", row[0], row[1], row[2]);
        (head.to_owned() + &self.rows.iter().map(line).collect::<String>()).into_bytes()
    }

    pub(crate) fn batch(&self) -> RecordBatch {
        let column = |j| Arc::new(Float64Array::from(self.column(j))) as ArrayRef;
        RecordBatch::try_from_iter([("a", column(0)), ("b", column(1)), ("c", column(2))]).unwrap()
    }

    /// As NumPy would save it.
    pub(crate) fn npy(&self, column_major: bool) -> Vec<u8> {
        let values = if column_major { self.by_columns() } else { self.values() };
        let bytes: Vec<u8> = values.iter().flat_map(|v| v.to_le_bytes()).collect();
        npy("<f8", column_major, &format!("({}, 3)", self.rows.len()), &bytes)
    }

    pub(crate) fn npz(&self, deflate: bool, column_major: bool) -> Vec<u8> {
        let y = npy("|u1", false, &format!("({},)", self.labels.len()), &self.labels);
        zip(&[("X.npy", self.npy(column_major)), ("y.npy", y)], deflate)
    }

    pub(crate) fn mat(&self, packed: bool, big: bool) -> Vec<u8> {
        let rows = self.rows.len() as u32;
        let put = |v: &f64| if big { v.to_be_bytes() } else { v.to_le_bytes() };
        let x: Vec<u8> = self.by_columns().iter().flat_map(put).collect();
        let elements =
            [matrix("X", 6, [rows, 3], 9, &x, big), matrix("y", 6, [rows, 1], 2, &self.labels, big)];
        mat(&elements, packed, big)
    }

    pub(crate) fn idx(&self) -> Vec<u8> {
        let values: Vec<u8> = self.values().iter().flat_map(|v| v.to_be_bytes()).collect();
        idx(14, &[self.rows.len() as u32, 3], &values)
    }

    pub(crate) fn parquet(&self, codec: Codec) -> Vec<u8> {
        parquet(&self.batch(), codec)
    }

    pub(crate) fn arrow(&self, compression: Option<CompressionType>) -> Vec<u8> {
        arrow(&self.batch(), compression)
    }

    pub(crate) fn arrow_stream(&self) -> Vec<u8> {
        let batch = self.batch();
        let mut writer = StreamWriter::try_new(Vec::new(), &batch.schema()).unwrap();
        let half = batch.num_rows() / 2;
        writer.write(&batch.slice(0, half)).unwrap();
        writer.write(&batch.slice(half, batch.num_rows() - half)).unwrap();
        writer.into_inner().unwrap()
    }

    /// Every format, with a name that fits.
    pub(crate) fn everywhere(&self) -> Vec<(&'static str, Vec<u8>)> {
        let zstd = Codec::ZSTD(ZstdLevel::default());
        vec![
            ("t.csv", self.csv()),
            ("t.arff", self.arff()),
            ("t.csv.gz", gzip(&self.csv())),
            ("t.npy", self.npy(false)),
            ("fortran.npy", self.npy(true)),
            ("t.npy.gz", gzip(&self.npy(false))),
            ("fortran.npy.gz", gzip(&self.npy(true))),
            ("t.npz", self.npz(false, false)),
            ("fortran.npz", self.npz(false, true)),
            ("deflate.npz", self.npz(true, false)),
            ("deflate-fortran.npz", self.npz(true, true)),
            ("t.mat", self.mat(false, false)),
            ("packed.mat", self.mat(true, false)),
            ("big.mat", self.mat(false, true)),
            ("packed-big.mat", self.mat(true, true)),
            ("t-idx2-double", self.idx()),
            ("t-idx2-double.gz", gzip(&self.idx())),
            ("t.parquet", self.parquet(Codec::UNCOMPRESSED)),
            ("snappy.parquet", self.parquet(Codec::SNAPPY)),
            ("zstd.parquet", self.parquet(zstd)),
            ("lz4.parquet", self.parquet(Codec::LZ4_RAW)),
            ("gzip.parquet", self.parquet(Codec::GZIP(GzipLevel::default()))),
            ("t.parquet.gz", gzip(&self.parquet(Codec::UNCOMPRESSED))),
            ("t.arrow", self.arrow(None)),
            ("lz4.feather", self.arrow(Some(CompressionType::LZ4_FRAME))),
            ("zstd.feather", self.arrow(Some(CompressionType::ZSTD))),
            ("t.arrows", self.arrow_stream()),
        ]
    }
}

pub(crate) fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

pub(crate) fn npy(descr: &str, column_major: bool, shape: &str, bytes: &[u8]) -> Vec<u8> {
    let order = if column_major { "True" } else { "False" };
    let mut head = format!("{{'descr': '{descr}', 'fortran_order': {order}, 'shape': {shape}, }}");
    head += &" ".repeat(63 - (10 + head.len()) % 64);
    head.push('\n');
    let length = u16::try_from(head.len()).unwrap().to_le_bytes();
    [b"\x93NUMPY\x01\x00", &length[..], head.as_bytes(), bytes].concat()
}

pub(crate) fn zip(files: &[(&str, Vec<u8>)], deflate: bool) -> Vec<u8> {
    let (mut archive, mut directory) = (Vec::new(), Vec::new());
    for (name, bytes) in files {
        let mut crc = flate2::Crc::new();
        crc.update(bytes);
        let packed = if deflate {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            encoder.finish().unwrap()
        } else {
            bytes.clone()
        };
        let start = archive.len() as u32;
        let method = if deflate { 8u16 } else { 0 };
        let common = [
            &20u16.to_le_bytes()[..],
            &[0; 2],
            &method.to_le_bytes(),
            &[0; 4],
            &crc.sum().to_le_bytes(),
            &(packed.len() as u32).to_le_bytes(),
            &(bytes.len() as u32).to_le_bytes(),
            &(name.len() as u16).to_le_bytes(),
            &[0; 2],
        ]
        .concat();
        archive.extend([b"PK\x03\x04", &common[..], name.as_bytes(), &packed[..]].concat());
        let more = [&[0; 10][..], &start.to_le_bytes()].concat();
        directory.extend([b"PK\x01\x02\x14\x00", &common[..], &more[..], name.as_bytes()].concat());
    }
    let (start, count) = (archive.len() as u32, files.len() as u16);
    let end = [
        &b"PK\x05\x06\0\0\0\0"[..],
        &count.to_le_bytes(),
        &count.to_le_bytes(),
        &(directory.len() as u32).to_le_bytes(),
        &start.to_le_bytes(),
        &[0; 2],
    ];
    [&archive[..], &directory[..], &end.concat()[..]].concat()
}

fn word(value: u32, big: bool) -> [u8; 4] {
    if big { value.to_be_bytes() } else { value.to_le_bytes() }
}

fn element(kind: u32, bytes: &[u8], big: bool) -> Vec<u8> {
    let padding = vec![0; bytes.len().next_multiple_of(8) - bytes.len()];
    [&word(kind, big)[..], &word(bytes.len() as u32, big), bytes, &padding].concat()
}

/// A matrix of a class, its numbers stored as a type.
pub(crate) fn matrix(
    name: &str,
    class: u32,
    shape: [u32; 2],
    kind: u32,
    values: &[u8],
    big: bool,
) -> Vec<u8> {
    let flags = [word(class, big), word(0, big)].concat();
    let dimensions = [word(shape[0], big), word(shape[1], big)].concat();
    // A short name is in the tag, as MATLAB writes it.
    let mut tag = word((name.len() as u32) << 16 | 1, big).to_vec();
    tag.extend(name.bytes().chain(std::iter::repeat(0)).take(4));
    let parts =
        [element(6, &flags, big), element(5, &dimensions, big), tag, element(kind, values, big)].concat();
    element(14, &parts, big)
}

pub(crate) fn mat(elements: &[Vec<u8>], packed: bool, big: bool) -> Vec<u8> {
    let mut file = b"MATLAB 5.0 MAT-file, made by a test".to_vec();
    file.resize(124, b' ');
    file.extend(if big { b"\x01\x00MI" } else { b"\x00\x01IM" });
    for bytes in elements {
        if packed {
            let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
            encoder.write_all(bytes).unwrap();
            let bytes = encoder.finish().unwrap();
            file.extend([&word(15, big)[..], &word(bytes.len() as u32, big), &bytes].concat());
        } else {
            file.extend(bytes);
        }
    }
    file
}

pub(crate) fn idx(kind: u8, shape: &[u32], values: &[u8]) -> Vec<u8> {
    let shape_bytes: Vec<u8> = shape.iter().flat_map(|n| n.to_be_bytes()).collect();
    [&[0, 0, kind, shape.len() as u8][..], &shape_bytes, values].concat()
}

pub(crate) fn parquet(batch: &RecordBatch, codec: Codec) -> Vec<u8> {
    let settings =
        WriterProperties::builder().set_compression(codec).set_max_row_group_row_count(Some(40)).build();
    let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(settings)).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}

pub(crate) fn arrow(batch: &RecordBatch, compression: Option<CompressionType>) -> Vec<u8> {
    let options = IpcWriteOptions::default().try_with_compression(compression).unwrap();
    let mut writer = FileWriter::try_new_with_options(Vec::new(), &batch.schema(), options).unwrap();
    writer.write(batch).unwrap();
    writer.into_inner().unwrap()
}
