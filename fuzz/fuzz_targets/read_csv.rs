//! Any bytes as CSV, and as rows and further columns of a table that is read.

#![no_main]

use libfuzzer_sys::fuzz_target;
use upheld_loader::Format;

fuzz_target!(|bytes: &[u8]| {
    upheld_fuzz::check(Format::Csv, bytes);
    for header in ["ref,a.b[]\n", "ref,"] {
        upheld_fuzz::check(Format::Csv, &[header.as_bytes(), bytes].concat());
    }
});
