//! Tests of this crate from the outside, as one program: it links once.

#![cfg(test)]

mod crash;
mod damage;
mod failures;
mod faults;
mod homes;
mod integrity;
mod laws;
mod outage;
mod random;
mod sharing;
mod simulation;
mod size;
mod support;
mod tails;
mod transfer;
mod versions;
