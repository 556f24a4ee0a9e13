//! Policies of gateways, from documents to what holds.
#![cfg(test)]

mod declared;
mod envoy_gateway;
mod kgateway;
