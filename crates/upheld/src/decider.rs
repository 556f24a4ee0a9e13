//! Decisions for enforcement points: typed requests in, outcomes out.

use upheld_answers::Options;
use upheld_answers::report::{Decision as Full, Duty, Report, Skipped, report_decision};
use upheld_dialects::access::decider::{CompleteRequest, Decider as Deciding, WhichKind};
use upheld_dialects::access::questions::{edition, requests};
use upheld_engine::decide::{By, Decide, Decided, Outcome, Request};
use upheld_engine::{Scratch, Snapshot};
use upheld_model::{Diagnostic, Fault, Timestamp};

use crate::{Policies, Problems, Question};

/// Decides requests as every other surface does: with directory, roles, groups, hosts, headers, time and duties.
///
/// A decider keeps its memory from request to request, so make one for each thread. It allocates nothing where the directory has
/// nothing of a request.
///
/// ```
/// use upheld::Policies;
/// use upheld::access::{Action, Maybe, Names, Outcome, Request, Resource, Subject};
///
/// let policies = Policies::from_text("
/// policies:
/// - {id: admins, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: []}
/// ---
/// kind: Directory
/// subjects: [{type: user, id: ann, properties: {roles: [admin]}}]
/// ")?;
/// let mut decider = policies.decider()?;
/// let decision = decider.decide(Request {
///     subject: Subject { id: Maybe::Is("ann".into()), ..Subject::default() },
///     action: Action { method: Maybe::Is("GET".into()), ..Action::default() },
///     resource: Resource { path: Maybe::Is("/api/orders".into()), ..Resource::default() },
///     ..Request::default()
/// });
/// assert_eq!((decision.outcome(), decision.policy()), (Outcome::Permit, Some("admins")));
/// # Ok::<(), upheld::Problems>(())
/// ```
#[derive(Debug)]
pub struct Decider<'p> {
    snapshot: &'p Snapshot,
    deciding: Deciding<'p>,
    options: Options,
    clock: Clock,
    scratch: Scratch<Decide>,
    request: Option<CompleteRequest>,
}

/// When requests are decided that do not say it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Clock {
    /// At this moment.
    At(Timestamp),
    /// Now.
    Now,
}

impl Clock {
    pub(crate) fn read(self) -> Timestamp {
        match self {
            Self::At(moment) => moment,
            Self::Now => {
                let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap_or_default();
                Timestamp(i64::try_from(since.as_nanos()).unwrap_or(i64::MAX))
            }
        }
    }
}

impl<'p> Decider<'p> {
    pub(crate) fn new(policies: &'p Policies, kind: Option<&str>) -> Result<Self, Problems> {
        let (snapshot, options) = (policies.snapshot(), policies.options());
        let which = WhichKind::of(kind, options.deciding_kind.as_deref());
        let deciding = Deciding::of(snapshot, which, edition(&options))?;
        let clock = policies.clock();
        Ok(Self { snapshot, deciding, options, clock, scratch: Scratch::default(), request: None })
    }

    /// Decides a request. Act on [`Outcome::Permit`] alone, and only if you fulfil every obligation.
    pub fn decide(&mut self, request: Request) -> Decision<'_> {
        let Self { snapshot, deciding, options, clock, scratch, request: kept } = self;
        let request = kept.insert(deciding.complete(request, Some(clock.read())));
        let decided = deciding.decided(request, scratch);
        let skipped = &options.skipped;
        Decision { snapshot, deciding: *deciding, request, decided, scratch, skipped }
    }

    /// The typed request of a question in words or JSON.
    ///
    /// ```
    /// use upheld::{Policies, Question};
    ///
    /// let policies = Policies::from_paths(&["../../examples/access"])?;
    /// let mut decider = policies.decider()?;
    /// let request = decider.request(&Question::may("role=admin", "DELETE", "/api/audit/7"))?;
    /// assert_eq!(decider.decide(request).policy(), Some("deny-audit-logs"));
    /// # Ok::<(), upheld::Problems>(())
    /// ```
    pub fn request(&self, question: &Question) -> Result<Request, Problems> {
        let refused = |refused| Problems::refused(refused, self.snapshot);
        let mut requests = requests(&question.read()?, edition(&self.options)).map_err(refused)?;
        match (requests.pop(), requests.is_empty()) {
            (Some(request), true) => Ok(request),
            _ => Err(Diagnostic::error(Fault::Ambiguous, "a decision takes one request").into()),
        }
    }
}

/// The decision on one request. What is not asked for is not made.
#[derive(Debug)]
pub struct Decision<'d> {
    snapshot: &'d Snapshot,
    deciding: Deciding<'d>,
    request: &'d CompleteRequest,
    decided: Decided,
    scratch: &'d Scratch<Decide>,
    skipped: &'d Skipped,
}

impl<'d> Decision<'d> {
    /// The outcome. Enforcement refuses all but [`Outcome::Permit`].
    pub fn outcome(&self) -> Outcome {
        self.decided.outcome
    }

    /// The deciding policy; defaults and algorithms have no name.
    pub fn policy(&self) -> Option<&'d str> {
        match self.decided.by {
            By::Policy(entry) => self.deciding.decide.rule(entry).map(|rule| rule.name.as_str()),
            By::Default | By::Algorithm | By::Nobody => None,
        }
    }

    /// What must be done along with the decision. If you cannot, treat a permit as a denial.
    pub fn obligations(&self) -> Vec<Duty> {
        self.full().obligations
    }

    /// What may be done along with the decision.
    pub fn advice(&self) -> Vec<Duty> {
        self.full().advice
    }

    /// The description of the policy, or why there is no decision.
    pub fn reason(&self) -> Option<String> {
        self.full().reason.map(std::borrow::Cow::into_owned)
    }

    /// The request as it was decided: with all that the directory has of it.
    pub fn request(&self) -> &'d Request {
        self.request
    }

    /// The report of this decision: every policy that matches and the nearest of the others, every reason, every source line.
    pub fn explain(&self) -> Report {
        let Deciding { kind, decide, .. } = self.deciding;
        report_decision(self.snapshot, kind, decide, self.request, self.decided, self.scratch.hits(), self.skipped)
    }

    fn full(&self) -> Full<'d> {
        let Deciding { files, decide, .. } = self.deciding;
        Full::of(files, decide, self.request, &self.decided, self.scratch.hits())
    }
}
