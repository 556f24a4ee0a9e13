//! Policies of gateways, from documents to what holds.
#![cfg(test)]

mod across_namespaces;
mod answers;
mod asking;
mod before_apply;
mod declared;
mod envoy_gateway;
mod incomplete;
mod kgateway;
mod manifests;
mod neighbours;
mod reasons;
mod seed_kgateway_policy_application_and_merging;
mod shared_findings;
