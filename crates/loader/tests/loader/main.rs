//! Tests of this crate from the outside, as one program: it links once.

#![cfg(test)]

mod changes;
mod comply_changes;
mod digests;
mod discover;
mod gateway_changes;
mod git;
mod ignored;
mod mixed;
mod mutations;
mod read;
mod route_changes;
