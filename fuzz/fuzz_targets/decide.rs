//! Any bytes as policies and requests: the index decides as the naive way does.

#![no_main]

use libfuzzer_sys::fuzz_target;
use upheld_engine::decide::reference::random::check;

fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = check(bytes) {
        panic!("{difference}");
    }
});
