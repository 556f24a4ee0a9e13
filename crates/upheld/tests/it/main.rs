//! The program from the outside, as users run it.
#![cfg(test)]

mod access;
mod architecture;
mod broken;
mod commands;
mod compliance;
mod stamps;
mod streams;
mod support;
mod testing;
mod transcripts;
