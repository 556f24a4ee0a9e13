//! Policies that decide requests, from the outside, as one program: it links once.

#![cfg(test)]

mod compat;
mod enforcement;
mod facts;
mod never;
mod policy_sets;
mod reach;
mod seed_combining_algorithms;
mod sets;
mod shifts;
mod strict;
mod strict_reading;
mod world;
