//! Any bytes as a path and policies: whatever somebody reads in a path is a reading of the engine, and what is permitted is permitted for
//! everybody.

#![no_main]

use libfuzzer_sys::fuzz_target;
use upheld_engine::decide::reference::servers::check;

fuzz_target!(|bytes: &[u8]| {
    if let Err(difference) = check(bytes) {
        panic!("{difference}");
    }
});
