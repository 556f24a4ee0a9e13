//! Room to decide in, one for each thread: whoever answers thousands of requests a second does not make it anew for each.

use std::cell::RefCell;

use upheld_answers::report::Decision;
use upheld_dialects::access::decider::Decider;
use upheld_engine::Scratch;
use upheld_engine::decide::{Decide, Request};

thread_local! {
    static SCRATCH: RefCell<Scratch<Decide>> = RefCell::default();
}

/// Decides a request.
pub(crate) fn decide<'v>(decider: Decider<'v>, request: &Request) -> Decision<'v> {
    SCRATCH.with_borrow_mut(|scratch| decider.decision(request, scratch))
}
