//! Scores into files: the format by extension, the file complete or not there at all.

mod columnar;
mod csv;
mod json;
mod picture;
mod values;

pub(crate) use picture::{PictureFile, PictureTarget};
pub(crate) use values::{Field, Kind, Values, score_fields, scores};

use crate::auc::Auc;
use crate::error::{Error, Result};
use flate2::Compression;
use flate2::write::GzEncoder;
use lossdepth::Settings;
use lossdepth_files::AtomicFile;
use std::fs;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};

/// A format for scores.
trait Export {
    /// What comes before the rows.
    fn begin(&mut self, out: &mut dyn Write, about: &About) -> io::Result<()>;
    /// Some rows: the values of each of `about.fields`, in that order.
    fn rows(&mut self, out: &mut dyn Write, about: &About, columns: &[Values<'_>]) -> io::Result<()>;
    /// What comes after them.
    fn end(&mut self, out: &mut dyn Write, auc: Option<&Auc>) -> io::Result<()>;
}

/// What the scores are scores of.
#[derive(Debug, serde::Serialize)]
pub(crate) struct About {
    pub(crate) version: &'static str,
    pub(crate) settings: Settings,
    pub(crate) columns: Vec<String>,
    pub(crate) reference_rows: usize,
    /// What the model was fitted with instead of what was asked for, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) warning: Option<String>,
    /// The columns of the output.
    #[serde(skip)]
    pub(crate) fields: Vec<Field>,
}

/// The formats of files.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Format {
    Csv,
    Tsv,
    Json,
    Parquet,
    Arrow,
}

/// Where to write, and how.
#[derive(Debug, Clone)]
pub(crate) enum Target {
    /// CSV to standard output.
    Standard,
    /// A file.
    File { path: PathBuf, format: Format, gzip: bool },
}

impl Target {
    /// `-` is standard output; for a file the format is in the extension.
    pub(crate) fn parse(path: &str) -> Result<Self, String> {
        if path == "-" {
            return Ok(Self::Standard);
        }
        let lower = path.to_lowercase();
        let (stem, gzip) = lower.strip_suffix(".gz").map_or((lower.as_str(), false), |stem| (stem, true));
        let format = match Path::new(stem).extension().and_then(|extension| extension.to_str()) {
            Some("csv") => Format::Csv,
            Some("tsv") => Format::Tsv,
            Some("json") => Format::Json,
            Some("parquet" | "pq") if !gzip => Format::Parquet,
            Some("arrow" | "feather") if !gzip => Format::Arrow,
            _ => {
                return Err(
                    "the name must end in .csv, .tsv or .json, with .gz if it should be compressed, \
                            or in .parquet, .arrow or .feather"
                        .into(),
                );
            }
        };
        Ok(Self::File { path: PathBuf::from(path), format, gzip })
    }

    /// The file as it was called.
    pub(crate) fn name(&self) -> String {
        match self {
            Self::Standard => "standard output".to_owned(),
            Self::File { path, .. } => path.display().to_string(),
        }
    }

    /// Whether this is a file that exists under another name.
    pub(crate) fn is(&self, other: &Path) -> bool {
        let Self::File { path, .. } = self else { return false };
        matches!((fs::canonicalize(path), fs::canonicalize(other)), (Ok(ours), Ok(theirs)) if ours == theirs)
    }
}

/// Scores on their way to a file or to standard output.
pub(crate) struct Output {
    name: String,
    sink: Sink,
    export: Box<dyn Export>,
    about: About,
    begun: bool,
}

enum Sink {
    Standard(BufWriter<io::Stdout>),
    Plain(BufWriter<AtomicFile>),
    Gzip(Box<GzEncoder<BufWriter<AtomicFile>>>),
}

impl Output {
    /// Opens the output; nothing is written before the first rows are.
    pub(crate) fn open(target: &Target, about: About) -> Result<Self> {
        let name = target.name();
        let Target::File { path, format, gzip } = target else {
            let sink = Sink::Standard(BufWriter::with_capacity(1 << 16, io::stdout()));
            let export = Box::new(if io::IsTerminal::is_terminal(&io::stdout()) {
                csv::Table::for_terminal()
            } else {
                csv::Table::commas()
            });
            return Ok(Self { name, sink, export, about, begun: false });
        };
        let file = create(path)?;
        let file = BufWriter::with_capacity(1 << 16, file);
        let sink = if *gzip {
            Sink::Gzip(Box::new(GzEncoder::new(file, Compression::default())))
        } else {
            Sink::Plain(file)
        };
        let export: Box<dyn Export> = match format {
            Format::Csv => Box::new(csv::Table::commas()),
            Format::Tsv => Box::new(csv::Table::tabs()),
            Format::Json => Box::new(json::Document::default()),
            Format::Parquet => Box::new(columnar::ParquetFile::default()),
            Format::Arrow => Box::new(columnar::ArrowFile::default()),
        };
        Ok(Self { name, sink, export, about, begun: false })
    }

    /// Writes some rows: the values of each of the fields announced, in that order.
    pub(crate) fn rows(&mut self, columns: &[Values<'_>]) -> Result<()> {
        debug_assert!(
            columns.iter().map(Values::kind).eq(self.about.fields.iter().map(|field| field.kind)),
            "the columns are those announced"
        );
        self.begin()
            .and_then(|()| self.export.rows(&mut self.sink, &self.about, columns))
            .map_err(|e| self.failed(e))
    }

    /// Completes the output: only now does the file have its name.
    pub(crate) fn finish(mut self, auc: Option<&Auc>) -> Result<()> {
        let ended = self.begin().and_then(|()| self.export.end(&mut self.sink, auc));
        let Self { name, sink, .. } = self;
        ended.and_then(|()| sink.complete()).map_err(|source| Error::Output { file: name, source })
    }

    fn begin(&mut self) -> io::Result<()> {
        if std::mem::replace(&mut self.begun, true) {
            return Ok(());
        }
        self.export.begin(&mut self.sink, &self.about)
    }

    fn failed(&self, source: io::Error) -> Error {
        Error::Output { file: self.name.clone(), source }
    }
}

/// A file that is written in one go.
pub(crate) struct Whole {
    name: String,
    file: AtomicFile,
}

impl Whole {
    /// Makes room for it under a temporary name.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        Ok(Self { name: path.display().to_string(), file: create(path)? })
    }

    /// Writes everything: only now does the file have its name.
    pub(crate) fn write(self, bytes: &[u8]) -> Result<()> {
        let Self { name, mut file } = self;
        let written = file.write_all(bytes).and_then(|()| file.commit());
        written.map_err(|source| Error::Output { file: name, source })
    }
}

impl Sink {
    fn complete(self) -> io::Result<()> {
        let file = match self {
            Self::Standard(mut out) => return out.flush(),
            Self::Plain(file) => file,
            Self::Gzip(encoder) => encoder.finish()?,
        };
        file.into_inner().map_err(io::IntoInnerError::into_error)?.commit()
    }
}

impl Write for Sink {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        match self {
            Self::Standard(out) => out.write(bytes),
            Self::Plain(file) => file.write(bytes),
            Self::Gzip(encoder) => encoder.write(bytes),
        }
    }

    fn flush(&mut self) -> io::Result<()> {
        match self {
            Self::Standard(out) => out.flush(),
            Self::Plain(file) => file.flush(),
            Self::Gzip(encoder) => encoder.flush(),
        }
    }
}

/// Writes a whole file, complete or not at all.
pub(crate) fn whole(path: &Path, bytes: &[u8]) -> Result<()> {
    Whole::open(path)?.write(bytes)
}

/// Writes to standard output.
pub(crate) fn print(text: &str) -> Result<()> {
    let failed = |source| Error::Output { file: "standard output".into(), source };
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes()).and_then(|()| out.flush()).map_err(failed)
}

/// A new file, removed if a signal ends the program before it is complete.
fn create(path: &Path) -> Result<AtomicFile> {
    lossdepth_files::remove_temporaries_on_signals();
    AtomicFile::create(path).map_err(|source| Error::Output { file: path.display().to_string(), source })
}
