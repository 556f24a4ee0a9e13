//! Room to decide in, one for each thread: whoever answers thousands of requests a second does not make it anew for each.

use std::cell::RefCell;

use upheld_engine::decide::{Decide, Decided, Request};
use upheld_engine::{Scratch, Silent, ask};

thread_local! {
    static SCRATCH: RefCell<Scratch<Decide>> = RefCell::default();
}

/// Decides a request.
pub(crate) fn decide(policies: &Decide, request: &Request) -> Decided {
    SCRATCH.with_borrow_mut(|scratch| ask(policies, &request, scratch, &mut Silent))
}
