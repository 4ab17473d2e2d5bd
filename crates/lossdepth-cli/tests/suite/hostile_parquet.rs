//! Parquet files that claim what cannot be: made by hand, field by field, in Thrift's compact protocol.
// The sizes are small, or wrong on purpose.
#![allow(clippy::cast_possible_truncation, clippy::cast_possible_wrap, clippy::cast_sign_loss)]

use crate::common::Folder;
use crate::fuzz::Noise;
use lossdepth_cli::testing::read_labelled;
use std::panic::{AssertUnwindSafe, catch_unwind};

// Types of Parquet.
const INT64: i32 = 2;
const BYTE_ARRAY: i32 = 6;
const FIXED_LEN_BYTE_ARRAY: i32 = 7;

// Encodings of Parquet.
const PLAIN: i32 = 0;
const RLE: i32 = 3;
const DELTA_LENGTH_BYTE_ARRAY: i32 = 6;
const DELTA_BYTE_ARRAY: i32 = 7;
const RLE_DICTIONARY: i32 = 8;

fn varint(mut n: u64) -> Vec<u8> {
    let mut bytes = Vec::new();
    while n >= 0x80 {
        bytes.push(n as u8 | 0x80);
        n >>= 7;
    }
    bytes.push(n as u8);
    bytes
}

fn zigzag(n: i64) -> Vec<u8> {
    varint(((n << 1) ^ (n >> 63)) as u64)
}

/// A struct, field by field in order.
#[derive(Clone, Default)]
struct Struct {
    bytes: Vec<u8>,
    last: u8,
}

impl Struct {
    fn field(mut self, id: u8, kind: u8, value: &[u8]) -> Self {
        self.bytes.push((id - self.last) << 4 | kind);
        self.bytes.extend(value);
        self.last = id;
        self
    }

    fn i32(self, id: u8, value: i32) -> Self {
        self.field(id, 5, &zigzag(i64::from(value)))
    }

    fn i64(self, id: u8, value: i64) -> Self {
        self.field(id, 6, &zigzag(value))
    }

    fn text(self, id: u8, value: &str) -> Self {
        self.field(id, 8, &text(value))
    }

    fn inner(self, id: u8, value: Self) -> Self {
        self.field(id, 12, &value.end())
    }

    fn list(self, id: u8, kind: u8, items: &[Vec<u8>]) -> Self {
        let head = [vec![0xf0 | kind], varint(items.len() as u64)].concat();
        self.field(id, 9, &[head, items.concat()].concat())
    }

    fn end(mut self) -> Vec<u8> {
        self.bytes.push(0);
        self.bytes
    }
}

fn text(value: &str) -> Vec<u8> {
    [varint(value.len() as u64), value.as_bytes().to_vec()].concat()
}

fn group(name: &str, children: i32) -> Vec<u8> {
    Struct::default().i32(3, 0).text(4, name).i32(5, children).end()
}

/// A required column.
fn leaf(name: &str, kind: i32) -> Vec<u8> {
    let leaf = Struct::default().i32(1, kind).i32(3, 0).text(4, name);
    // Texts are UTF-8.
    if kind == BYTE_ARRAY { leaf.i32(6, 0).end() } else { leaf.end() }
}

/// A page: its header, then its bytes.
fn page(kind: i32, head: (u8, Struct), bytes: &[u8]) -> Vec<u8> {
    let size = bytes.len() as i32;
    let header = Struct::default().i32(1, kind).i32(2, size).i32(3, size).inner(head.0, head.1);
    [header.end(), bytes.to_vec()].concat()
}

fn data_page(values: i32, encoding: i32, bytes: &[u8]) -> Vec<u8> {
    page(0, (5, Struct::default().i32(1, values).i32(2, encoding).i32(3, RLE).i32(4, RLE)), bytes)
}

fn dictionary_page(values: i32, bytes: &[u8]) -> Vec<u8> {
    page(2, (7, Struct::default().i32(1, values).i32(2, PLAIN)), bytes)
}

/// A column with its pages.
struct Column {
    name: &'static str,
    kind: i32,
    /// What describes it in the schema, if not the obvious.
    leaf: Option<Vec<u8>>,
    dictionary: Option<Vec<u8>>,
    pages: Vec<u8>,
    /// The bytes of its pages, if not the right number.
    size: Option<i64>,
}

impl Column {
    fn new(name: &'static str, kind: i32, pages: Vec<u8>) -> Self {
        Self { name, kind, leaf: None, dictionary: None, pages, size: None }
    }

    /// The numbers from 0, stored plainly.
    fn numbers(name: &'static str, rows: i32) -> Self {
        let bytes: Vec<u8> = (0..i64::from(rows)).flat_map(i64::to_le_bytes).collect();
        Self::new(name, INT64, data_page(rows, PLAIN, &bytes))
    }
}

/// A file of one row group.
fn file(columns: &[Column], rows: i64) -> Vec<u8> {
    let mut bytes = b"PAR1".to_vec();
    let mut chunks = Vec::new();
    for column in columns {
        let start = bytes.len() as i64;
        bytes.extend(column.dictionary.iter().flatten());
        let data = bytes.len() as i64;
        bytes.extend(&column.pages);
        let size = column.size.unwrap_or(bytes.len() as i64 - start);
        let about = Struct::default()
            .i32(1, column.kind)
            .list(2, 5, &[zigzag(0)])
            .list(3, 8, &[text(column.name)])
            .i32(4, 0)
            .i64(5, rows)
            .i64(6, size)
            .i64(7, size)
            .i64(9, data);
        let about = if column.dictionary.is_some() { about.i64(11, start) } else { about };
        chunks.push(Struct::default().i64(2, start).inner(3, about).end());
    }
    let leaves = columns.iter().map(|c| c.leaf.clone().unwrap_or_else(|| leaf(c.name, c.kind)));
    let schema: Vec<Vec<u8>> = [group("schema", columns.len() as i32)].into_iter().chain(leaves).collect();
    let row_group = Struct::default().list(1, 12, &chunks).i64(2, bytes.len() as i64).i64(3, rows).end();
    close(bytes, &footer(&schema, rows, &[row_group]))
}

fn footer(schema: &[Vec<u8>], rows: i64, groups: &[Vec<u8>]) -> Vec<u8> {
    Struct::default().i32(1, 1).list(2, 12, schema).i64(3, rows).list(4, 12, groups).end()
}

fn close(mut bytes: Vec<u8>, footer: &[u8]) -> Vec<u8> {
    bytes.extend(footer);
    bytes.extend((footer.len() as u32).to_le_bytes());
    bytes.extend(b"PAR1");
    bytes
}

/// A file without rows whose columns are nested so deep.
fn nested(levels: usize) -> Vec<u8> {
    let mut schema = vec![group("g", 1); levels];
    schema.push(leaf("x", INT64));
    close(b"PAR1".to_vec(), &footer(&schema, 0, &[]))
}

/// A stream of lengths, all of them `length`, in one block without a bit for any of them.
fn lengths(claimed: u64, length: i64) -> Vec<u8> {
    let block = claimed.next_multiple_of(128).max(128);
    [varint(block), varint(1), varint(claimed), zigzag(length), vec![0, 0]].concat()
}

/// One dictionary entry, and one run of it.
fn run(rows: u32) -> Column {
    let run = [vec![1], varint(u64::from(rows) << 1), vec![0]].concat();
    let pages = data_page(rows as i32, RLE_DICTIONARY, &run);
    Column { dictionary: Some(dictionary_page(1, &7i64.to_le_bytes())), ..Column::new("x", INT64, pages) }
}

/// Expects this to be all that is said, wherever the file comes in: as the data, with these arguments, as the reference and
/// from standard input.
#[track_caller]
fn refused(bytes: &[u8], args: &str, why: &str) {
    let folder = Folder::with("x,s\n1,a\n2,b\n3,c\n");
    folder.write("bad.parquet", bytes);
    let mut runs = vec![
        (folder.score(&format!("bad.parquet {args}")), "bad.parquet"),
        (folder.score_stdin(&format!("- {args}"), bytes), "standard input"),
    ];
    // The id is the data's: a reference has none.
    if args.is_empty() {
        runs.push((folder.score("data.csv --columns x --reference bad.parquet"), "bad.parquet"));
    }
    for (ran, name) in runs {
        let message = format!("error: {name}: damaged Parquet file: {why}\n");
        assert_eq!((ran.code, ran.err.as_str(), ran.out.as_str()), (Some(2), message.as_str(), ""));
    }
}

#[test]
fn what_is_made_here_is_read() {
    let folder = Folder::new();
    let strings = [lengths(4, 2), b"aabbccdd".to_vec()].concat();
    let ids = Column::new("s", BYTE_ARRAY, data_page(4, DELTA_LENGTH_BYTE_ARRAY, &strings));
    folder.write("good.parquet", file(&[Column::numbers("x", 4), ids], 4));
    let ran = folder.score("good.parquet --id s --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let ids: Vec<&str> = ran.out.lines().skip(1).map(|line| &line[..2]).collect();
    assert_eq!(ids, ["aa", "bb", "cc", "dd"]);
    // Prefixes of no length, then whole texts.
    let strings = [lengths(4, 0), lengths(4, 2), b"aabbccdd".to_vec()].concat();
    let ids = Column::new("s", BYTE_ARRAY, data_page(4, DELTA_BYTE_ARRAY, &strings));
    folder.write("other.parquet", file(&[Column::numbers("x", 4), ids], 4));
    assert_eq!(folder.score("other.parquet --id s --quiet").out, ran.out);
    folder.write("run.parquet", file(&[run(5)], 5));
    assert_eq!(folder.score("run.parquet --quiet").out.lines().count(), 6);
}

#[test] // The library builds the tree by recursion: this was the end of the stack.
fn nested_too_deep() {
    for levels in [66, 6_000, 200_000] {
        refused(&nested(levels), "", "columns are nested more than 64 deep");
    }
}

#[test] // The library reserves memory for as many children as are claimed: these were 17 GB.
fn more_children_than_there_are() {
    for children in [2, 1 << 20, i32::MAX, -1] {
        let schema = [group("g", children), leaf("x", INT64)];
        let bytes = close(b"PAR1".to_vec(), &footer(&schema, 0, &[]));
        refused(&bytes, "", "the tree of columns is incomplete");
    }
}

#[test] // The path of every column repeats the names of its groups.
fn paths_of_too_many_letters() {
    let mut schema = vec![group("schema", 1), group(&"n".repeat(100_000), 5_000)];
    schema.resize(5_002, leaf("x", INT64));
    let bytes = close(b"PAR1".to_vec(), &footer(&schema, 0, &[]));
    refused(&bytes, "", "the names of the columns take too much memory");
}

#[test] // The library reserves memory for as many lengths as are claimed: these were 4 TB.
fn more_lengths_than_values() {
    let claim = "a page claims more lengths than it has values";
    for (encoding, before) in
        [(DELTA_LENGTH_BYTE_ARRAY, vec![]), (DELTA_BYTE_ARRAY, vec![]), (DELTA_BYTE_ARRAY, lengths(4, 0))]
    {
        for claimed in [5, 1 << 31, 1 << 40] {
            let bytes = [before.clone(), lengths(claimed, 0)].concat();
            let ids = Column::new("s", BYTE_ARRAY, data_page(4, encoding, &bytes));
            refused(&file(&[Column::numbers("x", 4), ids], 4), "--id s", claim);
        }
        // And if the page claims as many.
        let bytes = [before, lengths(i32::MAX as u64, 0)].concat();
        let ids = Column::new("s", BYTE_ARRAY, data_page(i32::MAX, encoding, &bytes));
        refused(&file(&[Column::numbers("x", 4), ids], 4), "--id s", claim);
    }
}

#[test] // Numbers of a fixed length get this length for every row of a batch; the library itself refuses this one.
fn a_number_of_two_gigabytes() {
    // A decimal: converted type 5, scale 0, precision 9.
    let leaf = Struct::default().i32(1, FIXED_LEN_BYTE_ARRAY).i32(2, i32::MAX).i32(3, 0).text(4, "x");
    let leaf = leaf.i32(6, 5).i32(7, 0).i32(8, 9).end();
    let column = Column::new("x", FIXED_LEN_BYTE_ARRAY, data_page(4, PLAIN, &[0; 64]));
    let bytes = file(&[Column { leaf: Some(leaf), ..column }], 4);
    refused(&bytes, "", "Invalid length 2147483647 for Decimal");
}

#[test]
fn a_page_longer_than_the_file() {
    let head = Struct::default().i32(1, 4).i32(2, PLAIN).i32(3, RLE).i32(4, RLE);
    let header = Struct::default().i32(1, 0).i32(2, i32::MAX).i32(3, i32::MAX).inner(5, head).end();
    let column = Column { size: Some(1 << 40), ..Column::new("x", INT64, header) };
    let bytes = file(&[column], 4);
    let left = bytes.len() - 4;
    refused(&bytes, "", &format!("a page claims 2147483647 bytes where {left} are left"));
}

/// One run of equal values is a valid file: it is refused for want of memory, before a row is read.
#[cfg(target_os = "linux")]
#[test]
fn more_rows_than_fit() {
    let folder = Folder::new();
    let rows = i32::MAX as u32;
    folder.write("run.parquet", file(&[run(rows)], i64::from(rows)));
    assert!(std::fs::metadata(folder.path("run.parquet")).unwrap().len() < 300);
    let ran = folder.shell("ulimit -v 4000000; exec \"$0\" \"$@\"", &["score", "run.parquet"]);
    let start =
        "error: run.parquet: the rows take 17 GB or more, more than half of the memory of this process, ";
    assert!(ran.err.starts_with(start) && ran.err.ends_with("B\n"), "{:?} {}", ran.code, ran.err);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1));
    // And where only the page says so.
    folder.write("lie.parquet", file(&[run(rows)], 4));
    let ran = folder.shell("ulimit -v 1000000; exec \"$0\" \"$@\"", &["score", "lie.parquet"]);
    assert_eq!((ran.code, ran.err.lines().count()), (Some(2), 1), "{}", ran.err);
}

/// Trees and pages whose claims are right or wrong in every combination: an answer or an error, never a panic or the end of the
/// process.
#[test]
fn claims_at_random() {
    let files: usize = std::env::var("FUZZ").ok().and_then(|n| n.parse().ok()).unwrap_or(3000);
    let mut noise = Noise(11);
    let mut read_well = 0;
    for number in 0..files {
        let mut claim = |right: u64| match noise.below(12) {
            0 => 0,
            1 => right + 1,
            2 => 1 << 20,
            3 => i32::MAX as u64,
            4 => 1 << 40,
            _ => right,
        };
        let (prefixes, suffixes) = (lengths(claim(4), claim(0) as i64), lengths(claim(4), claim(2) as i64));
        let length = claim(16) as i32;
        let claimed = [claim(4), claim(3), claim(4)];
        let mut pick = |n: usize| noise.below(n);
        let values = b"aabbccdd".to_vec();
        // No more rows than four: many of them would be read, and that takes its time.
        let rows = claimed[0].min(4) as i32;
        let second = match pick(4) {
            0 => Column::new(
                "s",
                BYTE_ARRAY,
                data_page(rows, DELTA_LENGTH_BYTE_ARRAY, &[suffixes, values].concat()),
            ),
            1 => {
                let bytes = [prefixes, suffixes, values].concat();
                Column::new("s", BYTE_ARRAY, data_page(rows, DELTA_BYTE_ARRAY, &bytes))
            }
            2 => {
                let leaf =
                    Struct::default().i32(1, FIXED_LEN_BYTE_ARRAY).i32(2, length).i32(3, 0).text(4, "s");
                let leaf = leaf.i32(6, 5).i32(7, 0).i32(8, 9).end();
                let encoding = [PLAIN, DELTA_BYTE_ARRAY][pick(2)];
                let bytes = [prefixes, suffixes, vec![1; 64]].concat();
                let column = Column::new("s", FIXED_LEN_BYTE_ARRAY, data_page(rows, encoding, &bytes));
                Column { leaf: Some(leaf), ..column }
            }
            _ => {
                let dictionary = dictionary_page(claimed[2] as i32, &[4i64.to_le_bytes(); 4].concat());
                let pages = data_page(rows, RLE_DICTIONARY, &[3, 3, 0b10_001_000, 0b1101, 0]);
                Column { dictionary: Some(dictionary), ..Column::new("s", INT64, pages) }
            }
        };
        let mut bytes = file(&[Column::numbers("x", 4), second], 4);
        if pick(4) == 0 {
            let mut schema = vec![group("g", 1); pick(100)];
            schema.push(group("h", claimed[1] as i32));
            schema.resize(schema.len() + 3, leaf("x", INT64));
            bytes = close(b"PAR1".to_vec(), &footer(&schema, 0, &[]));
        }
        let label = [None, Some("s")][pick(2)];
        let read = catch_unwind(AssertUnwindSafe(|| read_labelled("t.parquet", bytes, 3, label)));
        read_well += usize::from(read.unwrap_or_else(|_| panic!("file {number} is a panic")).is_ok());
    }
    assert!(read_well > 0 && read_well < files, "{read_well} of {files} read");
}
