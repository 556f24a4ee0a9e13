//! Do two objects agree, and why?

use upheld_engine::comply::{Class, Question};
use upheld_engine::{Ruling, words};
use upheld_model::{Diagnostic, Fault};

use super::Organisation;
use crate::report::compliance::{Relation, check_of, mended, standing};

impl Organisation<'_> {
    /// Everything about two objects.
    pub fn relation(&mut self, written: &str) -> Result<Relation, Vec<Diagnostic>> {
        let (a, b) = self.pair(written)?;
        let (first, second) = (self.comply.reference(a), self.comply.reference(b));
        let pairs = self.comply.pairs_between(a, b);
        if pairs.is_empty() {
            let message = format!("no policy can be about `{first}` and `{second}`");
            let help = words::comply::pairs(self.comply.profile());
            return Err(vec![Diagnostic::error(Fault::NotFound, message).help(help)]);
        }
        let viewer = self.actor(None, Some(Class::EndUser)).map_err(|problem| vec![problem])?;
        let mut related = self.comply.are_related(a, b);
        let (mut findings, mut checks) = (Vec::new(), Vec::new());
        for pair in pairs {
            let accepted = self.comply.history().accepted(pair);
            let question = Question { accepted: &accepted, ..self.comply.question(pair, self.now) };
            let ruling = Ruling::explain(&self.comply, &question);
            let made = self.comply.is_made(pair);
            related |= made;
            findings.extend(self.comply.findings_of(&question, &ruling).into_iter().map(|finding| (finding, made)));
        }
        findings.sort();
        let files = self.snapshot.files();
        for (finding, made) in &findings {
            // Those that are not related are judged as if they were.
            let mut check =
                if *made { standing(&self.comply, files, finding) } else { check_of(&self.comply, files, finding) };
            if *made && !finding.verdict.holds() && finding.waiver.is_none() {
                check.fixes = mended(&self.comply.fixes(&viewer, finding));
            }
            checks.push(check);
        }
        let speaks = |policy: &str| findings.iter().any(|(finding, _)| finding.policy == policy);
        let others = self.comply.policies().into_iter().filter(|policy| !speaks(&policy.id));
        let others = others.map(|policy| policy.id.to_string()).collect();
        let semantics = self.comply.profile().name.to_string();
        let between = (first.to_string(), second.to_string());
        Ok(Relation { answer: String::new(), semantics, between, related, checks, others }.finished())
    }
}
