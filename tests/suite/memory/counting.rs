//! An allocator that counts for each thread how much memory it holds, and the most that it has held.

// The benchmark of memory includes this file and does not use all of it.
#![allow(dead_code)]

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    // Constant and without a destructor, so that using it never allocates.
    static HELD: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, counting per thread, so that tests do not disturb each other.
pub struct Counting;

/// What an allocation takes: glibc's malloc adds a word and rounds up to 16 bytes, at least 32.
fn taken(layout: Layout) -> isize {
    let size = (layout.size() + 8).next_multiple_of(16).max(32);
    isize::try_from(size).unwrap_or(isize::MAX)
}

fn count(bytes: isize) {
    // A thread that ends may still free; nobody reads its figure any more.
    let _ = HELD.try_with(|held| held.set(held.get() + bytes));
    let _ = PEAK.try_with(|peak| peak.set(peak.get().max(HELD.get())));
}

// SAFETY: every call is passed on unchanged to the system's allocator, which keeps the contract.
// Counting allocates nothing and cannot unwind. `alloc_zeroed` and `realloc` are the provided
// methods, which call the two below.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(taken(layout));
        // SAFETY: the caller's promise about `layout` is the one that is asked for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        count(-taken(layout));
        // SAFETY: `pointer` came from `alloc` above, hence from the system's allocator, and the
        // caller promises that `layout` is the one it was allocated with.
        unsafe { System.dealloc(pointer, layout) }
    }
}

/// How many bytes this thread holds: what it has allocated less what it has freed.
pub fn held() -> isize {
    HELD.get()
}

/// The most that this thread has held since [`forget_peak`].
pub fn peak() -> isize {
    PEAK.get()
}

/// Begins the peak anew with what this thread holds now.
pub fn forget_peak() {
    PEAK.set(HELD.get());
}

/// Makes a value, and says how many bytes this thread holds more for it.
pub fn bytes_of<T>(make: impl FnOnce() -> T) -> (T, usize) {
    let before = HELD.get();
    let value = make();
    let bytes = HELD.get() - before;
    (value, usize::try_from(bytes).unwrap_or(0))
}
