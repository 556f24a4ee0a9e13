//! From texts to answers, as a program that embeds the library gets them.
#![cfg(test)]

mod seed_kuma_choosing_a_policy;
mod support;
