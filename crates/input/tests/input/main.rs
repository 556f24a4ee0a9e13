//! Tests of this crate from the outside, as one program: it links once.

#![cfg(test)]

mod common;
mod discover;
mod git;
mod hostile;
mod json;
mod mutations;
mod properties;
mod read;
mod yaml;
mod yaml_syntax;
