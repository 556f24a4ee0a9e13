//! The server: HTTP and gRPC over a live snapshot.
//!
//! ```text
//! store, folders ──▶ View (snapshot at a revision) ──swap──▶ Live     sources, view, live
//! request ──▶ who asks ──▶ may they? ──▶ which view ──▶ handler       auth, http/asked, http/*
//! write ──▶ candidate view ──▶ append ──▶ swap                        writer, documents
//! ```
//!
//! Readers never wait for writers: a request takes the view that is current when it comes and keeps it to its end, so that all
//! of its answer is of one revision. A write is checked by building the view that it would lead to; what cannot be built
//! is refused and changes nothing.

mod app;
mod auth;
pub mod config;
mod connection;
pub mod doctor;
mod documents;
mod folders;
mod follow;
mod freshness;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod fuzzing;
mod grpc;
mod header_text;
mod http;
mod limits;
mod live;
mod moves;
mod parts;
mod problem;
mod scratch;
mod serve;
pub mod telemetry;
mod tls;
#[cfg(feature = "fuzzing")]
#[doc(hidden)]
pub mod unlisted;
mod view;
mod writer;

pub use auth::SecurityError;
pub use config::Config;
pub use serve::{Contents, Running, StartError, start};
