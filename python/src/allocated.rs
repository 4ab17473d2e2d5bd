//! How many bytes work leaves allocated: what `sys.getsizeof` says of a prepared model.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicBool, AtomicI64, Ordering};
use std::sync::{Mutex, PoisonError};

/// The allocator of the system, which counts while [`measured`] asks for it.
struct Counting;

static IS_COUNTING: AtomicBool = AtomicBool::new(false);
static BYTES: AtomicI64 = AtomicI64::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

fn count(bytes: usize, sign: i64) {
    if IS_COUNTING.load(Ordering::Relaxed) {
        BYTES.fetch_add(sign * i64::try_from(bytes).unwrap_or(i64::MAX), Ordering::Relaxed);
    }
}

// SAFETY: every call is passed to the allocator of the system as it is; counting does not allocate.
#[expect(unsafe_code, reason = "the only way to know what a prepared model takes, whatever its method")]
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, place: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: as the caller guarantees.
        unsafe { System.dealloc(place, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as the caller guarantees.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, place: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        count(size, 1);
        count(layout.size(), -1);
        // SAFETY: as the caller guarantees.
        unsafe { System.realloc(place, layout, size) }
    }
}

/// Does some work, and says how many bytes of all threads it left allocated. Work that is measured runs one at a time; other work of
/// this library at the same time is counted too.
pub(crate) fn measured<T>(work: impl FnOnce() -> T) -> (T, usize) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let before = BYTES.load(Ordering::Relaxed);
    IS_COUNTING.store(true, Ordering::Relaxed);
    let done = work();
    IS_COUNTING.store(false, Ordering::Relaxed);
    let left = BYTES.load(Ordering::Relaxed) - before;
    (done, usize::try_from(left).unwrap_or(0))
}
