//! The server from outside: over a real connection, with a client that knows nothing of its insides.

mod basics;
mod postgres;
mod sources;
mod support;
