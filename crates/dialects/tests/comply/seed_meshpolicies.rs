//! Every rule and every example of the document "meshPolicies", by name.

mod arrows;
mod examples;
mod how_are_policies_evaluated;
mod users_and_groups;
mod violations;
mod when_am_i_impacted;

use upheld_dialects::comply::{Organisations, changes};
use upheld_engine::comply::{Comply, Finding, Verdict};
use upheld_engine::words::comply::braces;
use upheld_governance::{Action, Actor, By, Decision, Organisation, Outcome, words};
use upheld_loader::load::load;
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId, Timestamp};
use upheld_syntax::parse;

/// When everything happens.
const NOW: Timestamp = Timestamp(0);

/// An organisation that was read from documents, in the edition of the document.
struct World {
    organisation: Organisation,
}

/// What became of an action.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    outcome: Outcome,
    /// Each violation in one line: policy, both sides, their values.
    violations: Vec<String>,
}

impl World {
    /// Objects, relationships and policies, as they stand in one collecting document.
    fn new(text: &str) -> Self {
        let loaded = load(vec![Input::text("organisation.yaml", Format::Yaml, text)], &["meshstack/classic"]);
        let loaded = loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics));
        let mut all = loaded.snapshot.companion::<Organisations>().expect("organisations").iter();
        let (_, documented) = all.next().expect("an organisation");
        Self { organisation: documented.organisation.clone() }
    }

    fn comply(&self) -> &Comply {
        self.organisation.comply()
    }

    /// Somebody does something, written as a change in one line.
    fn act(&mut self, by: &str, change: &str) -> Answer {
        let (actor, action) = self.read(by, change);
        let before = self.export();
        let told = answer(&self.organisation.would(NOW, &actor, &action));
        assert_eq!(self.export(), before, "a question changes nothing");
        let done = answer(&self.organisation.act(NOW, &actor, &action));
        assert_eq!(done, told, "what is done is what was said");
        if !done.outcome.is_done() {
            assert_eq!(self.export(), before, "what is refused changes nothing");
        }
        done
    }

    fn read(&self, by: &str, change: &str) -> (Actor, Action) {
        let text = format!("{{by: {by}, {change}}}");
        let (file, problems) = parse("change.yaml", Format::Yaml, text, SourceId::new(0));
        assert_eq!(problems, [], "{change}");
        let mut found = Diagnostics::default();
        let source = SourceId::new(0);
        let mut read = changes::read(source, &file.tree, self.comply().profile(), &Actor::System, &mut found);
        assert_eq!(found.as_slice(), [], "{change}");
        let read = read.pop().expect("a change");
        (read.actor, read.action)
    }

    /// Everything that could have changed.
    fn export(&self) -> (String, Vec<String>) {
        (self.organisation.digest(NOW), self.violations())
    }

    /// All violations there are.
    fn violations(&self) -> Vec<String> {
        self.comply().violations(NOW).iter().map(told).collect()
    }

    /// The one check of two objects.
    fn check(&self, one: &str, other: &str) -> Finding {
        let object = |reference| self.comply().lookup(reference).expect("an object");
        let mut checks = self.comply().findings_between(object(one), object(other), NOW);
        assert_eq!(checks.len(), 1, "one policy is about this pair");
        checks.remove(0)
    }
}

fn answer(decision: &Decision) -> Answer {
    Answer { outcome: decision.outcome, violations: decision.violations.iter().map(told).collect() }
}

fn told(violation: &Finding) -> String {
    let Finding { policy, a, b, .. } = violation;
    let (own, others) = (braces(&a.values), braces(&b.values));
    format!("{policy}: {} {own} ~ {} {others}", a.object, b.object)
}

fn is(outcome: Outcome, violations: &[&str]) -> Answer {
    Answer { outcome, violations: violations.iter().map(|one| (*one).to_owned()).collect() }
}

fn allowed() -> Answer {
    is(Outcome::Allowed, &[])
}

fn blocked(violations: &[&str]) -> Answer {
    is(Outcome::Blocked, violations)
}

fn soft(violations: &[&str]) -> Answer {
    is(Outcome::Soft, violations)
}

/// What is wrong with a document, without places.
fn mistakes(text: &str) -> Vec<String> {
    let loaded = load(vec![Input::text("organisation.yaml", Format::Yaml, text)], &["meshstack/classic"]);
    let diagnostics = loaded.err().map(|broken| broken.diagnostics);
    let told = |one: &upheld_model::Diagnostic| format!("{} ({})", one.message, one.help.join("; "));
    diagnostics.iter().flat_map(Diagnostics::as_slice).map(told).collect()
}

const END_USER: &str = "endUser";
const ADMINISTRATOR: &str = "admin";

/// Policies on the environment between every two kinds that can have one.
const ENVIRONMENT: &str = "
policies:
- {id: customer-project, a: {kind: meshCustomer, tag: environment}, b: {kind: meshProject, tag: environment}}
- {id: customer-principal, a: {kind: meshCustomer, tag: environment}, b: {kind: meshUser/Group, tag: environment}}
- {id: project-principal, a: {kind: meshProject, tag: environment}, b: {kind: meshUser/Group, tag: environment}}
- {id: project-zone, a: {kind: meshProject, tag: environment}, b: {kind: meshLandingZone, tag: environment}}
";

/// A customer with a project, and one landing zone, user and group for development and for production each.
const ORGANISATION: &str = "
kind: Compliance
objects:
- {ref: meshCustomer/customer, tags: {environment: [dev, qa]}}
- {ref: meshProject/project, workspace: customer, tags: {environment: dev}}
- {ref: meshLandingZone/zone-dev, tags: {environment: dev}}
- {ref: meshLandingZone/zone-prod, tags: {environment: prod}}
- {ref: meshUser/user-dev, tags: {environment: dev}}
- {ref: meshUser/user-prod, tags: {environment: prod}}
- {ref: meshCustomerUserGroup/group-dev, tags: {environment: dev}}
- {ref: meshCustomerUserGroup/group-prod, tags: {environment: prod}}
";

/// The organisation with all policies; `links` are relationships in flow style.
fn organisation(links: &str) -> World {
    World::new(&format!("{ORGANISATION}relationships: [{links}]\n{ENVIRONMENT}"))
}
