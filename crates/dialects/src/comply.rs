//! Documents of the family comply, of any kind: objects with tags, relationships, definitions, policies, waivers, changes.
//!
//! - [`mapping`]: where the documents of other systems have what we look for

pub mod mapping;
