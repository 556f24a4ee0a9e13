//! The server from outside: over a real connection, with a client that knows nothing of its insides.
#![cfg(test)]

mod administration;
mod admission;
mod analysis;
mod auth;
mod authzen;
mod basics;
mod costs;
mod credentials;
mod end_users;
mod enforcement_model;
mod envoy;
mod findings;
mod forward;
mod fuzzing;
mod grpc;
mod hostile;
mod identities;
mod kuma;
mod limits;
mod monitoring;
mod never;
mod one_answer;
mod operations;
mod pages;
mod planted;
mod postgres;
mod proxies;
mod rights_by_document;
mod rights_by_effect;
mod schemathesis;
mod sources;
mod strangers;
mod support;
mod tls;
mod tricks;
