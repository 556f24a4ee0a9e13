//! What leads where, to be drawn.

use std::fmt::Debug;

use serde_json::Value as Json;

/// A graph of objects with the policies that they carry.
pub trait Drawing: Debug {
    /// For programs.
    fn json(&self) -> Json;

    /// For Graphviz.
    fn dot(&self) -> String;

    /// For Mermaid.
    fn mermaid(&self) -> String;

    /// As a picture.
    fn svg(&self) -> String;

    /// The names of what is drawn.
    fn names(&self) -> Vec<&str>;
}
