//! What the rest of `upheld` speaks about: documents with positions, objects, policies, tags and reasons.
//!
//! ```text
//! text ──(input)──▶ Tree of Values, each with a Span        tree, source
//!      ──(dialects)─▶ Object, Policy in a Draft             object, policy, tags, symbols
//!      ──(engine)───▶ Reason: a Code with parameters        reason
//! what is wrong with a text is a Diagnostic                 diagnostic
//! ```
//!
//! Invariant: nothing here reads a file, a clock or the environment, and nothing here knows a file format or a
//! policy system.

pub mod attachment;
pub mod config;
pub mod diagnostic;
pub mod draft;
pub mod id;
pub mod layers;
pub mod nearest;
pub mod pages;
mod positions;
pub mod reason;
pub mod runs;
pub mod shards;
pub mod source;
pub mod symbols;
pub mod tags;
pub mod time;
pub mod tree;
pub mod uniques;

pub use attachment::{
    AttachedLayer, Attachments, LabelWant, LayerContent, LayerMerge, MergeAction, NamespaceLabels, TargetNamespaces,
    TargetReference, TargetSelector,
};
pub use config::{Config, Content};
pub use diagnostic::{Diagnostic, Diagnostics, Fault, Label, Severity};
pub use draft::{Draft, Object, Part, Policy, PolicyContent, Role, Roles, SelectorList};
pub use id::{Id, Table};
pub use layers::{Facet, Layers};
pub use pages::Pages;
pub use reason::{AnyValues, Code, Param, Reason, Side, State, ValuesId};
pub use runs::Runs;
pub use shards::{Shards, TextShards};
pub use source::{File, Files, NodeRef, SourceId};
pub use symbols::{Lookup, Sym, Symbols};
pub use tags::{Selector, TagSet, Want};
pub use time::Timestamp;
pub use tree::{Kind, Span, Tree, TreeBuilder, Value};
pub use uniques::Uniques;
