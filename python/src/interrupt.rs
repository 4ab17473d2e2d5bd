//! The one door for the GIL: long work runs without it and stops when Python wants to.

use pyo3::exceptions::PyRuntimeError;
use pyo3::prelude::*;
use std::any::Any;
use std::panic::{self, AssertUnwindSafe};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::thread;
use std::time::{Duration, Instant};

/// How often the main thread looks for a signal; a result is passed on at once.
const BETWEEN_LOOKS: Duration = Duration::from_millis(50);

/// Does `work` on a thread of its own and waits for it without the GIL.
///
/// Python delivers signals to its main thread: only there they are looked for. On Ctrl-C the flag given to
/// `work` is raised and the call returns at once; the work owns its data and ends by itself soon after.
pub(crate) fn interruptible<T: Send + 'static>(
    py: Python<'_>,
    work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
) -> PyResult<T> {
    let patience = if on_main_thread(py)? { BETWEEN_LOOKS } else { Duration::MAX };
    let cancel = Arc::new(AtomicBool::new(false));
    let (sender, receiver) = sync_channel(1);
    let raised = Arc::clone(&cancel);
    let worker = thread::Builder::new().name("lossdepth".into()).spawn(move || {
        // Nobody listens any more after an interrupt.
        let _ = sender.send(work(&raised));
    })?;
    py.detach(move || {
        loop {
            match receiver.recv_timeout(patience) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) => {
                    let interrupt = |_: &PyErr| cancel.store(true, Ordering::Relaxed);
                    Python::attach(|py| py.check_signals().inspect_err(interrupt))?;
                }
                Err(RecvTimeoutError::Disconnected) => {
                    return Err(worker.join().err().map_or_else(|| internal(&""), |panic| internal(&*panic)));
                }
            }
        }
    })
}

/// How long rows took: work that will be short is done at once, without the cost of a thread of its own.
#[derive(Default)]
pub(crate) struct Pace {
    /// Nanoseconds a row, of the last call; 0 before the first.
    nanoseconds: AtomicU64,
}

impl Pace {
    /// Does `work` on so many rows: as [`interruptible`], unless it is expected to take less time than the main thread waits
    /// between two looks for a signal. `longer` says that other work has to be done before that of the rows.
    pub(crate) fn run<T: Send + 'static>(
        &self,
        py: Python<'_>,
        rows: usize,
        longer: bool,
        work: impl FnOnce(&AtomicBool) -> T + Send + 'static,
    ) -> PyResult<T> {
        if longer {
            return interruptible(py, work);
        }
        let started = Instant::now();
        let a_row = self.nanoseconds.load(Ordering::Relaxed);
        let expected = Duration::from_nanos(a_row.saturating_mul(rows as u64));
        let done = if a_row > 0 && expected < BETWEEN_LOOKS / 5 {
            let never = AtomicBool::new(false);
            let done = py.detach(|| panic::catch_unwind(AssertUnwindSafe(|| work(&never))));
            done.map_err(|panic| internal(&*panic))
        } else {
            interruptible(py, work)
        };
        let took = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        self.nanoseconds.store((took / rows.max(1) as u64).max(1), Ordering::Relaxed);
        done
    }
}

fn internal(panic: &(dyn Any + Send)) -> PyErr {
    PyRuntimeError::new_err(format!("internal error in lossdepth: {}", message(panic)))
}

fn on_main_thread(py: Python<'_>) -> PyResult<bool> {
    let threading = py.import("threading")?;
    let main = threading.call_method0("main_thread")?.getattr("ident")?;
    threading.call_method0("get_ident")?.eq(main)
}

fn message(panic: &(dyn Any + Send)) -> String {
    let text = panic.downcast_ref::<&str>().map(ToString::to_string);
    text.or_else(|| panic.downcast_ref::<String>().cloned()).unwrap_or_else(|| "a panic".into())
}
