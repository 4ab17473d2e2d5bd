//! One run of some experiments: its options, the cache of finished cells, the output folder.

use crate::data::Data;
use crate::error::{Error, Result};
use crate::host::Host;
use lossdepth::{Run, Settings};
use lossdepth_plot::{Format, Scene};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// How to run the experiments.
#[derive(Debug, Clone, Default)]
pub struct Options {
    /// The folder with the data sets.
    pub data: Option<PathBuf>,
    /// The folder for the results.
    pub out: PathBuf,
    /// Run small versions of the experiments, to test the program; the numbers mean nothing.
    pub quick: bool,
    /// Compute cells again that are in the cache.
    pub fresh: bool,
    /// The number of threads; by default all.
    pub threads: Option<usize>,
    /// Bytes for kernel values, where settings do not say.
    pub memory: Option<f64>,
}

/// What all experiments of a run share.
pub(crate) struct Session<'a> {
    pub(crate) data: Option<PathBuf>,
    pub(crate) out: PathBuf,
    pub(crate) quick: bool,
    pub(crate) memory: Option<f64>,
    fresh: bool,
    threads: Option<usize>,
    host: &'a dyn Host,
    counts: Cell<CellCounts>,
    /// Names of cells by their settings.
    names: RefCell<HashMap<String, String>>,
}

/// The cells that were needed.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct CellCounts {
    /// Computed now.
    pub(crate) computed: usize,
    /// Read from the cache.
    pub(crate) cached: usize,
    /// The time that all of them took when they were computed.
    pub(crate) seconds: f64,
}

/// A finished cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finished<T> {
    pub(crate) value: T,
    /// The time that it took when it was computed.
    pub(crate) seconds: f64,
}

/// The file of a cell in the cache.
#[derive(Serialize, Deserialize)]
struct CachedCell<T> {
    version: String,
    settings: Value,
    seconds: f64,
    value: T,
}

impl<'a> Session<'a> {
    /// A run with these options.
    pub(crate) fn new(options: Options, host: &'a dyn Host) -> Self {
        let Options { data, out, quick, fresh, threads, memory } = options;
        Self {
            data,
            out,
            quick,
            memory,
            fresh,
            threads,
            host,
            counts: Cell::new(CellCounts::default()),
            names: RefCell::default(),
        }
    }

    /// Returns the counts of cells since the last call.
    pub(crate) fn take_counts(&self) -> CellCounts {
        self.counts.take()
    }

    /// The name under which a cell with these settings was first requested, so that a cell of two tables is computed once.
    pub(crate) fn shared_name<S: Serialize>(&self, name: String, settings: &S) -> String {
        let Ok(key) = serde_json::to_string(settings) else { return name };
        self.names.borrow_mut().entry(key).or_insert(name).clone()
    }

    /// The settings with the memory of this run, if they have none.
    pub(crate) fn with_memory(&self, settings: &Settings) -> Settings {
        Settings { memory: settings.memory.or(self.memory), ..settings.clone() }
    }

    /// The value of a cell: from the cache if it was computed with the same settings by the same version, otherwise
    /// computed now.
    ///
    /// `settings` is all that the value depends on. `rows` is the number of rows that `compute` reports to its [`Run`].
    pub(crate) fn cell<S: Serialize, T: Serialize + DeserializeOwned>(
        &self,
        experiment: &str,
        name: &str,
        settings: &S,
        rows: Option<usize>,
        compute: impl FnOnce(&Run<'_>) -> Result<T>,
    ) -> Result<Finished<T>> {
        let path = self
            .out
            .join(if self.quick { "cells-quick" } else { "cells" })
            .join(experiment)
            .join(format!("{name}.json"));
        let failed = |why: serde_json::Error| {
            Error::Message(format!("{}: cannot keep a result: {why}", path.display()))
        };
        let settings = serde_json::to_value(settings).map_err(failed)?;
        let mut counts = self.counts.get();
        if let Some(CachedCell { seconds, value, .. }) = self.cached(&path, &settings) {
            (counts.cached, counts.seconds) = (counts.cached + 1, counts.seconds + seconds);
            self.counts.set(counts);
            return Ok(Finished { value, seconds });
        }
        let progress = self.host.progress(rows);
        let started = Instant::now();
        let value = compute(&Run {
            threads: self.threads,
            progress: Some(&*progress),
            depths_only: true,
            ..Run::default()
        })?;
        let seconds = started.elapsed().as_secs_f64();
        drop(progress);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let cell = CachedCell { version, settings, seconds, value };
        let text = serde_json::to_vec_pretty(&cell).map_err(failed)?;
        self.write(&path, &text)?;
        self.note(&format!("{experiment}: {name} ({seconds:.1} s)"));
        (counts.computed, counts.seconds) = (counts.computed + 1, counts.seconds + seconds);
        self.counts.set(counts);
        Ok(Finished { value: cell.value, seconds })
    }

    /// A cell of the cache. A file that cannot be read or is damaged counts as absent.
    fn cached<T: DeserializeOwned>(&self, path: &Path, settings: &Value) -> Option<CachedCell<T>> {
        if self.fresh {
            return None;
        }
        let cell: CachedCell<T> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (cell.version == env!("CARGO_PKG_VERSION") && cell.settings == *settings).then_some(cell)
    }

    fn write(&self, path: &Path, bytes: &[u8]) -> Result<()> {
        self.host.write(path, bytes).map_err(Error::Host)
    }

    pub(crate) fn note(&self, text: &str) {
        self.host.note(text);
    }

    /// Writes a text to the output folder.
    pub(crate) fn write_text(&self, name: &str, text: &str) -> Result<()> {
        self.write(&self.out.join(name), text.as_bytes())
    }

    /// Writes a picture to the output folder, as `name.png` and `name.svg`.
    pub(crate) fn write_picture(&self, name: &str, scene: &Scene) -> Result<()> {
        for (extension, format) in [("png", Format::Png), ("svg", Format::Svg)] {
            let bytes = scene.encode(format).map_err(|why| Error::Message(format!("cannot draw: {why}")))?;
            self.write(&self.out.join(format!("{name}.{extension}")), &bytes)?;
        }
        Ok(())
    }

    /// Reads a file of the data folder.
    pub(crate) fn load(&self, experiment: &str, name: &str) -> Result<Data> {
        let Some(folder) = &self.data else {
            return Err(Error::Message(format!(
                "`reproduce {experiment}` needs the data sets: --data DIR, or --quick to try it on made-up data"
            )));
        };
        let path = folder.join(name);
        if path.is_file() {
            self.host.load(&path).map_err(Error::Host)
        } else {
            Err(Error::Message(format!("{}: no such file", path.display())))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::HostError;

    /// Writes files without care, reads none.
    struct TestHost;

    impl Host for TestHost {
        fn load(&self, _: &Path) -> Result<Data, HostError> {
            Err("no data here".into())
        }

        fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError> {
            if let Some(folder) = path.parent() {
                fs::create_dir_all(folder)?;
            }
            Ok(fs::write(path, bytes)?)
        }

        fn note(&self, _: &str) {}

        fn progress(&self, _: Option<usize>) -> Box<dyn Fn(usize) + Sync + '_> {
            Box::new(|_| ())
        }
    }

    #[test]
    fn a_cell_is_computed_once_for_the_same_settings() {
        let folder = tempfile::tempdir().unwrap();
        let options = Options { out: folder.path().to_owned(), ..Options::default() };
        let session = Session::new(options.clone(), &TestHost);
        let value = |session: &Session<'_>, settings: &str, value: f64| {
            session.cell("test", "cell", &settings, None, |_| Ok(value)).unwrap().value
        };
        assert_eq!(value(&session, "a", 0.1 + 0.2), 0.1 + 0.2);
        assert_eq!(value(&session, "a", 2.0), 0.1 + 0.2, "cached, with the same bits");
        assert_eq!(value(&session, "b", 2.0), 2.0, "other settings");
        let counts = session.take_counts();
        assert_eq!((counts.computed, counts.cached), (2, 1));
        assert_eq!(session.shared_name("x".to_owned(), &"a"), "x");
        assert_eq!(session.shared_name("y".to_owned(), &"a"), "x", "the same settings under another name");
        assert_eq!(session.shared_name("y".to_owned(), &"b"), "y");
        let fresh = Session::new(Options { fresh: true, ..options.clone() }, &TestHost);
        assert_eq!(value(&fresh, "b", 3.0), 3.0);
        fs::write(folder.path().join("cells/test/cell.json"), "{\"cut").unwrap();
        let session = Session::new(options, &TestHost);
        assert_eq!(value(&session, "b", 4.0), 4.0, "a damaged file is computed again");
    }

    #[test]
    fn without_data_the_message_says_what_to_do() {
        let session = Session::new(Options::default(), &TestHost);
        let error = session.load("odds", "odds/wine.mat").unwrap_err().to_string();
        assert!(error.contains("`reproduce odds`") && error.contains("--data DIR"), "{error}");
    }
}
