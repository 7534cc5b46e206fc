//! Memory that threads take turns with.

use super::lock;
use std::sync::Mutex;

/// Benches that nobody works at, each with the thread that did last: its memory is in that core's caches, and it gets it again.
pub(super) struct Pool<T>(Mutex<Vec<(Option<usize>, T)>>);

impl<T> Default for Pool<T> {
    fn default() -> Pool<T> {
        Pool(Mutex::default())
    }
}

impl<T> Pool<T> {
    /// All of them, with their threads, while nobody works.
    pub(super) fn all(&mut self) -> &mut Vec<(Option<usize>, T)> {
        self.0.get_mut().unwrap_or_else(|e| e.into_inner())
    }

    /// Makes it that many.
    pub(super) fn grow(&mut self, count: usize, make: impl Fn() -> T) {
        let all = self.all();
        all.resize_with(all.len().max(count), || (None, make()));
    }

    /// One to work at. There are enough unless `fill` itself waits for other threads: then one more is made.
    pub(super) fn take(&self, make: impl FnOnce() -> T) -> T {
        let thread = rayon::current_thread_index();
        let mut all = lock(&self.0);
        let of = |last: Option<usize>| all.iter().position(|(thread, _)| *thread == last);
        match of(thread).or_else(|| of(None)).or(all.len().checked_sub(1)) {
            Some(index) => all.swap_remove(index).1,
            None => make(),
        }
    }

    /// Gives it back.
    pub(super) fn put(&self, bench: T) {
        lock(&self.0).push((rayon::current_thread_index(), bench));
    }
}
