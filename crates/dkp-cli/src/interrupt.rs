//! Ctrl-C: during training it asks for a checkpoint, during prediction for an end without traces, otherwise it ends the program.

use std::sync::Once;
use std::sync::atomic::{AtomicU8, Ordering};

const END: u8 = 0;
const WATCHED: u8 = 1;
const REQUESTED: u8 = 2;

static STATE: AtomicU8 = AtomicU8::new(END);
static HANDLER: Once = Once::new();

/// Takes over Ctrl-C, which ends the program until [`watch`] is called.
pub fn install() {
    HANDLER.call_once(|| {
        // where there can be no handler, Ctrl-C ends the program as ever
        let _ = ctrlc::set_handler(|| {
            if STATE.swap(REQUESTED, Ordering::SeqCst) != WATCHED {
                eprintln!("dkp: stopped");
                std::process::exit(130);
            }
        });
    });
}

/// From now on Ctrl-C is a request; a second one ends the program.
pub fn watch() {
    // one that has come is not forgotten
    let _ = STATE.compare_exchange(END, WATCHED, Ordering::SeqCst, Ordering::SeqCst);
}

/// Whether it was pressed.
pub fn requested() -> bool {
    STATE.load(Ordering::SeqCst) == REQUESTED
}
