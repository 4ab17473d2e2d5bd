//! Long work on a thread of its own, while the thread of R looks for Ctrl-C.

use crate::failure::{Answer, Failure};
use std::any::Any;
use std::ffi::c_int;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::Duration;

unsafe extern "C" {
    /// In `entrypoint.c`.
    fn lossdepth_interrupted() -> c_int;
}

/// How often R is asked; a result is passed on at once.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own. On Ctrl-C the flag given to `work` is raised and the call returns at once; the work
/// owns its data and ends by itself soon after. It must not touch R.
pub(crate) fn interruptible<T: Send + 'static>(
    work: impl FnOnce(&AtomicBool) -> Answer<T> + Send + 'static,
) -> Answer<T> {
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel(1);
    let raised = Arc::clone(&cancel);
    let worker = thread::Builder::new().name("lossdepth".into()).spawn(move || {
        // Nobody listens any more after an interrupt.
        let _ = sender.send(work(&raised));
    });
    let worker = worker.map_err(|error| Failure::new(format!("could not start a thread: {error}")))?;
    loop {
        match receiver.recv_timeout(BETWEEN_LOOKS) {
            Ok(result) => return result,
            Err(RecvTimeoutError::Timeout) => {
                // SAFETY: this is the thread of R, which called; the C function lets no jump out.
                if unsafe { lossdepth_interrupted() } != 0 {
                    cancel.store(true, Ordering::Relaxed);
                    return Err(Failure::Interrupted);
                }
            }
            Err(RecvTimeoutError::Disconnected) => {
                let reason = worker.join().err().map_or_else(String::new, |panic| message(&*panic));
                return Err(Failure::new(format!("internal error in lossdepth: {reason}")));
            }
        }
    }
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}
