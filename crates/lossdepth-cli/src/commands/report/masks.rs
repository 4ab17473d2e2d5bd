//! Columns whose values are not written.

use crate::args::list;
use crate::commands::inputs::Inputs;
use crate::error::{Error, Result, shorten};
use crate::suggest::nearest;

/// The columns in `--mask`. Refuses those that neither the data nor what is compared has: a typing error would show what
/// should be hidden.
pub(super) fn named(flags: &[String], inputs: &Inputs) -> Result<Vec<String>> {
    let asked: Vec<String> = flags.iter().flat_map(|names| list(Some(names))).collect();
    // As of `--mask "$COLUMN"` with a variable that is not set.
    if flags.iter().any(|names| list(Some(names)).is_empty()) {
        return Err(Error::Usage("`--mask` names no column".to_owned()));
    }
    let known = || inputs.data.names().iter().chain(&inputs.names).map(String::as_str);
    for name in &asked {
        if known().any(|known| known == name) {
            continue;
        }
        let hint = nearest(name, known()).map(|near| format!("; did you mean `{}`?", shorten(near)));
        let (file, hint) = (inputs.data.file(), hint.unwrap_or_default());
        return Err(Error::Usage(format!("`--mask`: {file} has no column `{}`{hint}", shorten(name))));
    }
    // Columns of one name are read as `x`, `x.1`, `x.2`: all of them are meant.
    let is_copy = |known: &&str| {
        let number = |name: &String| known.strip_prefix(&name[..])?.strip_prefix('.')?.parse::<usize>().ok();
        asked.iter().any(|name| number(name).is_some())
    };
    let copies: Vec<String> = known().filter(is_copy).map(str::to_owned).collect();
    Ok(asked.into_iter().chain(copies).collect())
}
