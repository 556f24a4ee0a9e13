//! From texts to trees with positions.
//!
//! ```text
//! bytes ──(text)─▶ text ──(format)─┬─(yaml)─┬─▶ Tree, Diagnostics
//!                                  ├─(json)─┤
//!                                  └─(csv)──┘
//! ```
//!
//! Invariant: no text makes this crate panic, recurse deeper than a fixed limit, or take more than seconds or a few times
//! its own size in memory; [`limits`] has the numbers. Problems are [`upheld_model::Diagnostic`]s, and always all of them.

pub mod csv;
pub mod edit;
pub mod format;
pub mod json;
mod keys;
pub mod limits;
mod problems;
mod quote;
pub mod text;
pub mod yaml;

#[cfg(debug_assertions)]
use std::sync::atomic::{AtomicU64, Ordering};

use upheld_model::{Diagnostic, File, SourceId, Tree, TreeBuilder};

pub use format::Format;

/// Parses one text.
pub fn parse(name: impl Into<String>, format: Format, mut text: String, source: SourceId) -> (File, Vec<Diagnostic>) {
    let name = name.into();
    if text.len() as u64 > limits::BYTES {
        let problem = limits::too_large(&name);
        return (File { name, tree: without_documents(String::new()) }, vec![problem]);
    }
    if text.starts_with(text::BYTE_ORDER_MARK) {
        text.drain(..text::BYTE_ORDER_MARK.len());
    }
    let (tree, problems) = match format {
        Format::Yaml => yaml::read(source, text),
        Format::Json => json::read(source, text),
        Format::JsonLines => json::read_lines(source, text),
        Format::Csv => csv::read(source, text),
    };
    #[cfg(debug_assertions)]
    DOCUMENTS.fetch_add(tree.documents().count() as u64, Ordering::Relaxed);
    (File { name, tree }, problems)
}

#[cfg(debug_assertions)]
static DOCUMENTS: AtomicU64 = AtomicU64::new(0);

/// How many documents this process parsed, in builds with debug assertions: tests of growth count them. Others count none.
pub fn documents_read() -> u64 {
    #[cfg(debug_assertions)]
    return DOCUMENTS.load(Ordering::Relaxed);
    #[cfg(not(debug_assertions))]
    0
}

/// A text in which nothing was read.
pub fn without_documents(text: String) -> Tree {
    TreeBuilder::default().finish(text)
}
