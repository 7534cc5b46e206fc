//! Loops without a loop variable.

/// The body for each k below a constant of at most 8, written out: sums keep to registers only where no index is a variable.
macro_rules! written_out {
    ($k:ident < $count:ident, $body:block) => {
        written_out!(@ $k, $count, $body, 0, 1, 2, 3, 4, 5, 6, 7)
    };
    (@ $k:ident, $count:ident, $body:block, $($each:literal),*) => {
        $(if $each < $count {
            let $k = $each;
            $body
        })*
    };
}

pub(super) use written_out;
