//! Tests of this crate from the outside, as one program: it links once.

#![cfg(test)]

mod access_facts;
mod changes;
mod common;
mod comply_changes;
mod comply_documents;
mod comply_kinds;
mod csv;
mod digests;
mod discover;
mod gateway_changes;
mod git;
mod hostile;
mod json;
mod kuma_answers;
mod kuma_views;
mod mutations;
mod properties;
mod read;
mod route_changes;
mod seed_combining_algorithms;
mod seed_kgateway_policy_application_and_merging;
mod seed_kuma_choosing_a_policy;
mod seed_kuma_matching_real_resources;
mod seed_meshpolicies;
mod world;
mod yaml;
mod yaml_syntax;
