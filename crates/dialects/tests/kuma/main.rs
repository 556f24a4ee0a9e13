//! Kuma's policies from the outside, as one program: it links once.

#![cfg(test)]

mod answers;
mod asked;
mod attached;
mod callers;
mod findings;
mod generations;
mod incomplete;
mod layers;
mod leaving;
mod removing;
mod requests;
mod seed_kuma_choosing_a_policy;
mod seed_kuma_matching_real_resources;
mod services;
mod views;
mod whole_mesh;
mod world;
