//! Any bytes for the reader that `UPHELD_FUZZ_TARGET` names. One program for all of them is linked once.

#![no_main]

use std::sync::OnceLock;

use libfuzzer_sys::fuzz_target;
use upheld_server::fuzzing::{Fuzzed, TARGETS};

static TARGET: OnceLock<Fuzzed> = OnceLock::new();

fn named() -> Fuzzed {
    let name = std::env::var("UPHELD_FUZZ_TARGET").unwrap_or_default();
    let names = || TARGETS.map(|target| target.name).join(", ");
    TARGETS.into_iter().find(|target| target.name == name).unwrap_or_else(|| panic!("UPHELD_FUZZ_TARGET is one of {}", names()))
}

fuzz_target!(|bytes: &[u8]| {
    if let Err(wrong) = (TARGET.get_or_init(named).check)(bytes) {
        panic!("{wrong}");
    }
});
