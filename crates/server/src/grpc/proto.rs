//! The messages, as `build.rs` made them.

#![expect(
    clippy::allow_attributes,
    clippy::allow_attributes_without_reason,
    clippy::pedantic,
    unreachable_pub,
    reason = "generated; what it is made of is in `proto/`"
)]

include!(concat!(env!("OUT_DIR"), "/server/all.rs"));

/// What they look like, for reflection.
pub(super) const DESCRIPTORS: &[u8] = include_bytes!(concat!(env!("OUT_DIR"), "/descriptors.bin"));
