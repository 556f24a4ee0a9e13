//! An unknown fact never opens: what is permitted without it is permitted with every value that it could have.

use proptest::prelude::*;

use super::world::{requests, sets};
use crate::decide::*;
use crate::{Scratch, Silent, ask};

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn what_is_permitted_without_a_fact_is_permitted_with_it(
        set in sets(6),
        unknown in requests(6),
        filler in requests(0),
    ) {
        // This algorithm hides what is unknown, as it is documented.
        let set = without(set, &[Algorithm::PermitUnlessDeny]);
        let decide = Decide::new(with_duties(set), Strictness::Strict);
        let (outcome, obligations) = answer(&decide, &unknown);
        if outcome == Outcome::Permit {
            let (known, own) = answer(&decide, &filled(&unknown, &filler));
            prop_assert_eq!(known, Outcome::Permit, "{:?} {:?}", unknown, filler);
            for obligation in own {
                prop_assert!(obligations.contains(&obligation), "{} of {:?}", obligation, filler);
            }
        }
    }

    #[test]
    fn what_is_decided_without_a_fact_is_decided_alike_with_it(
        set in sets(6),
        unknown in requests(6),
        filler in requests(0),
    ) {
        let set = without(set, &[Algorithm::PermitUnlessDeny, Algorithm::DenyUnlessPermit]);
        let decide = Decide::new(set, Strictness::Strict);
        let (outcome, _) = answer(&decide, &unknown);
        if outcome != Outcome::Undecided {
            prop_assert_eq!(answer(&decide, &filled(&unknown, &filler)).0, outcome, "{:?} {:?}", unknown, filler);
        }
    }
}

/// The same members, combined by other algorithms than these.
fn without(set: Set, algorithms: &[Algorithm]) -> Set {
    let hides = algorithms.contains(&set.algorithm);
    let algorithm = if hides { Algorithm::FirstApplicable } else { set.algorithm };
    let members = set.members.into_iter().map(|member| match member {
        Member::Set(inner) => without(*inner, algorithms).into(),
        rule @ Member::Rule(_) => rule,
    });
    Set { algorithm, members: members.collect(), ..set }
}

/// The outcome, and the obligations that come with it.
fn answer(decide: &Decide, request: &Request) -> (Outcome, Vec<String>) {
    let mut scratch = Scratch::default();
    let decided = ask(decide, &request, &mut scratch, &mut Silent);
    let duties = decide.duties(request, scratch.hits());
    (decided.outcome, duties.into_iter().map(|(duty, _)| duty.id.to_string()).collect())
}

/// Each policy and set brings an obligation of its own.
fn with_duties(set: Set) -> Set {
    let duty = |id: &str, on| Duty { binding: Binding::Obligation, id: id.into(), on, at: None };
    let members = set.members.into_iter().map(|member| match member {
        Member::Rule(rule) => Rule { duties: vec![duty(&rule.name, rule.effect)], ..(*rule).clone() }.into(),
        Member::Set(inner) => with_duties(*inner).into(),
    });
    let duties = vec![duty(&format!("set {}", set.name), Effect::Permit)];
    Set { members: members.collect(), duties, ..set }
}

/// A request with known values in place of unknown ones.
fn filled(unknown: &Request, filler: &Request) -> Request {
    let mut known = unknown.clone();
    let Request { subject, action, resource, environment } = &mut known;
    fill(&mut subject.kind, &filler.subject.kind);
    fill(&mut subject.id, &filler.subject.id);
    for (names, filler) in [(&mut subject.roles, &filler.subject.roles), (&mut subject.groups, &filler.subject.groups)]
    {
        if !names.are_all_known() {
            *names = Names::Known(names.known().iter().chain(filler.known()).cloned().collect());
        }
    }
    for (place, name) in ["x", "y"].into_iter().enumerate() {
        if subject.claims.get(name) == Some(&Fact::Unknown) {
            let number = Fact::Number(f64::from(u32::try_from(place).unwrap() + 1).into());
            let fact = filler.subject.claims.get(name).cloned().unwrap_or(number);
            subject.claims.set(name, fact);
        }
    }
    fill(&mut action.method, &filler.action.method);
    fill(&mut action.operation, &filler.action.operation);
    for (own, filler) in [
        (&mut resource.app, &filler.resource.app),
        (&mut resource.path, &filler.resource.path),
        (&mut resource.kind, &filler.resource.kind),
        (&mut resource.id, &filler.resource.id),
        (&mut environment.ip, &filler.environment.ip),
    ] {
        fill(own, filler);
    }
    if environment.time == Maybe::Unknown {
        environment.time = filler.environment.time;
    }
    known
}

fn fill(own: &mut Maybe<smol_str::SmolStr>, filler: &Maybe<smol_str::SmolStr>) {
    if *own == Maybe::Unknown {
        own.clone_from(filler);
    }
}
