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
use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

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

/// The file being written, under its temporary name; also for whoever handles Ctrl-C.
static PENDING: Mutex<Option<TempPath>> = Mutex::new(None);

fn pending() -> MutexGuard<'static, Option<TempPath>> {
    PENDING.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Scores on their way to a file or to standard output.
pub(crate) struct Output {
    name: String,
    /// Where the file goes when it is complete; none for standard output.
    path: Option<PathBuf>,
    sink: Sink,
    export: Box<dyn Export>,
    about: About,
    begun: bool,
}

enum Sink {
    Standard(BufWriter<io::Stdout>),
    Plain(BufWriter<File>),
    Gzip(Box<GzEncoder<BufWriter<File>>>),
}

impl Output {
    /// Opens the output; nothing is written before the first rows are.
    pub(crate) fn open(target: &Target, about: About) -> Result<Self> {
        let name = target.name();
        let Target::File { path, format, gzip } = target else {
            let sink = Sink::Standard(BufWriter::with_capacity(1 << 16, io::stdout()));
            let export = Box::new(csv::Table::commas());
            return Ok(Self { name, path: None, sink, export, about, begun: false });
        };
        let (path, file) = temporary(path).map_err(|source| Error::Output { file: name.clone(), source })?;
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
        Ok(Self { name, path: Some(path), sink, export, about, begun: false })
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
        self.complete(auc).map_err(|e| self.failed(e))
    }

    fn complete(&mut self, auc: Option<&Auc>) -> io::Result<()> {
        self.begin()?;
        self.export.end(&mut self.sink, auc)?;
        let file = match &mut self.sink {
            Sink::Standard(out) => return out.flush(),
            Sink::Plain(file) => file,
            Sink::Gzip(encoder) => {
                encoder.try_finish()?;
                encoder.get_mut()
            }
        };
        file.flush()?;
        file.get_ref().sync_all()?;
        // The lock is held until the file has its name.
        match (pending().take(), &self.path) {
            (Some(temporary), Some(path)) => temporary.persist(path).map_err(|e| e.error),
            _ => Ok(()),
        }
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

impl Drop for Output {
    fn drop(&mut self) {
        pending().take();
    }
}

/// A file that is written in one go.
pub(crate) struct Whole {
    name: String,
    path: PathBuf,
    file: File,
}

impl Whole {
    /// Makes room for it under a temporary name.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let name = path.display().to_string();
        let (path, file) = temporary(path).map_err(|source| Error::Output { file: name.clone(), source })?;
        Ok(Self { name, path, file })
    }

    /// Writes everything: only now does the file have its name.
    pub(crate) fn write(mut self, bytes: &[u8]) -> Result<()> {
        self.complete(bytes).map_err(|source| Error::Output { file: self.name.clone(), source })
    }

    fn complete(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.file.write_all(bytes)?;
        self.file.sync_all()?;
        // The lock is held until the file has its name.
        match pending().take() {
            Some(temporary) => temporary.persist(&self.path).map_err(|e| e.error),
            None => Ok(()),
        }
    }
}

impl Drop for Whole {
    fn drop(&mut self) {
        pending().take();
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

/// A new file next to `path`, removed unless it gets its name; and the path with links followed.
fn temporary(path: &Path) -> io::Result<(PathBuf, File)> {
    let path = fs::canonicalize(path).unwrap_or_else(|_| path.to_owned());
    if path.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let prefix = format!(".{}.", path.file_name().unwrap_or_default().to_string_lossy());
    let mut builder = tempfile::Builder::new();
    builder.prefix(&prefix).suffix(".tmp");
    #[cfg(unix)]
    builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
    // Where Ctrl-C is ignored it stays so.
    let _ = ctrlc::try_set_handler(|| {
        pending().take();
        std::process::exit(130);
    });
    // The lock is held until whoever handles Ctrl-C knows of the file.
    let mut pending = pending();
    let (file, temporary) = builder.tempfile_in(folder).map_err(|e| bare(&e))?.into_parts();
    if let Ok(old) = fs::metadata(&path) {
        file.set_permissions(old.permissions())?;
    }
    *pending = Some(temporary);
    Ok((path, file))
}

/// The temporary's name would only confuse.
fn bare(error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, "no such folder"),
        kind => kind.into(),
    }
}
