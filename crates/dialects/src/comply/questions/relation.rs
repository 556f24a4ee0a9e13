//! Do two objects agree, or does one have the tags that it must, and why?

use upheld_engine::Ruling;
use upheld_engine::comply::{Class, Comply, Question};
use upheld_engine::words::comply::pairs;
use upheld_model::{Code, Diagnostic, Fault, Param};

use super::Organisation;
use upheld_governance::Seeker;
use upheld_report::compliance::{check_of, standing};
use upheld_report::{At, OutOfScope, RelationDetail, Report, relation};

impl Organisation<'_> {
    /// Everything about two objects, or about one.
    pub fn relation(&self, written: &str) -> Result<Report, Vec<Diagnostic>> {
        let (a, b) = self.one_or_two(written)?;
        let (comply, files) = (self.comply(), self.snapshot.files());
        let (first, second) = (comply.reference(a), comply.reference(b));
        let meetings = comply.pairs_between(a, b);
        if meetings.is_empty() {
            let message = if a == b {
                format!("no policy can be about `{first}` alone")
            } else {
                format!("no policy can be about `{first}` and `{second}`")
            };
            return Err(vec![Diagnostic::error(Fault::NotFound, message).help(pairs(comply.profile()))]);
        }
        let viewer = self.asker(None, Some(Class::EndUser)).map_err(|problem| vec![problem])?;
        let seeker = Seeker::new(viewer);
        let history = self.governed.history();
        let mut related = comply.are_related(a, b);
        let (mut findings, mut out_of_scope) = (Vec::new(), Vec::new());
        for pair in meetings {
            let accepted = history.accepted(pair);
            let question = Question { accepted: &accepted, ..comply.question(pair, self.now) };
            let made = comply.is_made(pair);
            related |= made;
            let ruling = Ruling::explain(comply, &question);
            let found = comply.findings_of(&question, &ruling);
            out_of_scope.extend(self.out_of_scope(&ruling));
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
        out_of_scope.sort_by(|one, other| one.policy.cmp(&other.policy));
        out_of_scope.dedup_by(|one, other| one.policy == other.policy);
        let speaks = |policy: &str| {
            findings.iter().any(|(finding, _)| finding.policy == policy)
                || out_of_scope.iter().any(|own| own.policy == policy)
        };
        let others = comply.policies().into_iter().filter(|policy| !speaks(&policy.id));
        let others: Vec<String> = others.map(|policy| policy.id.to_string()).collect();
        let between = (first.to_string(), second.to_string());
        let kind = self.snapshot.text(self.kind);
        Ok(relation(kind, &comply.profile().name, between, RelationDetail { related, checks, out_of_scope, others }))
    }

    /// The policies that are cut to other objects.
    fn out_of_scope(&self, ruling: &Ruling<Comply>) -> Vec<OutOfScope> {
        let comply = self.comply();
        let is_cut = |code: Code| matches!(code, Code::SkipNotSelected | Code::SkipExcepted);
        let cut = ruling.candidates.iter().filter(|own| is_cut(own.reason.code));
        let told = cut.filter_map(|own| {
            let (policy, _) = comply.rule_of(own.entry)?;
            let subject = match own.reason.params.first() {
                Some(Param::Text(subject)) => comply.text(*subject),
                _ => "",
            };
            let at = policy.at.and_then(|at| At::of(self.snapshot.files(), at));
            Some(OutOfScope::new(&policy.id, own.reason.code, subject, at))
        });
        told.collect()
    }
}
