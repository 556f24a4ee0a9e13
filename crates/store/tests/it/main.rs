//! Tests of this crate from the outside, as one program: it links once.

#![cfg(test)]

mod homes;
mod laws;
mod random;
mod support;
