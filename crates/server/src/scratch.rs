//! Room to decide in, one for each thread: whoever answers thousands of requests a second does not make it anew for each.
//!
//! A decision takes less time than to hand it over to another thread, so it is tried where its request is answered, and given up after a few
//! steps. Then it is made elsewhere, and so is one that is known to take long.

use std::cell::RefCell;

use upheld_answers::report::Decision;
use upheld_dialects::access::decider::{BatchBudget, CompleteRequest, Decider};
use upheld_engine::Scratch;
use upheld_engine::decide::{Decide, Load};
use upheld_engine::work::Work;

use crate::app::App;
use crate::limits::{Asking, Length, Undone, heavy};
use crate::telemetry::Observed;

thread_local! {
    static SCRATCH: RefCell<Scratch<Decide>> = RefCell::default();
}

/// Decides a request.
pub(crate) fn decide<'v>(decider: Decider<'v>, request: &CompleteRequest) -> Decision<'v> {
    SCRATCH.with_borrow_mut(|scratch| decider.decision(request, scratch))
}

/// Decides one request of a batch.
pub(crate) fn decide_within<'v>(
    decider: Decider<'v>,
    request: &CompleteRequest,
    budget: &mut BatchBudget,
) -> Decision<'v> {
    SCRATCH.with_borrow_mut(|scratch| decider.decision_within(request, scratch, budget))
}

/// How long decisions will take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Expected {
    /// Next to no time, as far as anybody can tell: it depends on which policies match, and how a path can be read.
    Soon,
    /// Perhaps long.
    Long,
}

/// Steps of patterns that nobody notices: a tenth of a millisecond.
const QUICK: usize = 1 << 16;
/// Steps after which a decision is given up that was tried: some tenths of a millisecond.
const TRIED: u64 = 1024;
/// Decisions of a batch that nobody notices, and their bytes.
const FEW: usize = 8;
/// Bytes that are read in some tenths of a millisecond.
pub(crate) const LITTLE: usize = 1 << 14;

impl Expected {
    /// Of a request of so many bytes.
    #[inline]
    pub(crate) fn of(decider: Decider<'_>, bytes: impl FnOnce() -> usize) -> Self {
        let Load { patterns, .. } = decider.decide.load();
        if patterns > 0 && bytes().saturating_mul(patterns) > QUICK { Self::Long } else { Self::Soon }
    }

    /// Of so many requests, which have so many bytes together.
    pub(crate) fn of_batch(decider: Decider<'_>, bytes: usize, count: usize) -> Self {
        if count > FEW || bytes > LITTLE { Self::Long } else { Self::of(decider, || bytes) }
    }

    /// Decides here, if that is over soon. What is counted and written down must follow the decision, which may be made once more.
    #[inline]
    pub(crate) fn here<T>(self, decide: impl FnOnce() -> T) -> Option<T> {
        match self {
            Self::Soon => Work::of_steps(TRIED).during(decide).ok(),
            Self::Long => None,
        }
    }
}

/// Decides where nobody else waits for it, when it is the turn of whoever asks.
pub(crate) async fn aside<T: Send + 'static>(
    app: &App,
    observed: &Observed,
    decide: impl FnOnce() -> T + Send + 'static,
) -> Result<T, Undone> {
    Asking::of(app, observed).during(Length::Short, heavy(decide)).await
}

#[cfg(test)]
mod tests {
    use upheld_dialects::access::decider::WhichKind;
    use upheld_dialects::access::{DEFAULT_SEMANTICS, Edition, POLICY};
    use upheld_engine::work;
    use upheld_loader::load::{Loaded, load};
    use upheld_loader::{Format, Input};

    use super::*;

    fn loaded(policy: impl Fn(usize) -> String) -> Loaded {
        let policies = format!("policies:\n{}", (0..200).map(policy).collect::<String>());
        load(vec![Input::text("a.yaml", Format::Yaml, policies)], &[DEFAULT_SEMANTICS]).unwrap()
    }

    fn decider(loaded: &Loaded) -> Decider<'_> {
        Decider::of(&loaded.snapshot, WhichKind::Named(POLICY), Edition::Strict).unwrap()
    }

    #[test]
    fn s1_what_may_take_long_is_known_before() {
        let plain = loaded(|number| {
            format!("- {{id: p{number}, effect: deny, subjects: [], resources: [{{path: /x{number}}}], actions: []}}\n")
        });
        let patterns = loaded(|number| {
            format!(
                "- {{id: p{number}, effect: deny, subjects: [], resources: [{{path: '/x*y?z*w{number}'}}], actions: []}}\n"
            )
        });
        let expressions = loaded(|number| {
            format!(
                "- {{id: p{number}, effect: deny, subjects: [], resources: [], actions: [], \
                 conditions: [{{type: custom, expression: 'subject.claims.a == subject.claims.b || subject.claims.c == {number}'}}]}}\n"
            )
        });
        assert_eq!(Expected::of(decider(&plain), || 1 << 20), Expected::Soon);
        assert_eq!(Expected::of_batch(decider(&plain), 1000, FEW), Expected::Soon);
        assert_eq!(Expected::of_batch(decider(&plain), 1000, FEW + 1), Expected::Long);
        assert_eq!(Expected::of_batch(decider(&plain), LITTLE + 1, 1), Expected::Long);
        assert_eq!(Expected::of(decider(&patterns), || 1), Expected::Soon);
        assert_eq!(Expected::of(decider(&patterns), || QUICK), Expected::Long);
        assert_eq!(Expected::of(decider(&expressions), || 1), Expected::Soon, "it is tried");
    }

    #[test]
    fn s1_what_is_tried_is_given_up_after_a_few_steps() {
        let turns = std::cell::Cell::new(0);
        let endless = || {
            loop {
                turns.set(turns.get() + 1);
                work::step();
            }
        };
        assert_eq!(Expected::Soon.here(endless), None::<()>);
        assert_eq!(turns.get(), TRIED + 1);
        assert_eq!(Expected::Soon.here(|| "short"), Some("short"));
        assert_eq!(Expected::Long.here(|| "not here"), None);
    }
}
