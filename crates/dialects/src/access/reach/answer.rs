//! The answer, in rows.

use std::borrow::Cow;
use std::ops::ControlFlow;

use smol_str::SmolStr;
use upheld_engine::Snapshot;
use upheld_engine::decide::Outcome;
use upheld_model::{Diagnostic, Fault};
use upheld_report::stamp::edition as edition_of;
use upheld_report::{
    Decision, Phrase, Reach, ReachCounts, ReachedAction, ReachedEntity, ReachedRow, Reaching, request_document,
};

use super::known::known;
use super::token::{Fingerprint, Token};
use super::{Pattern, Place, ReachQuestion, Reached};
use crate::access::decider::{Decider, WhichKind};
use crate::access::facts::json_of_facts;
use crate::access::questions::edition;
use crate::question::{Options, Refused};

/// The most requests that a server decides for a page.
pub const MOST_DECISIONS: usize = 100_000;

/// Which of all known requests are permitted?
pub fn reach(snapshot: &Snapshot, options: &Options, question: &ReachQuestion) -> Result<Reach, Refused> {
    let which = WhichKind::of(question.kind.as_deref(), options.deciding_kind.as_deref());
    let decider = Decider::of(snapshot, which, edition(options))?;
    let pattern = Pattern::of(question.read()?);
    known(decider.directory, &pattern)?;
    let search = Fingerprint::of("reach", &[Some(&request_document(&pattern.request))]);
    let after = question.after.as_deref().map(|token| begin(token, search)).transpose()?.flatten();

    let mut page = Page { question, counts: ReachCounts::default(), items: Vec::new(), last: None };
    let is_cut = decider.reach(&pattern, after.as_ref(), Some(options.now), |found| page.take(found)).is_break();
    let Page { counts, items, last, .. } = page;
    let sought: Vec<&'static str> = pattern.sought().map(|(part, _)| part).collect();
    let ReachCounts { decided, permitted, undecided, .. } = counts;
    let headline = match decided {
        0 if after.is_none() && !is_cut => {
            Reaching::Nothing { sought: sought.iter().map(|part| (*part).to_owned()).collect() }
        }
        _ => Reaching::Counted { permitted, decided, undecided, is_part: is_cut || after.is_some() },
    };
    let kind = snapshot.kind(decider.kind);
    Ok(Reach {
        headline: Phrase::from(headline),
        policy_kind: kind.map(|kind| snapshot.text(kind.name).to_owned()).unwrap_or_default(),
        sought,
        counts,
        items,
        next: is_cut.then(|| Token { search, limit: None, after: last.or(after) }.encode()),
        semantics: kind.and_then(|kind| edition_of(snapshot, kind)).map(str::to_owned),
    })
}

/// One page, while it is filled.
struct Page<'q> {
    question: &'q ReachQuestion,
    counts: ReachCounts,
    items: Vec<ReachedRow>,
    /// The last request that was decided for it.
    last: Option<Place>,
}

impl Page<'_> {
    fn take(&mut self, found: &Reached<'_, '_>) -> ControlFlow<()> {
        let is_listed = self.question.denied || found.outcome() != Outcome::Deny;
        let is_full = self.question.limit.is_some_and(|limit| is_listed && self.items.len() >= limit);
        if is_full || self.question.decisions.is_some_and(|most| self.counts.decided >= most) {
            return ControlFlow::Break(());
        }
        self.counts.decided += 1;
        match found.outcome() {
            Outcome::Permit => self.counts.permitted += 1,
            Outcome::Deny => self.counts.denied += 1,
            Outcome::Undecided | Outcome::Foreign => self.counts.undecided += 1,
        }
        if is_listed {
            self.items.push(row(found));
        }
        self.last = Some(found.place.clone());
        ControlFlow::Continue(())
    }
}

fn row(found: &Reached<'_, '_>) -> ReachedRow {
    let entity = |(kind, id): &(SmolStr, SmolStr)| {
        (!kind.is_empty()).then(|| ReachedEntity { kind: kind.to_string(), id: id.to_string() })
    };
    let Place { subject, resource, action, .. } = found.place;
    let Decision { outcome, policy, reason, obligations, advice } = found.decision();
    let is_undecided = outcome == Outcome::Undecided;
    let properties = json_of_facts(found.properties);
    ReachedRow {
        subject: entity(subject),
        resource: entity(resource),
        action: (!action.is_empty()).then(|| ReachedAction { name: action.to_string(), properties }),
        decision: outcome.word(),
        policy: policy.map(str::to_owned),
        reason: reason.map(Cow::into_owned),
        missing: if is_undecided { found.missing() } else { None },
        depends_on: if is_undecided { found.unknown() } else { Vec::new() },
        obligations,
        advice,
        request: request_document(found.asked),
    }
}

/// Where a page begins.
fn begin(token: &str, search: Fingerprint) -> Result<Option<Place>, Diagnostic> {
    let bad = |message: &str| Diagnostic::error(Fault::IncompleteQuestion, message.to_owned());
    let token = Token::decode(token).ok_or_else(|| {
        bad("`after` is not the `next` of an answer").help("leave it out to begin with the first page")
    })?;
    if token.search != search {
        return Err(bad("`after` belongs to another question").help("leave it out to begin with the first page"));
    }
    Ok(token.after)
}
