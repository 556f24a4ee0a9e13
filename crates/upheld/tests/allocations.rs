//! What deciding costs: no allocation where the directory has nothing of a request. A program of its own, because it counts all of them.

use mockalloc::Mockalloc;
use std::alloc::System;
use upheld::access::{Action, Fact, Facts, Maybe, Names, Outcome, Request, Resource, Subject};
use upheld::{Decider, Policies, Problems};

#[global_allocator]
static ALLOCATOR: Mockalloc<System> = Mockalloc(System);

fn policies() -> Result<Policies, Problems> {
    let mut text =
        "policies:\n- {id: audit, effect: deny, subjects: [], resources: [{path: '/audit/**'}], actions: []}\n"
            .to_owned();
    for number in 0..200 {
        text += &format!(
            "- {{id: p{number}, effect: permit, subjects: [{{role: role-{number}}}], resources: [{{path: '/api/{number}/**'}}], actions: [{{method: GET}}], conditions: [{{type: ip, allowlist: [10.0.0.0/8]}}]}}\n"
        );
    }
    text += "---\nkind: Directory\nsubjects: [{type: user, id: ann, properties: {roles: [role-1]}}]\n";
    Policies::from_text(text)
}

fn request(role: &str, path: &str) -> Request {
    let headers: Facts = [("host".into(), Fact::Text("shop.example".into()))].into_iter().collect();
    Request {
        subject: Subject { id: Maybe::Is("bob".into()), roles: Names::of(&[role]), ..Subject::default() },
        action: Action { method: Maybe::Is("GET".into()), ..Action::default() },
        resource: Resource { path: Maybe::Is(path.into()), facts: headers, ..Resource::default() },
        environment: upheld::access::Environment { ip: Maybe::Is("10.1.2.3".into()), ..Default::default() },
    }
}

/// How many allocations a decision takes, and what it comes to.
fn decided(decider: &mut Decider<'_>, request: Request) -> (Outcome, u64) {
    let mut outcome = Outcome::Undecided;
    let allocated = mockalloc::record_allocs(|| {
        let decision = decider.decide(request);
        let _ = decision.policy();
        outcome = decision.outcome();
    });
    (outcome, allocated.num_allocs())
}

#[test]
fn a_decider_allocates_nothing_where_the_directory_has_nothing() -> Result<(), Problems> {
    let policies = policies()?;
    let mut decider = policies.decider()?;
    for (role, path, expected) in [
        ("role-7", "/api/7/orders", Outcome::Permit),
        ("role-8", "/api/7/orders", Outcome::Deny),
        ("role-7", "/audit/7", Outcome::Deny),
        ("role-7", "/somewhere/else/with/a/rather/long/path", Outcome::Deny),
    ] {
        // The first makes room for all others.
        decided(&mut decider, request(role, path));
        assert_eq!(decided(&mut decider, request(role, path)), (expected, 0), "{role} {path}");
    }
    Ok(())
}
