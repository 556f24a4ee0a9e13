//! The server from outside: over a real connection, with a client that knows nothing of its insides.
#![cfg(test)]

mod basics;
mod envoy;
mod grpc;
mod postgres;
mod sources;
mod support;
