//! What the experiments need from the program that runs them.

use crate::data::Data;
use crate::error::HostError;
use std::path::Path;

/// The program that runs the experiments: it knows file formats, how to write files and where messages go.
pub trait Host {
    /// Reads a data set in which every row has a label, a whole number from 0 to 255.
    ///
    /// # Errors
    /// The file cannot be read, or has no such labels.
    fn load(&self, path: &Path) -> Result<Data, HostError>;

    /// Writes a file, complete or not at all, and its folder if there is none.
    ///
    /// # Errors
    /// The file cannot be written.
    fn write(&self, path: &Path, bytes: &[u8]) -> Result<(), HostError>;

    /// Shows a line to the user.
    fn note(&self, text: &str);

    /// Shows the progress of some work on `rows` rows, if that number is known. The function returned is called with the
    /// number of rows done since the last call; dropping it ends the display.
    fn progress(&self, rows: Option<usize>) -> Box<dyn Fn(usize) + Sync + '_>;
}
