//! The messages as a client has them.

#![expect(clippy::allow_attributes, clippy::pedantic, dead_code, unreachable_pub, reason = "generated")]

include!(concat!(env!("OUT_DIR"), "/client/all.rs"));
