//! Reports as text for other tools. What people read on terminals is the business of whoever has one.

pub mod audit;
pub mod tested;
mod xml;

use std::io::{self, Write};

use serde::Serialize;
pub use upheld_report::visible;

/// A report as YAML.
pub fn yaml(report: &impl Serialize) -> Option<String> {
    serde_saphyr::to_string(report).ok()
}

/// Writes a report as [`json`] has it, without holding the text.
pub(crate) fn write_json(report: &impl Serialize, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer_pretty(&mut *out, report)?;
    out.write_all(b"\n")
}

/// A report as JSON, on several lines.
pub fn json(report: &impl Serialize) -> String {
    serde_json::to_string_pretty(report).map(|text| text + "\n").unwrap_or_default()
}
