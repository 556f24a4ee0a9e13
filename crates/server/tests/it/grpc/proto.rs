//! The messages as a client has them.

#![expect(clippy::allow_attributes_without_reason, clippy::pedantic, unreachable_pub, reason = "generated")]

include!(concat!(env!("OUT_DIR"), "/client/all.rs"));
