//! The server from outside: over a real connection, with a client that knows nothing of its insides.
#![cfg(test)]

mod auth;
mod basics;
mod envoy;
mod grpc;
mod hostile;
mod limits;
mod operations;
mod postgres;
mod sources;
mod support;
mod tls;
