//! Where an experiment is done: its data, its finished cells, its pictures.

use crate::console::{self, Progress};
use crate::error::{Error, Problem, Result};
use crate::picture::{Scene, Target};
use crate::write;
use lossdepth::Run;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

/// What all experiments share.
pub(crate) struct Workshop {
    /// The folder with the data sets, if there is one.
    pub(crate) data: Option<PathBuf>,
    /// The folder for the results.
    pub(crate) out: PathBuf,
    /// Whether to do with a fraction of the work: to see that everything runs, not what comes out.
    pub(crate) quick: bool,
    /// Whether finished cells are done again.
    pub(crate) fresh: bool,
    pub(crate) quiet: bool,
    pub(crate) threads: Option<usize>,
    pub(crate) tally: Cell<Tally>,
    /// Names of cells by their settings.
    pub(crate) names: RefCell<HashMap<String, String>>,
}

/// What was done.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Tally {
    /// Cells that were computed.
    pub(crate) computed: usize,
    /// Cells that were there.
    pub(crate) kept: usize,
    /// How long all of them took when they were computed.
    pub(crate) seconds: f64,
}

/// A finished cell.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Done<T> {
    pub(crate) value: T,
    /// How long it took.
    pub(crate) seconds: f64,
}

/// A finished cell as it is kept.
#[derive(Serialize, Deserialize)]
struct Kept<T> {
    version: String,
    settings: Value,
    seconds: f64,
    value: T,
}

impl Workshop {
    pub(crate) fn new(data: Option<PathBuf>, out: PathBuf) -> Self {
        Self {
            data,
            out,
            quick: false,
            fresh: false,
            quiet: false,
            threads: None,
            tally: Cell::new(Tally::default()),
            names: RefCell::default(),
        }
    }

    /// What was done since the last time that this was asked for.
    pub(crate) fn take_tally(&self) -> Tally {
        self.tally.take()
    }

    /// The name under which a cell with these settings was first asked for, so that what two tables share is computed once.
    pub(crate) fn first_name<S: Serialize>(&self, name: String, settings: &S) -> String {
        let Ok(key) = serde_json::to_string(settings) else { return name };
        self.names.borrow_mut().entry(key).or_insert(name).clone()
    }

    /// The value of a cell: as it was computed before, if that was with the same settings by the same version, or
    /// computed now.
    ///
    /// `settings` is all that the value depends on. `size` is how many rows the work will report to its [`Run`].
    pub(crate) fn cell<S: Serialize, T: Serialize + DeserializeOwned>(
        &self,
        experiment: &str,
        name: &str,
        settings: &S,
        size: Option<usize>,
        work: impl FnOnce(&Run<'_>) -> Result<T>,
    ) -> Result<Done<T>> {
        let path = self
            .out
            .join(if self.quick { "cells-quick" } else { "cells" })
            .join(experiment)
            .join(format!("{name}.json"));
        let settings = serde_json::to_value(settings).map_err(|why| unfit(&path, &why))?;
        let mut tally = self.tally.get();
        if let Some(Kept { seconds, value, .. }) = self.kept(&path, &settings) {
            (tally.kept, tally.seconds) = (tally.kept + 1, tally.seconds + seconds);
            self.tally.set(tally);
            return Ok(Done { value, seconds });
        }
        let progress = Progress::new(self.quiet, size);
        let advance = |rows| progress.advance(rows);
        let started = Instant::now();
        let value = work(&Run {
            threads: self.threads,
            progress: Some(&advance),
            depths_only: true,
            ..Run::default()
        })?;
        let seconds = started.elapsed().as_secs_f64();
        drop(progress);
        let version = env!("CARGO_PKG_VERSION").to_owned();
        let kept = Kept { version, settings, seconds, value };
        let text = serde_json::to_vec_pretty(&kept).map_err(|why| unfit(&path, &why))?;
        Self::save(&path, &text)?;
        console::note(self.quiet, format_args!("{experiment}: {name} ({seconds:.1} s)"));
        (tally.computed, tally.seconds) = (tally.computed + 1, tally.seconds + seconds);
        self.tally.set(tally);
        Ok(Done { value: kept.value, seconds })
    }

    fn kept<T: DeserializeOwned>(&self, path: &Path, settings: &Value) -> Option<Kept<T>> {
        if self.fresh {
            return None;
        }
        // What cannot be read is done again.
        let kept: Kept<T> = serde_json::from_slice(&fs::read(path).ok()?).ok()?;
        (kept.version == env!("CARGO_PKG_VERSION") && kept.settings == *settings).then_some(kept)
    }

    /// Writes a file of the results, under its name when it is complete.
    fn save(path: &Path, bytes: &[u8]) -> Result<()> {
        if let Some(folder) = path.parent() {
            let file = folder.display().to_string();
            fs::create_dir_all(folder).map_err(|source| Error::Output { file, source })?;
        }
        write::whole(path, bytes)
    }

    /// Writes a text next to the other results.
    pub(crate) fn text(&self, name: &str, text: &str) -> Result<()> {
        Self::save(&self.out.join(name), text.as_bytes())
    }

    /// Draws a picture twice, as `name.png` and `name.svg`.
    pub(crate) fn picture(&self, name: &str, scene: &Scene) -> Result<()> {
        fs::create_dir_all(&self.out)
            .map_err(|source| Error::Output { file: self.out.display().to_string(), source })?;
        for extension in ["png", "svg"] {
            let path = self.out.join(format!("{name}.{extension}"));
            let target = Target::parse(&path.display().to_string()).map_err(Error::Usage)?;
            target.open()?.draw(scene)?;
        }
        Ok(())
    }

    /// The path of a file of the data, which must be there.
    pub(crate) fn file(&self, experiment: &str, name: &str) -> Result<PathBuf> {
        let Some(folder) = &self.data else {
            return Err(Error::Usage(format!(
                "`reproduce {experiment}` needs the data sets: --data DIR, or --quick to try it on made-up data"
            )));
        };
        let path = folder.join(name);
        if path.is_file() {
            Ok(path)
        } else {
            Err(Error::Input { file: path.display().to_string(), problem: Problem::Missing })
        }
    }
}

fn unfit(path: &Path, why: &serde_json::Error) -> Error {
    Error::Usage(format!("{}: cannot keep a result: {why}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cell_is_computed_once_for_the_same_settings() {
        let folder = tempfile::tempdir().unwrap();
        let shop = Workshop { quiet: true, ..Workshop::new(None, folder.path().to_owned()) };
        let ask = |shop: &Workshop, settings: &str, value: f64| {
            shop.cell("test", "cell", &settings, None, |_| Ok(value)).unwrap().value
        };
        assert_eq!(ask(&shop, "a", 0.1 + 0.2), 0.1 + 0.2);
        assert_eq!(ask(&shop, "a", 2.0), 0.1 + 0.2, "kept, to the last bit");
        assert_eq!(ask(&shop, "b", 2.0), 2.0, "other settings");
        let tally = shop.take_tally();
        assert_eq!((tally.computed, tally.kept), (2, 1));
        assert_eq!(shop.first_name("x".to_owned(), &"a"), "x");
        assert_eq!(shop.first_name("y".to_owned(), &"a"), "x", "the same settings under another name");
        assert_eq!(shop.first_name("y".to_owned(), &"b"), "y");
        assert_eq!(ask(&Workshop { fresh: true, ..shop }, "b", 3.0), 3.0);
        let shop = Workshop { quiet: true, ..Workshop::new(None, folder.path().to_owned()) };
        std::fs::write(folder.path().join("cells/test/cell.json"), "{\"cut").unwrap();
        assert_eq!(ask(&shop, "b", 4.0), 4.0, "a damaged file is done again");
    }

    #[test]
    fn without_data_the_message_says_what_to_do() {
        let shop = Workshop::new(None, PathBuf::from("out"));
        let error = shop.file("odds", "odds/wine.mat").unwrap_err().to_string();
        assert!(error.contains("`reproduce odds`") && error.contains("--data DIR"), "{error}");
    }
}
