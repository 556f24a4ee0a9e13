//! Patterns as peers want them.

use crate::access::workload::Policy;

/// A pattern with at most one `**`: what has to come before it, and what after. Positions count from the near end.
#[derive(Debug)]
pub(super) struct Parts<'p> {
    pub(super) before: Vec<&'p str>,
    /// None where there is no `**`.
    pub(super) after: Option<Vec<&'p str>>,
}

impl<'p> Parts<'p> {
    pub(super) fn new(policy: &'p Policy) -> Result<Self, String> {
        let segments: Vec<&str> = policy.segments().collect();
        let mut parts = segments.split(|&segment| segment == "**");
        let (before, after) = (parts.next().unwrap_or_default(), parts.next());
        if parts.next().is_some() {
            return Err(format!("the pattern of {} has more than one `**`", policy.id));
        }
        let after = after.map(|after| after.iter().rev().copied().collect());
        Ok(Self { before: before.to_vec(), after })
    }

    /// The least number of segments that fit; the only one without a `**`.
    pub(super) fn length(&self) -> usize {
        self.before.len() + self.after.as_ref().map_or(0, |after| after.len() + 1)
    }

    /// Whether a segment before or after the `**` may be any one.
    pub(super) fn has_star(&self) -> bool {
        self.before.iter().chain(self.after.iter().flatten()).any(|&segment| segment == "*")
    }
}
