//! Tests of this crate from the outside, as one program: it links once.

#![cfg(test)]

mod common;
mod csv;
mod edits;
mod hostile;
mod json;
mod properties;
mod yaml;
mod yaml_syntax;
