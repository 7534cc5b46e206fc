//! A run allocates nothing once its memory is there.
#![allow(unsafe_code)]

use crate::layer::{Problem, Size};
use dkp_tape::random::Key;
use faer::Mat;
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

/// The system's allocator, counting each thread's calls: other tests run beside this one.
struct Counting;

thread_local! {
    static CALLS: Cell<usize> = const { Cell::new(0) };
}

// SAFETY: every call is passed on to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        CALLS.set(CALLS.get() + 1);
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Calls so far on the threads of the current pool. Counting itself allocates: the same amount every time.
fn calls() -> usize {
    rayon::broadcast(|_| CALLS.get()).iter().sum()
}

#[test]
fn no_allocation_in_the_steady_state() {
    for (threads, draws) in [(1, 4), (2, 4), (2, 1)] {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let [idle, busy] = pool.install(|| {
            let mut problem = Problem::new(Size { features: 5, inducing: 40, tile: 16, points: 100, draws });
            // the matrix product's own buffers are made when a thread first needs them
            rayon::broadcast(|_| {
                let a = Mat::<f64>::identity(64, 64);
                assert_eq!(&a * &a, a);
            });
            let mut count = |steps: std::ops::Range<u64>| {
                let before = calls();
                for step in steps {
                    problem.gradient(Key::new(1).step(step)).unwrap();
                }
                calls() - before
            };
            count(0..3);
            [count(3..3), count(3..40)]
        });
        assert_eq!(idle, busy, "{threads} threads, {draws} draws: allocations without and with 37 steps");
    }
}

#[test]
fn the_counter_counts() {
    let before = CALLS.get();
    let v = std::hint::black_box(vec![1]);
    assert_eq!(CALLS.get() - before, v.len());
}
