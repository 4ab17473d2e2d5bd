//! Queries handed out to worker threads.

use super::Run;
use crate::data::Rows;
use crate::error::{DepthError, Result};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};

/// All queries of one call, and which of them workers have taken.
pub struct Batch<'a, 'b> {
    queries: Rows<'a>,
    run: &'a Run<'b>,
    next: AtomicUsize,
    abandoned: AtomicBool,
}

/// One worker's access to a [`Batch`].
pub struct Ticket<'a, 'b, T> {
    batch: &'a Batch<'a, 'b>,
    results: Vec<(usize, T)>,
    sink: &'a Mutex<Vec<(usize, T)>>,
}

impl<'a, 'b> Batch<'a, 'b> {
    /// All of `queries`, to be solved as `run` says.
    pub fn new(queries: Rows<'a>, run: &'a Run<'b>) -> Self {
        Self { queries, run, next: AtomicUsize::new(0), abandoned: AtomicBool::new(false) }
    }

    /// How many workers there will be.
    pub(crate) fn workers(&self) -> usize {
        self.run.threads.unwrap_or_else(rayon::current_num_threads).max(1)
    }

    /// Lets every worker take queries until there are none, and puts the results in order.
    ///
    /// # Errors
    /// [`DepthError::Cancelled`], or a number of threads that cannot be started.
    pub fn run<T: Send>(&self, work: impl Fn(Ticket<'_, 'b, T>) + Sync) -> Result<Vec<T>> {
        let sink = Mutex::new(Vec::new());
        let share = self.queries.len() / self.workers();
        let job = || work(Ticket { batch: self, results: Vec::with_capacity(share), sink: &sink });
        let spawn = |workers: usize| rayon::scope(|s| (0..workers).for_each(|_| s.spawn(|_| job())));
        match self.run.threads {
            _ if self.queries.is_empty() => {}
            Some(0) => {
                return Err(DepthError::Setting { name: "threads", expected: "at least 1", got: 0.0 });
            }
            Some(1) => job(),
            Some(threads) => rayon::ThreadPoolBuilder::new()
                .num_threads(threads)
                .build()
                .map_err(|e| DepthError::Threads { threads, reason: e.to_string() })?
                .install(|| spawn(threads)),
            None => spawn(self.workers()),
        }
        if self.cancelled() {
            return Err(DepthError::Cancelled);
        }
        let mut results = sink.into_inner().unwrap_or_else(PoisonError::into_inner);
        if !results.is_sorted_by_key(|(id, _)| *id) {
            results.sort_unstable_by_key(|(id, _)| *id);
        }
        Ok(results.into_iter().map(|(_, result)| result).collect())
    }

    /// [`run`](Self::run) for work that may fail: the first error ends the work of all.
    pub(crate) fn try_run<T: Send>(
        &self,
        work: impl Fn(Ticket<'_, 'b, T>) -> Result<()> + Sync,
    ) -> Result<Vec<T>> {
        let failure = Mutex::new(None);
        let results = self.run(|ticket| {
            if let Err(error) = work(ticket) {
                self.abandoned.store(true, Ordering::Relaxed);
                failure.lock().unwrap_or_else(PoisonError::into_inner).get_or_insert(error);
            }
        });
        failure.into_inner().unwrap_or_else(PoisonError::into_inner).map_or(results, Err)
    }

    fn cancelled(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
            || self.run.cancel.is_some_and(|flag| flag.load(Ordering::Relaxed))
    }
}

impl<'a, T> Ticket<'a, '_, T> {
    /// The next few queries, at most `most` rounded down to whole groups, with the number of the first.
    pub fn take(&self, most: usize, group: usize) -> Option<(usize, Rows<'a>)> {
        let count = most - most % group;
        if count == 0 || self.cancelled() {
            return None;
        }
        let (total, next) = (self.batch.queries.len(), &self.batch.next);
        let first = next.fetch_add(count, Ordering::Relaxed);
        if first >= total {
            next.store(total, Ordering::Relaxed);
            return None;
        }
        Some((first, self.batch.queries.range(first, (first + count).min(total))))
    }

    /// A quarter of this worker's share of the queries that are not taken yet: it may take that many in advance without
    /// leaving others idle at the end.
    pub(crate) fn share(&self) -> usize {
        let left = self.batch.queries.len().saturating_sub(self.batch.next.load(Ordering::Relaxed));
        left / (4 * self.batch.workers())
    }

    /// Hands in the result of a query.
    pub fn done(&mut self, id: usize, result: T) {
        self.results.push((id, result));
        if let Some(progress) = self.batch.run.progress {
            progress(1);
        }
    }

    pub(crate) fn cancelled(&self) -> bool {
        self.batch.cancelled()
    }
}

impl<T> Drop for Ticket<'_, '_, T> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.batch.abandoned.store(true, Ordering::Relaxed);
        }
        if let Ok(mut sink) = self.sink.lock() {
            if sink.is_empty() {
                *sink = std::mem::take(&mut self.results);
            } else {
                sink.append(&mut self.results);
            }
        }
    }
}
