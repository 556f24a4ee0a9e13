//! Policies of gateways, from documents to what holds.
#![cfg(test)]

mod declared;
mod envoy_gateway;
mod kgateway;
mod reasons;
mod seed_kgateway_policy_application_and_merging;
