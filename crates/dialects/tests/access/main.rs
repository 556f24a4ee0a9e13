//! Policies that decide requests, from the outside, as one program: it links once.

#![cfg(test)]

mod compat;
mod enforcement;
mod policy_sets;
mod sets;
mod strict;
mod strict_reading;
mod world;
