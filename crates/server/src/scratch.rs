//! Room to decide in, one for each thread: whoever answers thousands of requests a second does not make it anew for each.

use std::cell::RefCell;

use tokio::runtime::{Handle, RuntimeFlavor};
use upheld_answers::report::Decision;
use upheld_dialects::access::decider::{BatchBudget, CompleteRequest, Decider};
use upheld_engine::Scratch;
use upheld_engine::decide::Decide;

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

/// Steps of patterns that nobody notices: a tenth of a millisecond.
const QUICK: usize = 1 << 16;

/// Whether requests of so many bytes may take long, because patterns are held against long texts.
fn may_take_long(decider: Decider<'_>, bytes: usize) -> bool {
    bytes.saturating_mul(decider.decide.weight()) > QUICK
}

/// Lets those go first who ask by the same connection, if requests of so many bytes may take long.
pub(crate) async fn after_others(decider: Decider<'_>, bytes: usize) {
    if may_take_long(decider, bytes) {
        tokio::task::yield_now().await;
    }
}

/// Decides requests of so many bytes. What may take long does not keep this thread from serving others meanwhile.
pub(crate) fn aside<T>(decider: Decider<'_>, bytes: usize, decide: impl FnOnce() -> T) -> T {
    let serves = || Handle::try_current().is_ok_and(|handle| handle.runtime_flavor() == RuntimeFlavor::MultiThread);
    if may_take_long(decider, bytes) && serves() {
        return tokio::task::block_in_place(decide);
    }
    decide()
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use upheld_dialects::access::decider::WhichKind;
    use upheld_dialects::access::{DEFAULT_SEMANTICS, Edition, POLICY};
    use upheld_loader::load::load;
    use upheld_loader::{Format, Input};

    use super::*;

    #[tokio::test]
    async fn what_may_take_long_lets_others_go_first() {
        let policy = |number: usize| {
            format!(
                "- {{id: p{number}, effect: deny, subjects: [], resources: [{{path: '/x*y?z*w{number}'}}], actions: []}}\n"
            )
        };
        let policies = format!("policies:\n{}", (0..50).map(policy).collect::<String>());
        let loaded = load(vec![Input::text("a.yaml", Format::Yaml, policies)], &[DEFAULT_SEMANTICS]).unwrap();
        let decider = Decider::of(&loaded.snapshot, WhichKind::Named(POLICY), Edition::Strict).unwrap();
        assert!(decider.decide.weight() > 0);
        assert!(after_others(decider, 1).now_or_never().is_some(), "a short text is over at once");
        let mut long = Box::pin(after_others(decider, QUICK));
        assert!(long.as_mut().now_or_never().is_none(), "others go first");
        long.await;
    }
}
