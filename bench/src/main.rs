//! Measures upheld.
fn main() {}
