//! Reports as text for other tools. What people read on terminals is the business of whoever has one.

pub mod audit;
mod baseline;
mod findings;
mod shifts;
pub mod tested;
mod xml;

use std::io::{self, Write};

use serde::Serialize;
pub use upheld_report::visible;

pub use self::findings::{Findings, FindingsBaseline};
pub use self::shifts::shifts_markdown;

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

/// Text in one line in which nothing is markup, a link, or a call to somebody.
pub(crate) fn markdown_text(text: &str) -> String {
    let mut safe = String::new();
    for character in visible(text).chars() {
        if "&<>\"'`*_[]\\|~@#$!".contains(character) {
            safe.push_str(&format!("&#{};", u32::from(character)));
        } else {
            safe.push(character);
        }
    }
    // Forges make links of addresses, too.
    safe.replace("://", ":&#47;&#47;").replace("www.", "www&#46;")
}
