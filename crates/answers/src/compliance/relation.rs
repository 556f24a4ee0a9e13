//! Do two objects agree, and why?

use upheld_engine::comply::{Class, Related};
use upheld_engine::words;
use upheld_model::{Diagnostic, Fault};

use super::Organisation;
use crate::report::compliance::{Relation, held_against, mended};

impl Organisation<'_> {
    /// Everything about two objects.
    pub fn relation(&mut self, written: &str) -> Result<Relation, Vec<Diagnostic>> {
        let (a, b) = self.pair(written)?;
        let found = self.comply.check(a, b);
        let (first, second) = (self.comply.reference(a), self.comply.reference(b));
        if !self.comply.can_be_judged(a, b) {
            let message = format!("no policy can be about `{first}` and `{second}`");
            let help = words::comply::pairs(self.comply.profile());
            return Err(vec![Diagnostic::error(Fault::NotFound, message).help(help)]);
        }
        let related = found.iter().any(|check| check.related == Related::Yes) || self.comply.are_related(a, b);
        let viewer = self.actor(None, Some(Class::EndUser));
        let viewer = viewer.map_err(|problem| vec![problem])?;
        let mut checks = Vec::new();
        for check in &found {
            let mut told = held_against(&self.comply, self.snapshot.files(), check);
            if check.related == Related::Yes && check.about.waiver.is_none() {
                told.fixes = mended(&self.comply.fixes(&viewer, &check.about));
            }
            checks.push(told);
        }
        let others = self
            .comply
            .policies()
            .into_iter()
            .filter(|policy| !found.iter().any(|check| check.about.policy == policy.id));
        let others = others.map(|policy| policy.id.to_string()).collect();
        let semantics = self.comply.profile().name.to_string();
        let between = (first.to_string(), second.to_string());
        Ok(Relation { answer: String::new(), semantics, between, related, checks, others }.finished())
    }
}
