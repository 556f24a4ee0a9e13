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
mod seed_kuma_choosing_a_policy;
mod world;
mod yaml;
mod yaml_syntax;
