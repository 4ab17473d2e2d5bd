//! Tables of every format: the same numbers whichever way they come, roles, refusals, scores written and read back.
// The sizes are small.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

use crate::build::{arrow, gzip, idx, mat, matrix, npy, parquet, sample, zip};
use crate::common::{Folder, TABLE};
use arrow_array::cast::AsArray;
use arrow_array::types::Int32Type;
use arrow_array::{
    Array, ArrayRef, BooleanArray, Date32Array, Decimal128Array, DictionaryArray, Float32Array, Float64Array,
    Int64Array, ListArray, RecordBatch, StringArray, UInt8Array,
};
use arrow_ipc::reader::FileReader;
use flate2::read::GzDecoder;
use lossdepth_cli::testing::{Contents, read};
use parquet::arrow::ArrowWriter;
use parquet::arrow::arrow_reader::ParquetRecordBatchReaderBuilder;
use parquet::basic::{Compression, GzipLevel, ZstdLevel};
use parquet::file::properties::WriterProperties;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::sync::Arc;

#[test]
fn every_format_gives_the_same_bits() {
    let sample = sample(100);
    let labels: Vec<String> = sample.labels.iter().map(u8::to_string).collect();
    for (name, bytes) in sample.everywhere() {
        for piece in [1, 7, 99, usize::MAX] {
            let found = read(name, bytes.clone(), piece).unwrap();
            let same =
                found.values.iter().map(|v| v.to_bits()).eq(sample.values().iter().map(|v| v.to_bits()));
            assert!(same, "{name}, {piece} rows at a time");
            let own = name.contains(".npz") || name.contains(".mat");
            assert_eq!(found.labels, if own { labels.clone() } else { Vec::new() }, "{name}");
        }
        // The name does not matter where the content is clear.
        assert_eq!(
            read("data", bytes.clone(), 9).unwrap().values,
            sample.values(),
            "{name} without its name"
        );
    }
}

#[test]
fn every_format_from_disk_and_standard_input() {
    let (folder, sample) = (Folder::new(), sample(30));
    folder.write("expected.csv", sample.csv());
    let expected = folder.score("expected.csv --quiet --columns 0,1,2").out;
    let numbers = |text: &str| -> Vec<String> {
        text.lines().map(|line| line.split(',').take(4).collect::<Vec<_>>().join(",")).collect()
    };
    for (name, bytes) in sample.everywhere() {
        folder.write(name, &bytes);
        let ran = folder.score(&format!("{name} --quiet"));
        assert_eq!((ran.code, numbers(&ran.out)), (Some(0), numbers(&expected)), "{name}: {}", ran.err);
        let ran = folder.score_stdin("- --quiet --columns 0,1,2", &bytes);
        assert_eq!((ran.code, numbers(&ran.out)), (Some(0), numbers(&expected)), "{name}: {}", ran.err);
        // In pieces, against a table of another format.
        let ran = folder.score(&format!("{name} --quiet --reference expected.csv"));
        assert_eq!((ran.code, numbers(&ran.out)), (Some(0), numbers(&expected)), "{name}: {}", ran.err);
    }
}

/// Eleven rows of several types.
fn mixed() -> RecordBatch {
    let lines: Vec<Vec<&str>> = TABLE.lines().skip(1).map(|line| line.rsplitn(4, ',').collect()).collect();
    let ids = lines.iter().map(|line| line[3].trim_matches('"'));
    let number = |i: usize| -> Vec<f64> { lines.iter().map(|line| line[i].parse().unwrap()).collect() };
    let kinds: DictionaryArray<Int32Type> = lines.iter().map(|line| line[0]).collect();
    let columns: [(&str, ArrayRef); 4] = [
        ("id", Arc::new(StringArray::from_iter_values(ids))),
        ("x", Arc::new(Float32Array::from_iter_values(number(2).iter().map(|v| *v as f32)))),
        ("y", Arc::new(Float64Array::from(number(1)))),
        ("kind", Arc::new(kinds)),
    ];
    RecordBatch::try_from_iter(columns).unwrap()
}

#[test]
fn roles_by_name_and_number() {
    let folder = Folder::with(TABLE);
    let expected = folder.score("data.csv --id id --label kind");
    folder.write("data.parquet", parquet(&mixed(), Compression::SNAPPY));
    folder.write("data.feather", arrow(&mixed(), None));
    for name in ["data.parquet", "data.feather"] {
        for roles in ["--id id --label kind", "--id 0 --label 3", "--columns x,y --id id --label kind"] {
            let ran = folder.score(&format!("{name} {roles}"));
            assert_eq!((ran.code, &ran.out), (Some(0), &expected.out), "{name} {roles}: {}", ran.err);
        }
        // A column of all different texts names the rows by itself.
        let ran = folder.score(&format!("{name} --label kind"));
        assert_eq!((ran.code, &ran.out), (Some(0), &expected.out), "{name}: {}", ran.err);
        let ran = folder.score(&format!("{name} --label knid"));
        assert_eq!(ran.err, format!("error: {name}: no column `knid`; did you mean `kind`?\n"));
    }
}

#[test]
fn vectors_of_an_archive_go_by_name() {
    let folder = Folder::new();
    let x: Vec<u8> = [0f32, 1.0, 4.0, 4.5].iter().flat_map(|v| v.to_be_bytes()).collect();
    let names: Vec<u8> = ["p", "q", "r", "é"]
        .iter()
        .flat_map(|t| u32::from(t.chars().next().unwrap()).to_le_bytes())
        .collect();
    let files = [
        ("data.npy", npy(">f4", false, "(4, 1)", &x)),
        ("w.npy", npy("<i2", false, "(4,)", &[1, 0, 1, 0, 2, 0, 1, 0])),
        ("name.npy", npy("<U1", false, "(4,)", &names)),
        ("y.npy", npy("|b1", false, "(4,)", &[0, 0, 1, 0])),
        ("notes.npy", npy("|O", false, "(1,)", b"")),
    ];
    folder.write("data.npz", zip(&files, true));
    folder.write("same.csv", "x,w,name,y\n0,1,p,0\n1,1,q,0\n4,2,r,1\n4.5,1,é,0\n");
    let expected = folder.score("same.csv --weights w --id name --label y");
    let ran = folder.score("data.npz --weights w --id name");
    assert_eq!((ran.code, ran.out), (Some(0), expected.out), "{}", ran.err);
    assert!(ran.err.starts_with("AUC-ROC "), "{}", ran.err);
    let ran = folder.score("data.npz --id nmae");
    assert_eq!(ran.err, "error: data.npz: no column `nmae`; the columns are 0 to 0 and `y`, `name`, `w`\n");
    // Another label takes the place of y, which is not compared for all that.
    let ran = folder.score("data.npz --label w --out scores.json --quiet");
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    assert_eq!(
        serde_json::from_str::<serde_json::Value>(&folder.read("scores.json")).unwrap()["columns"],
        serde_json::json!(["0"])
    );
}

#[track_caller]
fn refused(name: &str, bytes: Vec<u8>, message: &str) {
    assert_eq!(read(name, bytes, 3).unwrap_err(), format!("{name}: {message}"));
}

fn of_column(column: ArrayRef) -> RecordBatch {
    let one = Arc::new(Int64Array::from_iter_values(0..column.len() as i64)) as ArrayRef;
    RecordBatch::try_from_iter_with_nullable([("n", one, false), ("c", column, true)]).unwrap()
}

#[test]
fn columns_that_are_no_numbers() {
    let list = ListArray::from_iter_primitive::<Int32Type, _, _>([Some([Some(1)]), Some([Some(2)])]);
    let nested = "which can be neither compared nor copied; leave it out with --exclude";
    let batch = of_column(Arc::new(list));
    let folder = Folder::new();
    for (name, bytes) in
        [("t.parquet", parquet(&batch, Compression::SNAPPY)), ("t.arrow", arrow(&batch, None))]
    {
        assert_eq!(read(name, bytes.clone(), 3).unwrap().names, ["n"], "{name}");
        folder.write(name, bytes);
        let ran = folder.score(&format!("{name} --keep"));
        assert_eq!(ran.code, Some(0), "{name}: {}", ran.err);
        assert!(
            ran.err.contains(&format!("note: {name}: column `c` holds lists, left out\n")),
            "{}",
            ran.err
        );
        // Asked for, it is refused.
        let ran = folder.score(&format!("{name} --columns n,c --quiet"));
        assert_eq!(ran.err, format!("error: {name}: column `c` holds lists, {nested}\n"));
    }
    // Texts as codes, dates in seconds, gaps as NaN.
    for (column, expected) in [
        (Arc::new(StringArray::from(vec![Some("b"), Some("a"), Some("b")])) as ArrayRef, [0.0, 1.0, 0.0]),
        (Arc::new(StringArray::from(vec![None, Some("a"), None])), [f64::NAN, 0.0, f64::NAN]),
        (Arc::new(Date32Array::from(vec![1, 2, -1])), [86400.0, 172_800.0, -86400.0]),
        (Arc::new(Float64Array::from(vec![Some(1.0), None, Some(f64::NAN)])), [1.0, f64::NAN, f64::NAN]),
        (Arc::new(BooleanArray::from(vec![Some(true), None, Some(false)])), [1.0, f64::NAN, 0.0]),
    ] {
        let batch = of_column(column);
        for (name, bytes) in
            [("t.parquet", parquet(&batch, Compression::SNAPPY)), ("t.arrow", arrow(&batch, None))]
        {
            let values = read(name, bytes, 2).unwrap().values;
            let found: Vec<f64> = values.chunks(2).map(|row| row[1]).collect();
            let same = |(a, b): (&f64, &f64)| a == b || (a.is_nan() && b.is_nan());
            assert!(found.iter().zip(&expected).all(same), "{name}: {found:?} {expected:?}");
        }
    }
    let infinite = of_column(Arc::new(Float32Array::from(vec![1.0, f32::NEG_INFINITY, 2.0])));
    let folder = Folder::new();
    folder.write("t.parquet", parquet(&infinite, Compression::SNAPPY));
    let ran = folder.score("t.parquet");
    assert_eq!(ran.err, "error: t.parquet: row 1, column `c`: `-inf` is not a finite number\n");
}

#[test]
fn numbers_of_many_types() {
    let decimal = Decimal128Array::from(vec![Some(12_345), Some(-1)]).with_precision_and_scale(9, 2).unwrap();
    for (column, expected) in [
        (Arc::new(UInt8Array::from(vec![200, 3])) as ArrayRef, [200.0, 3.0]),
        (Arc::new(BooleanArray::from(vec![true, false])), [1.0, 0.0]),
        (Arc::new(Float32Array::from(vec![0.1, 2.0])), [f64::from(0.1f32), 2.0]),
        (Arc::new(Int64Array::from(vec![i64::MAX, -5])), [i64::MAX as f64, -5.0]),
        (Arc::new(decimal), [123.45, -0.01]),
    ] {
        let batch = of_column(column);
        for (name, bytes) in
            [("t.parquet", parquet(&batch, Compression::UNCOMPRESSED)), ("t.arrow", arrow(&batch, None))]
        {
            let found = read(name, bytes, 1).unwrap();
            assert_eq!((found.values[1], found.values[3]), (expected[0], expected[1]), "{name}");
        }
    }
    // Doubles stored as integers, as MATLAB likes to.
    let (x, big) = ([1u16, 2, 300, 4].map(u16::to_be_bytes).concat(), true);
    let file = mat(&[matrix("X", 6, [2, 2], 4, &x, big)], true, big);
    assert_eq!(read("t.mat", file, 9).unwrap().values, [1.0, 300.0, 2.0, 4.0]);
}

#[test]
fn files_that_are_not_what_they_should_be() {
    refused("t.parquet", b"a,b\n1,2\n".to_vec(), "this is no Parquet file, in spite of its name");
    refused(
        "t.npz",
        zip(&[("readme.txt", b"hi".to_vec())], false),
        "a zip archive of `readme.txt`: unpack it first",
    );
    let two = [("a.npy", npy("<f8", false, "(0, 2)", b"")), ("b.npy", npy("<f8", false, "(0, 3)", b""))];
    refused("t.npz", zip(&two, false), "no array `X` in this NPZ file: there are `a`, `b`");
    refused(
        "t.mat",
        b"MATLAB 7.3 MAT-file".to_vec(),
        "an HDF5 file (MAT 7.3 is one): save it as MAT 5 (`-v7` in MATLAB), Parquet, NPZ or CSV",
    );
    refused(
        "t.mat",
        mat(&[matrix("X", 5, [2, 2], 9, &[], false)], false, false),
        "`X` is a sparse matrix, not an array of real numbers",
    );
    let uneven = [matrix("X", 6, [2, 1], 2, &[1, 2], false), matrix("y", 6, [3, 1], 2, &[1, 2, 3], false)];
    refused("t.mat", mat(&uneven, false, false), "`X` has 2 rows, `y` has 3");
    refused(
        "t.npy",
        npy("<c16", false, "(2,)", &[0; 32]),
        "the array holds complex numbers (`<c16`), not real numbers",
    );
    refused("t.npy", npy("<f8", false, "(4, 2)", &[0; 32]), "damaged NPY file: it ends too early");
    let mut wrong = zip(&[("X.npy", npy("<f8", false, "(2, 2)", &[0; 32]))], false);
    let at = wrong.windows(8).rposition(|w| w == [0; 8]).unwrap().min(150);
    wrong[at] = 1;
    refused("t.npz", wrong, "damaged NPZ file: wrong checksum");
    refused("images", idx(8, &[3, 2, 2], &[0; 11]), "damaged IDX file: it ends too early");
    refused("images.gz", gzip(&idx(8, &[3, 2, 2], &[0; 11])), "damaged IDX file: it ends too early");
    let whole = sample(20);
    for cut in [5, 50, 3] {
        let (mut parquet, mut arrow) = (whole.parquet(Compression::SNAPPY), whole.arrow(None));
        parquet.truncate(parquet.len() - cut);
        arrow.truncate(arrow.len() - cut);
        assert!(read("t.parquet", parquet, 9).unwrap_err().starts_with("t.parquet: damaged Parquet file: "));
        refused("t.arrow", arrow, "damaged Arrow file: it ends too early");
    }
}

/// Every way to compress a Parquet file that can be read.
fn codecs() -> [Compression; 5] {
    let (gzip, zstd) = (GzipLevel::try_new(9).unwrap(), ZstdLevel::try_new(19).unwrap());
    [
        Compression::SNAPPY,
        Compression::LZ4,
        Compression::LZ4_RAW,
        Compression::GZIP(gzip),
        Compression::ZSTD(zstd),
    ]
}

/// The size that the header of a page gives is the memory that it would get.
#[test]
fn a_page_that_claims_more_than_it_can_hold() {
    for codec in codecs() {
        let mut file = sample(100).parquet(codec);
        // After `PAR1`, the kind of the page, a byte; then its size, as a number of several bytes.
        assert_eq!((file[4], file[6]), (0x15, 0x15));
        let digits = 1 + file[7..].iter().position(|byte| *byte < 0x80).unwrap();
        file.splice(7..7 + digits, [0xfe, 0xff, 0xff, 0xff, 0x0f]);
        let problem = read("t.parquet", file, 9).unwrap_err();
        let expected =
            "t.parquet: damaged Parquet file: a page claims to hold 2147483647 bytes, which cannot";
        assert!(problem.starts_with(expected), "{codec}: {problem}");
    }
}

#[test]
fn pages_of_one_value_pack_as_well_as_they_can() {
    let column = Arc::new(Float64Array::from(vec![0.0; 400_000])) as ArrayRef;
    let batch = RecordBatch::try_from_iter([("c", column)]).unwrap();
    for codec in codecs() {
        let settings = WriterProperties::builder()
            .set_compression(codec)
            .set_dictionary_enabled(false)
            .set_data_page_row_count_limit(usize::MAX)
            .build();
        let mut writer = ArrowWriter::try_new(Vec::new(), batch.schema(), Some(settings)).unwrap();
        writer.write(&batch).unwrap();
        let file = writer.into_inner().unwrap();
        assert!(file.len() < 3_200_000 / 15, "{codec}: {}", file.len());
        let found = read("t.parquet", file, usize::MAX).unwrap();
        assert!(found.values.len() == 400_000 && found.values.iter().all(|v| *v == 0.0), "{codec}");
    }
}

#[test]
fn images_come_with_their_labels() {
    let folder = Folder::new();
    let pixels: Vec<u8> = (0..40u8).map(|i| i.wrapping_mul(37)).collect();
    folder.write("train-images-idx3-ubyte", idx(8, &[10, 2, 2], &pixels));
    assert_eq!(
        folder.score("train-images-idx3-ubyte").out.lines().next(),
        Some("row,depth,error,stderr,percentile")
    );
    folder.write("train-labels-idx1-ubyte.gz", gzip(&idx(8, &[10], &[7, 7, 7, 7, 7, 7, 7, 7, 7, 3])));
    let ran = folder.score("train-images-idx3-ubyte");
    assert!(ran.err.starts_with("AUC-ROC "), "{}", ran.err);
    assert!(ran.out.lines().last().unwrap().ends_with(",3"), "{}", ran.out);
    folder.write("train-labels-idx1-ubyte.gz", gzip(&idx(8, &[9], &[7; 9])));
    let ran = folder.score("train-images-idx3-ubyte");
    assert!(ran.err.contains("10 images, but 9 labels in "), "{}", ran.err);
}

/// The scores in a typed file, as lines of CSV.
fn lines(path: &Path) -> Vec<String> {
    let file = std::fs::File::open(path).unwrap();
    let (about, batches): (String, Vec<RecordBatch>) = if path.extension().is_some_and(|e| e == "parquet") {
        let reader = ParquetRecordBatchReaderBuilder::try_new(file).unwrap();
        let notes = reader.metadata().file_metadata().key_value_metadata().unwrap().clone();
        let about = notes.into_iter().find(|note| note.key == "lossdepth").unwrap().value.unwrap();
        (about, reader.build().unwrap().map(Result::unwrap).collect())
    } else {
        let reader = FileReader::try_new(file, None).unwrap();
        (reader.schema().metadata()["lossdepth"].clone(), reader.map(Result::unwrap).collect())
    };
    let about: serde_json::Value = serde_json::from_str(&about).unwrap();
    assert_eq!(about["settings"]["method"], "logistic");
    let schema = batches[0].schema();
    let names: Vec<&str> = schema.fields().iter().map(|field| field.name().as_str()).collect();
    let cell = |array: &ArrayRef, row: usize| match array.as_string_opt::<i32>() {
        Some(texts) if texts.value(row).contains(',') => format!("\"{}\"", texts.value(row)),
        Some(texts) => texts.value(row).to_owned(),
        None => match array.as_primitive_opt::<arrow_array::types::Int64Type>() {
            Some(integers) => integers.value(row).to_string(),
            None => format!("{:?}", array.as_primitive::<arrow_array::types::Float64Type>().value(row)),
        },
    };
    let row =
        |batch: &RecordBatch, row| batch.columns().iter().map(|c| cell(c, row)).collect::<Vec<_>>().join(",");
    let rows = batches.iter().flat_map(|batch| (0..batch.num_rows()).map(|i| row(batch, i)));
    std::iter::once(names.join(",")).chain(rows).collect()
}

#[test]
fn typed_scores_hold_the_same_bits() {
    let folder = Folder::with(TABLE);
    for roles in ["--id id --label kind", "--columns x,y"] {
        let csv = folder.score(&format!("data.csv {roles}")).out;
        for name in ["scores.parquet", "scores.arrow", "scores.feather"] {
            assert_eq!(folder.score(&format!("data.csv {roles} --out {name}")).code, Some(0));
            assert_eq!(lines(&folder.path(name)), csv.lines().collect::<Vec<_>>(), "{name}");
        }
    }
    // And back in: what we write is a table like any other.
    let again = folder.score("scores.parquet --columns depth,stderr --id row");
    assert_eq!(again.out, folder.score("scores.feather --columns depth,stderr --id row").out);
    assert_eq!(again.code, Some(0), "{}", again.err);
}

#[test]
fn no_rows_make_a_file_without_rows() {
    let folder = Folder::with("x,y\n");
    folder.write("old.csv", "x,y\n1,2\n3,4\n5,5\n");
    for name in ["scores.parquet", "scores.arrow"] {
        assert_eq!(folder.score(&format!("data.csv --reference old.csv --out {name}")).code, Some(0));
        let ran = folder.score(&format!("{name} --columns depth"));
        assert_eq!(ran.err, format!("error: {name}: needs at least 2 rows, has 0\n"));
    }
}

/// Killed in the middle, there is no file of that name; the temporary one cannot be read.
#[cfg(unix)]
#[test]
fn a_kill_leaves_nothing_that_looks_complete() {
    use std::io::Write;
    use std::process::Stdio;
    use std::time::{Duration, Instant};
    for name in ["scores.parquet", "scores.arrow"] {
        let folder = Folder::with("x\n0\n1\n");
        folder.write("old.csv", "0\n50\n99\n");
        // It waits for more input, with some rows written.
        let mut child = folder
            .command(&["score", "-", "--reference", "old.csv", "--out", name])
            .stdin(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all("1\n".repeat(300_000).as_bytes()).unwrap();
        let written = || {
            folder.list().iter().any(|name| {
                name.contains(".tmp")
                    && std::fs::metadata(folder.path(name)).is_ok_and(|about| about.len() > 1000)
            })
        };
        let deadline = Instant::now() + Duration::from_secs(60);
        while !written() && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(5));
        }
        assert!(written(), "{:?}", folder.list());
        child.kill().unwrap();
        child.wait().unwrap();
        drop(input);
        let left: Vec<String> = folder.list().into_iter().filter(|n| n.contains("scores")).collect();
        assert!(left.iter().all(|n| n.starts_with('.') && n.contains(".tmp")), "{left:?}");
        for left in left {
            let bytes = std::fs::read(folder.path(&left)).unwrap();
            assert!(read(name, bytes, 9).unwrap_err().contains("damaged"), "{left}");
        }
    }
}

/// Real files, if `LOSSDEPTH_DATA` says where they are.
fn data(path: &str) -> Option<PathBuf> {
    Some(PathBuf::from(std::env::var_os("LOSSDEPTH_DATA")?).join(path)).filter(|path| path.is_file())
}

/// A table that was read as files of other formats, with more columns next to its own.
fn written_back(table: &Contents, more: Vec<(String, ArrayRef)>) -> [(&'static str, Vec<u8>); 2] {
    let width = table.names.len();
    let column = |j: usize| {
        Arc::new(Float64Array::from_iter_values(table.values.iter().skip(j).step_by(width).copied()))
            as ArrayRef
    };
    let columns = (0..width).map(|j| (j.to_string(), column(j))).chain(more);
    let batch = RecordBatch::try_from_iter(columns).unwrap();
    [("t.parquet", parquet(&batch, Compression::SNAPPY)), ("t.arrow", arrow(&batch, None))]
}

/// Reads images and their labels next to them, scores them, and writes them back: the same bytes in their own format,
/// the same numbers and scores for the first `rows` of them in others.
fn images_and_back(images: &Path, side: u32, rows: usize) {
    let name = images.file_name().unwrap().to_str().unwrap();
    let labels = images.with_file_name(name.replace("images-idx3", "labels-idx1"));
    let (packed, labels) = (std::fs::read(images).unwrap(), std::fs::read(labels).unwrap());
    let mut found = read(name, packed.clone(), 3000).unwrap();
    let width = found.names.len();
    assert_eq!(width, (side * side) as usize);
    assert!(found.values.iter().all(|v| (0.0..=255.0).contains(v) && v.fract() == 0.0));
    let byte = |v: &f64| *v as u8;
    let (pixels, labels): (Vec<u8>, Vec<u8>) = (
        found.values.iter().map(byte).collect(),
        read("labels", labels, 3000).unwrap().values.iter().map(byte).collect(),
    );
    assert_eq!(pixels.len(), labels.len() * width);
    let all = idx(8, &[labels.len() as u32, side, side], &pixels);
    let mut original = Vec::new();
    GzDecoder::new(packed.as_slice()).read_to_end(&mut original).unwrap();
    assert!(all == original, "{name}: written back it is another file");
    // The first of them make a small reference, and the first few more go through the other formats.
    let folder = Folder::new();
    folder.write("few", idx(8, &[20, side, side], &pixels[..20 * width]));
    let images = images.to_str().unwrap();
    let settings = ["--reference", "few", "--reg", "0.1", "--scale", "none"];
    let scored = folder.run(&[&["score", images][..], &settings].concat());
    assert_eq!((scored.code, scored.out.lines().count()), (Some(0), labels.len() + 1), "{}", scored.err);
    let expected: Vec<&str> = scored.out.lines().take(rows + 1).collect();
    assert!(
        expected[1..].iter().zip(&labels).all(|(line, label)| line.ends_with(&format!(",{label}"))),
        "{}",
        expected[1]
    );
    found.values.truncate(rows * width);
    let label = Arc::new(UInt8Array::from(labels[..rows].to_vec())) as ArrayRef;
    for (name, bytes) in written_back(&found, vec![("y".to_owned(), label)]) {
        folder.write(name, bytes);
        let ran = folder.run(&[&["score", name, "--label", "y"][..], &settings].concat());
        assert_eq!(
            (ran.code, ran.out.lines().collect::<Vec<_>>()),
            (Some(0), expected.clone()),
            "{}",
            ran.err
        );
    }
    for (name, bytes) in written_back(&found, Vec::new()) {
        assert!(read(name, bytes, 77).unwrap().values == found.values, "{name}");
    }
}

#[test]
fn images_read_and_written_back() {
    let folder = Folder::new();
    let pixels: Vec<u8> = (0..60 * 36u32).map(|i| (i * i * 31 % 251) as u8).collect();
    let labels: Vec<u8> = (0..60).map(|i| i % 10).collect();
    folder.write("made-images-idx3-ubyte.gz", gzip(&idx(8, &[60, 6, 6], &pixels)));
    folder.write("made-labels-idx1-ubyte.gz", gzip(&idx(8, &[60], &labels)));
    images_and_back(&folder.path("made-images-idx3-ubyte.gz"), 6, 45);
    if let Some(path) = data("mnist/t10k-images-idx3-ubyte.gz") {
        images_and_back(&path, 28, 100);
    }
}

#[test]
fn real_files() {
    let odds = [
        ("odds/wine.mat", 129, 13, 10),
        ("odds/glass.mat", 214, 9, 9),
        ("odds/breastw.mat", 683, 9, 239),
        ("odds/vowels.mat", 1456, 12, 50),
        ("odds/pima.mat", 768, 8, 268),
        ("odds/lympho.mat", 148, 18, 6),
        ("odds/thyroid.mat", 3772, 6, 93),
        ("odds/annthyroid.mat", 7200, 6, 534),
        ("odds/pendigits.mat", 6870, 16, 156),
        ("adbench/14_glass.npz", 214, 7, 9),
        ("adbench/21_Lymphography.npz", 148, 18, 6),
    ];
    for (name, rows, width, outliers) in odds {
        let Some(path) = data(name) else { continue };
        let found = read(name, std::fs::read(&path).unwrap(), 1000).unwrap();
        assert_eq!((found.values.len(), found.names.len()), (rows * width, width), "{name}");
        assert_eq!(found.labels.iter().filter(|label| *label == "1").count(), outliers, "{name}");
        // Written back and read again: the same bits.
        for (name, bytes) in written_back(&found, Vec::new()) {
            assert_eq!(read(name, bytes, 777).unwrap().values, found.values, "{name}");
        }
    }
    if let Some(path) = data("odds/wine.mat") {
        let folder = Folder::new();
        let ran =
            folder.run(&["score", path.to_str().unwrap(), "--scale", "standard", "--out", "scores.parquet"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(
            ran.err.starts_with("AUC-ROC 0.8") && ran.err.contains("(outlier: `y` = 1, 10 of 129 rows)"),
            "{}",
            ran.err
        );
        assert_eq!(lines(&folder.path("scores.parquet")).len(), 130);
    }
    if let Some(path) = data("mnist/t10k-labels-idx1-ubyte.gz") {
        let found = read("t10k-labels-idx1-ubyte.gz", std::fs::read(&path).unwrap(), 3000).unwrap();
        assert_eq!(found.values.iter().filter(|v| **v == 0.0).count(), 980);
    }
}
