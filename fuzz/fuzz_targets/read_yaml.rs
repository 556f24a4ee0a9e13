//! Any bytes as YAML.

#![no_main]

use libfuzzer_sys::fuzz_target;
use upheld_loader::Format;

fuzz_target!(|bytes: &[u8]| upheld_fuzz::check(Format::Yaml, bytes));
