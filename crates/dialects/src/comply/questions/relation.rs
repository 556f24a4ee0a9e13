//! Do two objects agree, and why?

use upheld_engine::Ruling;
use upheld_engine::comply::{Class, Question};
use upheld_engine::words::comply::pairs;
use upheld_model::{Diagnostic, Fault};

use super::Organisation;
use upheld_governance::Seeker;
use upheld_report::compliance::{check_of, standing};
use upheld_report::{RelationDetail, Report, relation};

impl Organisation<'_> {
    /// Everything about two objects.
    pub fn relation(&self, written: &str) -> Result<Report, Vec<Diagnostic>> {
        let (a, b) = self.pair(written)?;
        let (comply, files) = (self.comply(), self.snapshot.files());
        let (first, second) = (comply.reference(a), comply.reference(b));
        let meetings = comply.pairs_between(a, b);
        if meetings.is_empty() {
            let message = format!("no policy can be about `{first}` and `{second}`");
            return Err(vec![Diagnostic::error(Fault::NotFound, message).help(pairs(comply.profile()))]);
        }
        let viewer = self.actor(None, Some(Class::EndUser)).map_err(|problem| vec![problem])?;
        let seeker = Seeker::new(viewer);
        let history = self.governed.history();
        let mut related = comply.are_related(a, b);
        let mut findings = Vec::new();
        for pair in meetings {
            let accepted = history.accepted(pair);
            let question = Question { accepted: &accepted, ..comply.question(pair, self.now) };
            let made = comply.is_made(pair);
            related |= made;
            let found = comply.findings_of(&question, &Ruling::explain(comply, &question));
            findings.extend(found.into_iter().map(|finding| (finding, made)));
        }
        findings.sort();
        let (mut trial, mut checks) = (self.governed.trial(self.now), Vec::with_capacity(findings.len()));
        for (finding, made) in &findings {
            // Those that are not related are judged as if they were.
            let mut check =
                if *made { standing(&self.governed, files, finding) } else { check_of(comply, files, finding) };
            if *made && !finding.verdict.holds() && finding.waiver.is_none() {
                check.fixed_by(comply.profile(), &trial.fixes(&seeker, finding));
            }
            checks.push(check);
        }
        let speaks = |policy: &str| findings.iter().any(|(finding, _)| finding.policy == policy);
        let others = comply.policies().into_iter().filter(|policy| !speaks(&policy.id));
        let others = others.map(|policy| policy.id.to_string()).collect();
        let between = (first.to_string(), second.to_string());
        let kind = self.snapshot.text(self.kind);
        Ok(relation(kind, &comply.profile().name, between, RelationDetail { related, checks, others }))
    }
}
