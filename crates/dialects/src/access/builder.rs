//! Policies in code: a decision point without documents.

use smol_str::SmolStr;
use upheld_engine::decide::{
    Algorithm, BadPattern, Condition, Decide, Decided, Effect, Fact, FactOf, FactTest, Glob, Matcher, Operator,
    PathPattern, Request, Rule, Set, Status, Strictness, Target, Test, Truth, Wildcard,
};
use upheld_engine::{Scratch, Silent, ask};
use upheld_model::{NodeRef, SourceId};

/// Decides requests by policies that were written in code.
///
/// ```
/// use upheld_dialects::access::{DecisionPoint, Policy};
/// use upheld_engine::decide::{Action, Algorithm, Effect, Maybe, Names, Outcome, Request, Resource, Subject};
///
/// let point = DecisionPoint::builder()
///     .combining_algorithm(Algorithm::FirstApplicable)
///     .default_effect(Effect::Deny)
///     .policy(Policy::permit("admin-access").priority(100.0).role("admin").path("/**"))
///     .policy(Policy::deny("lockdown").priority(1000.0).path("/api/audit/**").method("DELETE"))
///     .build()
///     .unwrap();
///
/// let request = Request {
///     subject: Subject { roles: Names::of(&["admin"]), ..Subject::default() },
///     action: Action { method: Maybe::Is("DELETE".into()), ..Action::default() },
///     resource: Resource { path: Maybe::Is("/api/audit/123".into()), ..Resource::default() },
///     ..Request::default()
/// };
/// let mut asker = point.query();
/// assert_eq!(asker.decide(&request).outcome, Outcome::Deny);
/// assert_eq!(point.decider(&asker.decide(&request)), Some("lockdown"));
///
/// // Without a word about it: deny-overrides, and deny where nothing applies.
/// let empty = DecisionPoint::builder().build().unwrap();
/// assert_eq!(empty.query().decide(&request).outcome, Outcome::Deny);
/// ```
#[derive(Clone, Debug)]
pub struct DecisionPoint {
    decide: Decide,
}

impl DecisionPoint {
    /// With nothing in it: deny-overrides, and deny where nothing applies.
    pub fn builder() -> DecisionPointBuilder {
        DecisionPointBuilder { algorithm: Algorithm::DenyOverrides, default: Effect::Deny, policies: Vec::new() }
    }

    /// The policies with their index, to be explained.
    pub fn policies(&self) -> &Decide {
        &self.decide
    }

    /// Somebody who asks; each thread has its own.
    pub fn query(&self) -> DecisionQuery<'_> {
        DecisionQuery { decide: &self.decide, scratch: Scratch::default() }
    }

    /// The id of the policy that decided.
    pub fn decider(&self, decided: &Decided) -> Option<&str> {
        match decided.by {
            upheld_engine::decide::By::Policy(entry) => self.decide.rule(entry).map(|rule| rule.name.as_str()),
            _ => None,
        }
    }
}

/// Asks again and again, and allocates nothing for it.
#[derive(Debug)]
pub struct DecisionQuery<'d> {
    decide: &'d Decide,
    scratch: Scratch<Decide>,
}

impl DecisionQuery<'_> {
    /// Decides a request.
    pub fn decide(&mut self, request: &Request) -> Decided {
        ask(self.decide, &request, &mut self.scratch, &mut Silent)
    }
}

/// Settings and policies of a decision point.
#[derive(Clone, Debug)]
pub struct DecisionPointBuilder {
    algorithm: Algorithm,
    default: Effect,
    policies: Vec<Policy>,
}

impl DecisionPointBuilder {
    /// How policies are combined.
    #[must_use]
    pub fn combining_algorithm(self, algorithm: Algorithm) -> Self {
        Self { algorithm, ..self }
    }

    /// What stands when no policy applies.
    #[must_use]
    pub fn default_effect(self, default: Effect) -> Self {
        Self { default, ..self }
    }

    /// One more policy; the order counts where priorities are equal.
    #[must_use]
    pub fn policy(mut self, policy: Policy) -> Self {
        self.policies.push(policy);
        self
    }

    /// Checks all policies and builds the index; all problems at once.
    pub fn build(self) -> Result<DecisionPoint, Vec<BadPolicy>> {
        let (mut members, mut bad) = (Vec::new(), Vec::new());
        let mut seen: Vec<SmolStr> = Vec::new();
        for policy in self.policies {
            let id = policy.id.clone();
            if seen.contains(&id) {
                bad.push(BadPolicy { id: id.clone(), problem: PolicyProblem::DefinedTwice });
            }
            seen.push(id.clone());
            match policy.rule() {
                Ok(rule) => members.push(rule.into()),
                Err(pattern) => bad.push(BadPolicy { id, problem: PolicyProblem::Pattern(pattern) }),
            }
        }
        if !bad.is_empty() {
            return Err(bad);
        }
        let root = Set {
            name: SmolStr::default(),
            algorithm: self.algorithm,
            default: Some(self.default),
            target: Target::default(),
            duties: Vec::new(),
            priority: 0.0,
            members,
            at: None,
        };
        Ok(DecisionPoint { decide: Decide::new(root, Strictness::Strict) })
    }
}

/// A policy that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadPolicy {
    /// Its id.
    pub id: SmolStr,
    /// What is wrong with it.
    pub problem: PolicyProblem,
}

/// What can be wrong with a policy.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum PolicyProblem {
    /// Another one has the same id.
    DefinedTwice,
    /// A pattern is refused.
    Pattern(BadPattern),
}

/// A policy in code: subjects, paths and methods are alternatives each, and none means any.
#[derive(Clone, Debug)]
pub struct Policy {
    id: SmolStr,
    effect: Effect,
    priority: f64,
    subjects: Vec<Asks>,
    paths: Vec<SmolStr>,
    actions: Vec<Test>,
    conditions: Vec<Condition>,
}

#[derive(Clone, Debug)]
enum Asks {
    Test(Test),
    Role(SmolStr),
}

impl Policy {
    /// Lets requests go on.
    pub fn permit(id: &str) -> Self {
        Self::new(id, Effect::Permit)
    }

    /// Stops requests.
    pub fn deny(id: &str) -> Self {
        Self::new(id, Effect::Deny)
    }

    fn new(id: &str, effect: Effect) -> Self {
        let (subjects, paths, actions, conditions) = (Vec::new(), Vec::new(), Vec::new(), Vec::new());
        Self { id: SmolStr::new(id), effect, priority: 0.0, subjects, paths, actions, conditions }
    }

    /// The higher, the earlier.
    #[must_use]
    pub fn priority(self, priority: f64) -> Self {
        Self { priority, ..self }
    }

    /// For subjects with a role; `*` is any characters.
    #[must_use]
    pub fn role(mut self, role: &str) -> Self {
        self.subjects.push(Asks::Role(SmolStr::new(role)));
        self
    }

    /// For subjects in a group.
    #[must_use]
    pub fn group(mut self, group: &str) -> Self {
        self.subjects.push(Asks::Test(Test::Group(vec![SmolStr::new(group)])));
        self
    }

    /// For one subject.
    #[must_use]
    pub fn subject(mut self, id: &str) -> Self {
        self.subjects.push(Asks::Test(Test::Id(vec![SmolStr::new(id)])));
        self
    }

    /// For subjects with a claim that is this.
    #[must_use]
    pub fn claim(mut self, name: &str, value: Fact) -> Self {
        let (name, path) = (SmolStr::new(name), vec![SmolStr::new(name)]);
        let (operator, absent, mismatch) = (Operator::In(vec![value]), Truth::False, Truth::Error);
        let test = FactTest { of: FactOf::Subject, name, called: None, path, operator, absent, mismatch };
        self.subjects.push(Asks::Test(Test::Fact(test)));
        self
    }

    /// For paths that look like this: `*` within a segment, `**` across segments.
    #[must_use]
    pub fn path(mut self, pattern: &str) -> Self {
        self.paths.push(SmolStr::new(pattern));
        self
    }

    /// For a method; `*` is any.
    #[must_use]
    pub fn method(mut self, method: &str) -> Self {
        self.actions.push(Test::Method(vec![SmolStr::new(method)]));
        self
    }

    /// For an operation.
    #[must_use]
    pub fn operation(mut self, operation: &str) -> Self {
        self.actions.push(Test::Operation(vec![SmolStr::new(operation)]));
        self
    }

    /// Only under a condition; all of them must hold.
    #[must_use]
    pub fn condition(mut self, condition: Condition) -> Self {
        self.conditions.push(condition);
        self
    }

    fn rule(self) -> Result<Rule, BadPattern> {
        let alone = |test: Test| Matcher { tests: vec![test] };
        let subject = |asks: Asks| match asks {
            Asks::Test(test) => Ok(alone(test)),
            Asks::Role(role) => Wildcard::parse(&role).map(|role| alone(Test::Role(vec![role]))),
        };
        let path = |path: SmolStr| Glob::parse(&path).map(|glob| alone(Test::Path(vec![PathPattern::Glob(glob)])));
        Ok(Rule {
            name: self.id,
            description: None,
            effect: self.effect,
            target: Target {
                subjects: self.subjects.into_iter().map(subject).collect::<Result<_, _>>()?,
                resources: self.paths.into_iter().map(path).collect::<Result<_, _>>()?,
                actions: self.actions.into_iter().map(alone).collect(),
            },
            conditions: self.conditions,
            duties: Vec::new(),
            priority: self.priority,
            status: Status::On,
            at: NodeRef { source: SourceId::new(0), node: 0 },
        })
    }
}
