//! What controllers would report of a policy, and at how many places each of its fields survives.

use serde::Serialize;

/// The status of a policy, as it is told.
#[derive(Debug, Serialize)]
pub struct PolicyStatus {
    /// Its kind, namespace and name.
    pub policy: String,
    /// What is said at each place that it came to.
    pub ancestors: Vec<AncestorStatus>,
    /// At how many places each field survives.
    pub fields: Vec<FieldStatus>,
}

/// The status of a policy at one ancestor.
#[derive(Debug, Serialize)]
pub struct AncestorStatus {
    /// The ancestor's kind, namespace and name.
    pub ancestor: String,
    /// A part of it.
    #[serde(rename = "sectionName")]
    pub section: Option<String>,
    /// What is said there.
    pub conditions: Vec<Condition>,
}

/// One condition.
#[derive(Debug, Serialize)]
pub struct Condition {
    /// What it is about.
    #[serde(rename = "type")]
    pub name: String,
    /// `True` or `False`.
    pub status: &'static str,
    /// In one word.
    pub reason: String,
    /// In a sentence.
    pub message: String,
}

/// How a field of a policy fares.
#[derive(Debug, Serialize)]
pub struct FieldStatus {
    /// Its name.
    pub field: String,
    /// At how many places its value holds.
    pub survives: usize,
    /// At how many places it was set.
    pub of: usize,
}
