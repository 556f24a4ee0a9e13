//! Runs corpora of real cases against the engine.
fn main() {}
