//! Shows a page in the browser of the system.

use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

/// How often, and how many times, to look whether the program that opens pages has failed.
const LOOK: Duration = Duration::from_millis(50);
const LOOKS: usize = 20;

/// Opens a page; does not wait until it is closed.
pub(super) fn open(page: &Path) -> Result<(), String> {
    let mut command = if cfg!(target_os = "windows") {
        let mut command = Command::new("cmd");
        command.args(["/C", "start", ""]);
        command
    } else {
        Command::new(if cfg!(target_os = "macos") { "open" } else { "xdg-open" })
    };
    // A name that starts with a dash is no option.
    let page = std::path::absolute(page).unwrap_or_else(|_| page.to_owned());
    command.arg(page).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null());
    let name = command.get_program().to_string_lossy().into_owned();
    let mut child = command.spawn().map_err(|error| format!("{name}: {error}"))?;
    for _ in 0..LOOKS {
        match child.try_wait() {
            Ok(Some(status)) if status.success() => return Ok(()),
            Ok(Some(status)) => return Err(format!("{name}: {status}")),
            Ok(None) => std::thread::sleep(LOOK),
            Err(error) => return Err(format!("{name}: {error}")),
        }
    }
    Ok(())
}
