//! Our side of the comparison.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::{
    Algorithm, Decide, Effect, Fact, FactOf, FactTest, Glob, Matcher, Member, Operator, Outcome, PathPattern, Rule,
    Set, Status, Strictness, Target, Test, Truth, Wildcard,
};
use upheld_engine::{Scratch, Silent, ask};
use upheld_model::{NodeRef, SourceId};

use super::Decider;
use super::workload::{self, Policy, Request, SubjectTest};

/// Our engine, with the policies loaded.
#[derive(Debug)]
pub(crate) struct Ours {
    pub(crate) decide: Decide,
    scratch: Scratch<Decide>,
}

impl Ours {
    pub(crate) fn new(policies: &[Policy]) -> Result<Self, String> {
        let rules: Result<Vec<Rule>, String> = (0..).zip(policies).map(|(place, policy)| rule(policy, place)).collect();
        Ok(Self::of(rules?.into_iter().map(Arc::new)))
    }

    /// With policies that were read.
    pub(crate) fn of(rules: impl Iterator<Item = Arc<Rule>>) -> Self {
        let root = Set {
            name: SmolStr::default(),
            algorithm: Algorithm::DenyOverrides,
            default: Some(Effect::Deny),
            target: Target::default(),
            duties: Vec::new(),
            priority: 0.0,
            members: rules.map(Member::Rule).collect(),
            at: None,
        };
        Self { decide: Decide::new(root, Strictness::Strict), scratch: Scratch::default() }
    }

    /// Lists the policies that match, and counts them.
    pub(super) fn matching(&mut self, request: &Request) -> usize {
        ask(&self.decide, &&request.own, &mut self.scratch, &mut Silent);
        self.scratch.hits().len()
    }

    /// The index alone, without ids, texts and reading.
    pub(super) fn index(&self) -> impl Sized + use<> {
        self.decide.index_again()
    }
}

impl Decider for Ours {
    fn name(&self) -> &'static str {
        "ours"
    }

    fn decide(&mut self, request: &Request) -> bool {
        ask(&self.decide, &&request.own, &mut self.scratch, &mut Silent).outcome == Outcome::Permit
    }
}

/// A policy that is written at a place.
pub(crate) fn rule(policy: &Policy, place: u32) -> Result<Rule, String> {
    let alone = |test: Test| Matcher { tests: vec![test] };
    let subject = |test: &SubjectTest| {
        Ok(alone(match test {
            SubjectTest::Role(role) => Test::Role(vec![Wildcard::parse(role).map_err(|_| format!("bad role {role}"))?]),
            SubjectTest::Group(group) => Test::Group(vec![SmolStr::new(group)]),
            SubjectTest::Id(id) => Test::Id(vec![SmolStr::new(id)]),
            SubjectTest::Claim(name, value) => Test::Fact(FactTest {
                of: FactOf::Subject,
                name: SmolStr::new(name),
                called: None,
                path: vec![SmolStr::new(name)],
                operator: Operator::In(vec![Fact::Text(SmolStr::new(value))]),
                absent: Truth::False,
                mismatch: Truth::Error,
            }),
        }))
    };
    let subjects: Result<Vec<Matcher>, String> = policy.subjects.iter().map(subject).collect();
    let glob = Glob::parse(&policy.pattern).map_err(|bad| format!("bad pattern {}: {bad:?}", policy.pattern))?;
    let methods: Vec<SmolStr> = policy.methods.iter().map(SmolStr::new).collect();
    let actions = if methods.is_empty() { Vec::new() } else { vec![alone(Test::Method(methods))] };
    Ok(Rule {
        description: None,
        name: SmolStr::new(&policy.id),
        effect: match policy.effect {
            workload::Effect::Permit => Effect::Permit,
            workload::Effect::Deny => Effect::Deny,
        },
        target: Target {
            subjects: subjects?,
            resources: vec![alone(Test::Path(vec![PathPattern::Glob(glob)]))],
            actions,
        },
        conditions: Vec::new(),
        duties: Vec::new(),
        priority: 0.0,
        status: Status::On,
        at: NodeRef { source: SourceId::new(0), node: place },
    })
}
