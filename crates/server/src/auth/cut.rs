//! Decisions as somebody may see them: what is decided stays, who decided it and why may not be for them.

use std::borrow::Cow;
use std::cell::RefCell;
use std::time::{Duration, Instant};

use upheld_answers::report::{Decision, Duty, names_others};
use upheld_dialects::access::SCOPE;
use upheld_dialects::access::decider::Decider;
use upheld_dialects::access::enforce::{Enforced, Judged};
use upheld_engine::decide::Outcome;

use super::access::{Access, Sort, Touched};
use super::redaction::anonymous;
use crate::telemetry::Observed;
use crate::view::View;

/// What stands in place of a sentence about what is not known.
pub(crate) const UNTOLD: &str = "a fact is missing";

/// Whom of those who decide a caller may know.
pub(crate) struct Names<'a> {
    /// `None` if everybody.
    access: Option<&'a Access>,
    kind: &'a str,
}

impl<'a> Names<'a> {
    /// Of the policies that decide in a view. Most callers may know all of them, and pay nearly nothing.
    pub(crate) fn of(view: &'a View, decider: Decider<'_>, observed: &'a Observed) -> Option<Self> {
        let snapshot = &view.loaded.snapshot;
        let kind = snapshot.kind(decider.kind).map_or("", |kind| snapshot.text(kind.governs));
        // Nobody is there when a request was let in without asking who it is: inside of tests.
        let access = observed.access()?;
        Some(Self { access: (!sees_all(access)).then_some(access), kind })
    }

    /// Whether they may know everybody.
    pub(crate) fn are_all(&self) -> bool {
        self.access.is_none()
    }

    /// Whether they may know a policy.
    pub(crate) fn knows(&self, name: &str) -> bool {
        let touched = Touched { kind: self.kind, scope: SCOPE, name };
        self.access.is_none_or(|access| access.may_see(Sort::Policy, touched))
    }

    /// Whether they may know who decided, and all whom the reason names.
    pub(crate) fn may_tell(&self, policy: Option<&str>, reason: Option<&str>) -> bool {
        self.are_all() || policy.is_none_or(|policy| self.knows(policy)) && !reason.is_some_and(names_others)
    }

    /// A decision without the names that must not be seen.
    pub(crate) fn cut(&self, decision: &mut Decision<'_>) {
        if self.access.is_none() {
            return;
        }
        if decision.outcome == Outcome::Undecided {
            (decision.policy, decision.reason) = (None, Some(Cow::Borrowed(UNTOLD)));
        }
        if !self.may_tell(decision.policy, decision.reason.as_deref()) {
            (decision.policy, decision.reason) = (None, None);
        }
        self.cut_duties(&mut decision.obligations);
        self.cut_duties(&mut decision.advice);
    }

    /// The same of what becomes of a request of HTTP.
    pub(crate) fn cut_judged(&self, judged: &mut Judged<'_>) {
        if self.access.is_none() {
            return;
        }
        if let Enforced::Forbidden(body) = &mut judged.enforced {
            let decision = judged.decision.as_ref();
            let is_open = decision.is_some_and(|decision| decision.outcome == Outcome::Undecided);
            let may_tell = |decision: &Decision<'_>| self.may_tell(decision.policy, decision.reason.as_deref());
            anonymous(body, &|name| !is_open && self.knows(name));
            if let Some(fields) = body.as_object_mut().filter(|_| is_open || !decision.is_none_or(may_tell)) {
                fields.shift_remove("reason");
                // Who cannot tell says because of whom.
                fields.extend(is_open.then(|| ("reason".to_owned(), UNTOLD.into())));
            }
        }
        if let Some(decision) = &mut judged.decision {
            self.cut(decision);
        }
    }

    /// Duties without the names of those who ask for them.
    pub(crate) fn cut_duties(&self, duties: &mut [Duty]) {
        for duty in duties {
            duty.from = duty.from.take().filter(|name| self.knows(name));
        }
    }
}

/// How long rights are not asked again whether somebody may see everything: they may depend on the time.
const FRESH: Duration = Duration::from_secs(1);

thread_local! {
    static LAST: RefCell<Option<(Access, Instant, bool)>> = const { RefCell::new(None) };
}

/// Whether a caller may see all policies, so that they may know why a request is undecided, too. A gateway asks thousands of times a second, and is the same each time.
fn sees_all(access: &Access) -> bool {
    LAST.with_borrow_mut(|last| match last {
        Some((asker, asked, sees)) if asker.same_as(access) && asked.elapsed() < FRESH => *sees,
        _ => {
            let sees = access.may_see_all(Sort::Policy);
            *last = Some((access.clone(), Instant::now(), sees));
            sees
        }
    })
}
