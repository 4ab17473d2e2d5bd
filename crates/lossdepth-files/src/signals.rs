//! Signals that end the process: no temporary file is left.

use crate::atomic::remove_all;
use std::sync::Once;

/// Removes the temporary files of this process when SIGINT, SIGTERM or SIGHUP (Ctrl-C and closing the console on
/// Windows) ends it, with the exit code 128 + signal that shells use.
///
/// A signal that is ignored, as SIGHUP under `nohup` and SIGINT for jobs in the background of a script, stays ignored. This
/// is for programs; a library leaves the signals to the program that it is part of.
pub fn remove_temporaries_on_signals() {
    static INSTALLED: Once = Once::new();
    INSTALLED.call_once(install);
}

#[cfg(target_os = "linux")]
fn install() {
    use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
    let ignored = std::fs::read_to_string("/proc/self/status").ok().and_then(|status| ignored(&status));
    // Without knowing which are ignored, none is touched.
    let ignored = ignored.unwrap_or(u64::MAX);
    let handled = [SIGINT, SIGTERM, SIGHUP].into_iter().filter(|signal| ignored >> (signal - 1) & 1 == 0);
    let Ok(mut signals) = signal_hook::iterator::Signals::new(handled) else { return };
    let wait = move || {
        if let Some(signal) = signals.forever().next() {
            remove_all();
            std::process::exit(128 + signal);
        }
    };
    // Without a thread a signal would be lost; then its default is the better choice, but nothing can be done any more.
    let _ = std::thread::Builder::new().name("signals".to_owned()).spawn(wait);
}

/// The set of ignored signals: bit n - 1 is signal n.
#[cfg(target_os = "linux")]
fn ignored(status: &str) -> Option<u64> {
    let line = status.lines().find_map(|line| line.strip_prefix("SigIgn:"))?;
    u64::from_str_radix(line.trim(), 16).ok()
}

/// All of them or, where one is ignored, none.
#[cfg(not(target_os = "linux"))]
fn install() {
    let _ = ctrlc::try_set_handler(|| {
        remove_all();
        std::process::exit(130);
    });
}

#[cfg(all(test, target_os = "linux"))]
mod tests {
    use super::ignored;

    #[test]
    fn ignored_signals() {
        assert_eq!(ignored("Name:\tx\nSigIgn:\t0000000000001006\nSigCgt:\t0\n"), Some(0x1006));
        assert_eq!(ignored("Name:\tx\n"), None);
    }
}
