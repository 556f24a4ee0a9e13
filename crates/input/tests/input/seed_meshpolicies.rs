//! Every rule and every example of the document "meshPolicies", by name.

use upheld_dialects::comply::changes;
use upheld_engine::comply::{Action, Actor, By, Check, Comply, Decision, Outcome, Verdict, Violation};
use upheld_engine::words::comply as words;
use upheld_input::load::load;
use upheld_input::{Format, Input, parse};
use upheld_model::{Code, Diagnostics, SourceId};

/// An organisation that was read from documents, in the edition of the document.
struct World {
    comply: Comply,
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
        let (_, comply) = loaded.snapshot.complies().next().expect("an organisation");
        Self { comply: comply.clone() }
    }

    /// Somebody does something, written as a change in one line.
    fn act(&mut self, by: &str, change: &str) -> Answer {
        let (actor, action) = self.read(by, change);
        let before = self.export();
        let told = answer(&self.comply.would(&actor, &action));
        assert_eq!(self.export(), before, "a question changes nothing");
        let done = answer(&self.comply.act(&actor, &action));
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
        let mut read = changes::read(source, &file.tree, self.comply.profile(), &Actor::System, &mut found);
        assert_eq!(found.as_slice(), [], "{change}");
        let read = read.pop().expect("a change");
        (read.actor, read.action)
    }

    /// Everything that could have changed.
    fn export(&self) -> (String, Vec<String>) {
        (self.comply.digest(), self.violations())
    }

    /// All violations there are.
    fn violations(&self) -> Vec<String> {
        self.comply.violations().iter().map(told).collect()
    }

    /// The one check of two objects.
    fn check(&self, one: &str, other: &str) -> Check {
        let object = |reference| self.comply.resolve(reference).expect("an object");
        let mut checks = self.comply.check(object(one), object(other));
        assert_eq!(checks.len(), 1, "one policy is about this pair");
        checks.remove(0)
    }
}

fn answer(decision: &Decision) -> Answer {
    Answer { outcome: decision.outcome, violations: decision.violations.iter().map(told).collect() }
}

fn told(violation: &Violation) -> String {
    let Violation { policy, a, b, .. } = violation;
    let (own, others) = (words::braces(&a.values), words::braces(&b.values));
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

mod when_am_i_impacted {
    use super::*;

    #[test]
    fn case_1_1_a_landing_zone_of_a_new_project() {
        let mut world = organisation("");
        let create = |zone: &str| {
            format!(
                "verb: createProject, object: {{ref: project/new, workspace: customer, tags: {{environment: dev}}}}, \
                 landingZones: [landingZone/{zone}]"
            )
        };
        assert_eq!(
            world.act(END_USER, &create("zone-prod")),
            blocked(&["project-zone: project/new {dev} ~ landingZone/zone-prod {prod}"])
        );
        assert_eq!(world.act(END_USER, &create("zone-dev")), allowed());
    }

    #[test]
    fn case_1_2_saving_a_new_project() {
        let mut world = organisation("");
        let create = |environment: &str| {
            format!(
                "verb: createProject, object: {{ref: project/new, workspace: customer, tags: {{environment: {environment}}}}}"
            )
        };
        assert_eq!(
            world.act(END_USER, &create("prod")),
            blocked(&["customer-project: workspace/customer {dev, qa} ~ project/new {prod}"])
        );
        assert_eq!(world.act(END_USER, &create("qa")), allowed());
    }

    #[test]
    fn case_1_all_policies_that_a_new_project_violates_are_told_at_once() {
        let mut world = organisation("");
        let create = "verb: createProject, object: {ref: project/new, workspace: customer, tags: {environment: prod}}, \
                      landingZones: [landingZone/zone-dev], principals: [user/user-dev, group/group-dev]";
        assert_eq!(
            world.act(END_USER, create),
            blocked(&[
                "customer-project: workspace/customer {dev, qa} ~ project/new {prod}",
                "project-principal: project/new {prod} ~ group/group-dev {dev}",
                "project-principal: project/new {prod} ~ user/user-dev {dev}",
                "project-zone: project/new {prod} ~ landingZone/zone-dev {dev}",
            ])
        );
    }

    #[test]
    fn case_2_1_a_new_tenant_with_a_landing_zone() {
        let mut world = organisation("");
        assert_eq!(
            world.act(END_USER, "verb: link, a: project/project, b: landingZone/zone-prod"),
            blocked(&["project-zone: project/project {dev} ~ landingZone/zone-prod {prod}"])
        );
        assert_eq!(world.act(END_USER, "verb: link, a: project/project, b: landingZone/zone-dev"), allowed());
    }

    #[test]
    fn case_2_2_a_new_user_or_group_of_a_project() {
        let mut world = organisation("");
        for kind in ["user", "group"] {
            assert_eq!(
                world.act(END_USER, &format!("verb: link, a: project/project, b: {kind}/{kind}-prod")),
                blocked(&[&format!("project-principal: project/project {{dev}} ~ {kind}/{kind}-prod {{prod}}")])
            );
            let link = format!("verb: link, a: project/project, b: {kind}/{kind}-dev");
            assert_eq!(world.act(END_USER, &link), allowed());
        }
    }

    /// The project changes its environment, while it is related to the objects named.
    fn moved(links: &str, environment: &str) -> Answer {
        let change = format!("verb: setTags, object: project/project, tags: {{environment: {environment}}}");
        organisation(links).act(END_USER, &change)
    }

    #[test]
    fn case_2_3_a_changed_tag_against_the_customer() {
        assert_eq!(
            moved("", "prod"),
            blocked(&["customer-project: workspace/customer {dev, qa} ~ project/project {prod}"])
        );
        assert_eq!(moved("", "qa"), allowed());
    }

    #[test]
    fn case_2_3_a_changed_tag_against_all_landing_zones() {
        assert_eq!(
            moved("{a: project/project, b: landingZone/zone-dev}", "qa"),
            blocked(&["project-zone: project/project {qa} ~ landingZone/zone-dev {dev}"])
        );
    }

    #[test]
    fn case_2_3_a_changed_tag_against_all_users() {
        assert_eq!(
            moved("{a: project/project, b: user/user-dev}", "qa"),
            blocked(&["project-principal: project/project {qa} ~ user/user-dev {dev}"])
        );
    }

    #[test]
    fn case_2_3_a_changed_tag_against_all_groups() {
        assert_eq!(
            moved("{a: project/project, b: group/group-dev}", "qa"),
            blocked(&["project-principal: project/project {qa} ~ group/group-dev {dev}"])
        );
    }

    #[test]
    fn case_2_3_a_changed_tag_against_all_of_them() {
        let links = "{a: project/project, b: landingZone/zone-dev}, {a: project/project, b: user/user-dev}, \
                     {a: project/project, b: group/group-dev}";
        assert_eq!(
            moved(links, "prod"),
            blocked(&[
                "customer-project: workspace/customer {dev, qa} ~ project/project {prod}",
                "project-principal: project/project {prod} ~ group/group-dev {dev}",
                "project-principal: project/project {prod} ~ user/user-dev {dev}",
                "project-zone: project/project {prod} ~ landingZone/zone-dev {dev}",
            ])
        );
    }

    #[test]
    fn case_3_a_new_user_or_group_of_a_customer() {
        let mut world = organisation("");
        for kind in ["user", "group"] {
            assert_eq!(
                world.act(END_USER, &format!("verb: link, a: customer/customer, b: {kind}/{kind}-prod")),
                blocked(&[&format!(
                    "customer-principal: workspace/customer {{dev, qa}} ~ {kind}/{kind}-prod {{prod}}"
                )])
            );
            let link = format!("verb: link, a: customer/customer, b: {kind}/{kind}-dev");
            assert_eq!(world.act(END_USER, &link), allowed());
        }
    }

    #[test]
    fn without_policies_nobody_is_impacted() {
        let mut world = World::new(ORGANISATION);
        for change in [
            "verb: createProject, object: {ref: project/new, workspace: customer, tags: {environment: prod}}, \
             landingZones: [landingZone/zone-dev]",
            "verb: link, a: project/project, b: landingZone/zone-prod",
            "verb: link, a: project/project, b: user/user-prod",
            "verb: link, a: project/project, b: group/group-prod",
            "verb: link, a: customer/customer, b: user/user-prod",
            "verb: setTags, object: project/project, tags: {environment: prod}",
        ] {
            assert_eq!(world.act(END_USER, change), allowed(), "{change}");
        }
        assert_eq!(world.violations(), Vec::<String>::new());
    }
}

mod users_and_groups {
    use super::*;

    /// Projects for production in two customers, and a policy on who may work on them.
    const PRODUCTION: &str = "
kind: Compliance
objects:
- {ref: customer/one}
- {ref: customer/two}
- {ref: project/one-prod, workspace: one, tags: {environment: prod}}
- {ref: project/two-prod, workspace: two, tags: {environment: prod}}
- {ref: project/one-dev, workspace: one, tags: {environment: dev}}
- {ref: user/global, tags: {environment: prod}}
- {ref: user/plain}
- {ref: group/one-on-call, tags: {environment: prod}, members: [user/plain]}
policies: [{id: access, a: {kind: meshProject, tag: environment}, b: {kind: meshUser/Group, tag: environment}}]
";

    #[test]
    fn aspect_1_a_tag_on_a_user_counts_in_all_customers() {
        let mut world = World::new(PRODUCTION);
        assert_eq!(world.act(END_USER, "verb: link, a: project/one-prod, b: user/global"), allowed());
        assert_eq!(world.act(END_USER, "verb: link, a: project/two-prod, b: user/global"), allowed());
        assert_eq!(
            world.act(END_USER, "verb: link, a: project/one-prod, b: user/plain"),
            blocked(&["access: project/one-prod {prod} ~ user/plain {}"])
        );
    }

    #[test]
    fn aspect_2_access_per_customer_goes_through_groups() {
        let mut world = World::new(PRODUCTION);
        // The group counts, not who is in it.
        assert_eq!(world.act(END_USER, "verb: link, a: project/one-prod, b: group/one-on-call"), allowed());
        assert_eq!(
            world.act(END_USER, "verb: link, a: project/one-prod, b: user/plain"),
            blocked(&["access: project/one-prod {prod} ~ user/plain {}"])
        );
    }

    #[test]
    fn aspect_3_default_tags_are_applied_to_all_users() {
        let mut world = World::new(&format!("{PRODUCTION}userDefaultTags: {{environment: [dev, qa]}}\n"));
        assert_eq!(world.act(END_USER, "verb: link, a: project/one-dev, b: user/plain"), allowed());
        // What a user has already stays.
        assert_eq!(world.act(END_USER, "verb: link, a: project/one-prod, b: user/global"), allowed());
        let create = "verb: createObject, object: {ref: user/new}";
        assert_eq!(world.act(ADMINISTRATOR, create), allowed());
        assert_eq!(world.act(END_USER, "verb: link, a: project/one-dev, b: user/new"), allowed());
        assert_eq!(
            world.act(END_USER, "verb: link, a: project/one-prod, b: user/new"),
            blocked(&["access: project/one-prod {prod} ~ user/new {dev, qa}"])
        );
        // Groups get none.
        assert_eq!(
            world.act(END_USER, "verb: link, a: project/one-dev, b: group/one-on-call"),
            blocked(&["access: project/one-dev {dev} ~ group/one-on-call {prod}"])
        );
    }

    #[test]
    fn a_policy_always_applies_to_both() {
        let links = "{a: project/project, b: user/user-prod}, {a: project/project, b: group/group-prod}";
        assert_eq!(
            organisation(links).violations(),
            [
                "project-principal: project/project {dev} ~ group/group-prod {prod}",
                "project-principal: project/project {dev} ~ user/user-prod {prod}",
            ]
        );
    }

    #[test]
    fn a_policy_for_users_only_is_refused() {
        assert_refused("meshUser", "user");
    }

    #[test]
    fn a_policy_for_groups_only_is_refused() {
        assert_refused("meshCustomerUserGroup", "group");
    }

    fn assert_refused(kind: &str, neutral: &str) {
        for other in ["meshProject", "meshCustomer"] {
            for written in [kind, neutral] {
                let found = mistakes(&format!(
                    "kind: Compliance\npolicies: [{{id: alone, a: {{kind: {other}, tag: t}}, b: {{kind: {written}, tag: t}}}}]"
                ));
                assert_eq!(found.len(), 1, "{found:#?}");
                assert!(found[0].contains("only about meshUser/Group"), "{found:#?}");
            }
        }
    }
}

mod violations {
    use super::*;

    const EXAMPLE: &str = "
kind: Compliance
tagDefinitions:
- {kind: meshCustomer, key: environment, type: multiSelect, options: [dev, test, qa, prod], restricted: true}
- {kind: meshProject, key: environment, type: singleSelect, options: [dev, test, qa, prod]}
objects: [{ref: meshCustomer/managed-customer, tags: {environment: [dev, test, qa]}}]
policies: [{id: environment, a: {kind: meshProject, tag: environment}, b: {kind: meshCustomer, tag: environment}}]
";

    fn create(environment: &str) -> String {
        let place = "workspace: managed-customer";
        format!(
            "verb: createProject, object: {{ref: project/my-example-project-prod, {place}, tags: {{environment: {environment}}}}}"
        )
    }

    #[test]
    fn the_error_names_the_policy_and_both_values() {
        let mut world = World::new(EXAMPLE);
        let expected =
            "environment: project/my-example-project-prod {prod} ~ workspace/managed-customer {dev, test, qa}";
        assert_eq!(world.act(END_USER, &create("prod")), blocked(&[expected]));
        assert_eq!(world.violations(), Vec::<String>::new());
    }

    #[test]
    fn the_error_says_how_to_solve_it() {
        let mut world = World::new(EXAMPLE);
        let (actor, action) = world.read(END_USER, &create("prod"));
        let decision = world.comply.would(&actor, &action);
        let ways = world.comply.ways(&actor, &action, &decision.violations[0]);
        let ways: Vec<(String, By)> = words::fixes(&ways).into_iter().map(|way| (way.text, way.by)).collect();
        assert_eq!(
            ways,
            [
                (
                    "choose dev, test or qa instead of prod as environment of project/my-example-project-prod"
                        .to_owned(),
                    By::Viewer
                ),
                ("add prod to environment of workspace/managed-customer".to_owned(), By::Administrator),
            ]
        );
    }

    #[test]
    fn after_picking_a_valid_value_the_project_is_created() {
        for environment in ["dev", "test", "qa"] {
            let mut world = World::new(EXAMPLE);
            assert_eq!(world.act(END_USER, &create("prod")).outcome, Outcome::Blocked);
            assert_eq!(world.act(END_USER, &create(environment)), allowed());
            assert!(world.comply.resolve("project/my-example-project-prod").is_ok());
        }
    }
}

mod arrows {
    use super::*;

    const LINKS: &str = "{a: project/project, b: landingZone/zone-dev}, {a: project/project, b: user/user-dev}, \
                         {a: project/project, b: group/group-dev}, {a: customer/customer, b: user/user-dev}, \
                         {a: customer/customer, b: group/group-dev}";

    fn move_to_production(object: &str) -> String {
        format!("verb: setTags, object: {object}, tags: {{environment: prod}}")
    }

    #[test]
    fn a_landing_zone_moved_by_an_administrator_is_a_soft_violation() {
        let mut world = organisation(LINKS);
        let expected = "project-zone: project/project {dev} ~ landingZone/zone-dev {prod}";
        assert_eq!(world.act(ADMINISTRATOR, &move_to_production("landingZone/zone-dev")), soft(&[expected]));
        assert_eq!(world.violations(), [expected]);
    }

    #[test]
    fn a_customer_moved_by_an_administrator_is_a_soft_violation() {
        assert_eq!(
            organisation(LINKS).act(ADMINISTRATOR, &move_to_production("customer/customer")),
            soft(&[
                "customer-principal: workspace/customer {prod} ~ group/group-dev {dev}",
                "customer-principal: workspace/customer {prod} ~ user/user-dev {dev}",
                "customer-project: workspace/customer {prod} ~ project/project {dev}",
            ])
        );
    }

    #[test]
    fn users_and_groups_moved_by_an_administrator_are_soft_violations() {
        for kind in ["user", "group"] {
            let change = move_to_production(&format!("{kind}/{kind}-dev"));
            assert_eq!(
                organisation(LINKS).act(ADMINISTRATOR, &change),
                soft(&[
                    &format!("customer-principal: workspace/customer {{dev, qa}} ~ {kind}/{kind}-dev {{prod}}"),
                    &format!("project-principal: project/project {{dev}} ~ {kind}/{kind}-dev {{prod}}"),
                ])
            );
        }
    }

    #[test]
    fn a_project_moved_by_an_end_user_is_a_hard_violation() {
        let answer = organisation(LINKS).act(END_USER, &move_to_production("project/project"));
        assert_eq!((answer.outcome, answer.violations.len()), (Outcome::Blocked, 4));
    }

    #[test]
    fn only_administrators_move_landing_zones_users_and_groups() {
        for object in ["landingZone/zone-dev", "user/user-dev", "group/group-dev"] {
            let answer = organisation(LINKS).act(END_USER, &move_to_production(object));
            assert_eq!(answer, is(Outcome::Forbidden, &[]), "{object}");
        }
    }

    #[test]
    fn violations_are_seen_per_customer_and_can_be_resolved() {
        let other = "- {ref: meshCustomer/other, tags: {environment: [dev]}}\n\
                     - {ref: meshProject/theirs, workspace: other, tags: {environment: dev}}\n";
        let links = "{a: project/project, b: landingZone/zone-dev}, {a: project/theirs, b: landingZone/zone-dev}";
        let mut world = World::new(&format!("{ORGANISATION}{other}relationships: [{links}]\n{ENVIRONMENT}"));
        world.act(ADMINISTRATOR, &move_to_production("landingZone/zone-dev"));
        let seen_by = |world: &World, role: &str| -> Vec<String> {
            let (actor, _) = world.read(role, "verb: deleteObject, object: project/project");
            world.comply.violations_for(&actor).expect("may see them").iter().map(told).collect()
        };
        let own = "project-zone: project/project {dev} ~ landingZone/zone-dev {prod}";
        let theirs = "project-zone: project/theirs {dev} ~ landingZone/zone-dev {prod}";
        assert_eq!(seen_by(&world, "{role: customerAdmin, workspace: customer}"), [own]);
        assert_eq!(seen_by(&world, "{role: customerAdmin, workspace: other}"), [theirs]);
        assert_eq!(seen_by(&world, "partnerAdmin"), [own, theirs]);
        let unlink = "verb: unlink, a: project/project, b: landingZone/zone-dev";
        assert_eq!(world.act("{role: customerAdmin, workspace: customer}", unlink), allowed());
        assert_eq!(world.violations(), [theirs]);
    }
}

mod examples {
    use super::*;

    #[test]
    fn example_1_a_project_is_for_an_environment_of_its_customer() {
        let mut world = World::new(
            "
kind: Compliance
objects: [{ref: meshCustomer/c, tags: {environment: [sandbox, test]}}]
policies: [{id: environment, a: {kind: meshCustomer, tag: environment}, b: {kind: meshProject, tag: environment}}]
",
        );
        let create = |environment: &str| {
            format!(
                "verb: createProject, object: {{ref: project/p, workspace: c, tags: {{environment: [{environment}]}}}}"
            )
        };
        assert_eq!(
            world.act(END_USER, &create("prod")),
            blocked(&["environment: workspace/c {sandbox, test} ~ project/p {prod}"])
        );
        assert_eq!(world.act(END_USER, &create("sandbox")), allowed());
    }

    #[test]
    fn example_2_confidential_projects_have_users_and_groups_that_are_allowed() {
        let mut world = World::new(
            "
kind: Compliance
objects:
- {ref: customer/c}
- {ref: project/secret, workspace: c, tags: {confidentiality: high}}
- {ref: user/cleared, tags: {clearance: [low, high]}}
- {ref: user/new, tags: {clearance: [low]}}
- {ref: group/cleared, tags: {clearance: [high]}}
- {ref: group/new}
policies: [{id: clearance, a: {kind: meshProject, tag: confidentiality}, b: {kind: meshUser/Group, tag: clearance}}]
",
        );
        for kind in ["user", "group"] {
            let link = |who: &str| format!("verb: link, a: project/secret, b: {kind}/{who}");
            assert_eq!(world.act(END_USER, &link("cleared")), allowed());
            assert_eq!(world.act(END_USER, &link("new")).outcome, Outcome::Blocked);
        }
    }

    /// A project whose tag must agree with that of its landing zones.
    fn zones(tag: &str, own: &str, other: &str) {
        let mut world = World::new(&format!(
            "
kind: Compliance
objects:
- {{ref: customer/c}}
- {{ref: project/p, workspace: c, tags: {{{tag}: {own}}}}}
- {{ref: landingZone/right, tags: {{{tag}: [{own}, {other}]}}}}
- {{ref: landingZone/wrong, tags: {{{tag}: {other}}}}}
policies: [{{id: zone, a: {{kind: meshProject, tag: {tag}}}, b: {{kind: meshLandingZone, tag: {tag}}}}}]
"
        ));
        assert_eq!(world.act(END_USER, "verb: link, a: project/p, b: landingZone/right"), allowed());
        assert_eq!(
            world.act(END_USER, "verb: link, a: project/p, b: landingZone/wrong"),
            blocked(&[&format!("zone: project/p {{{own}}} ~ landingZone/wrong {{{other}}}")])
        );
    }

    #[test]
    fn example_3_landing_zones_are_meant_for_the_environment() {
        zones("environment", "prod", "dev");
    }

    #[test]
    fn example_4_landing_zones_are_meant_for_the_business_unit() {
        zones("business-unit", "retail", "logistics");
    }
}

mod how_are_policies_evaluated {
    use super::*;

    /// How the pair of a row comes out, and why: whichever side the policy names first.
    fn row(project: &str, customer: &str) -> (Verdict, Code) {
        let [one, other] = ["meshProject", "meshCustomer"];
        let [straight, turned] = [(one, other), (other, one)].map(|(a, b)| {
            let world = World::new(&format!(
                "
kind: Compliance
tagDefinitions:
- {{kind: meshProject, key: environment, type: multiSelect, options: [dev, qa, prod]}}
- {{kind: meshCustomer, key: environment, type: multiSelect, options: [dev, qa, prod]}}
objects:
- {{ref: customer/c, tags: {{environment: {customer}}}}}
- {{ref: project/p, workspace: c, tags: {{environment: {project}}}}}
policies: [{{id: environment, a: {{kind: {a}, tag: environment}}, b: {{kind: {b}, tag: environment}}}}]
"
            ));
            let check = world.check("project/p", "customer/c");
            assert_eq!(check.verdict == Verdict::Violated, !world.violations().is_empty());
            (check.verdict, words::reason(&check).0)
        });
        assert_eq!(straight, turned, "there is no direction");
        straight
    }

    #[test]
    fn row_1_prod_and_prod() {
        assert_eq!(row("prod", "prod"), (Verdict::Holds, Code::ComplyCommon));
    }

    #[test]
    fn row_2_prod_and_dev_qa() {
        assert_eq!(row("prod", "[dev, qa]"), (Verdict::Violated, Code::ComplyDisjoint));
    }

    #[test]
    fn row_3_empty_and_dev() {
        for empty in ["[]", "null"] {
            assert_eq!(row(empty, "dev"), (Verdict::Violated, Code::ComplyOneEmpty));
        }
    }

    #[test]
    fn row_4_empty_and_empty() {
        for empty in ["[]", "null"] {
            assert_eq!(row(empty, "[]"), (Verdict::HoldsWithoutEvidence, Code::ComplyBothEmpty));
        }
    }

    #[test]
    fn row_5_prod_qa_and_qa_dev() {
        assert_eq!(row("[prod, qa]", "[qa, dev]"), (Verdict::Holds, Code::ComplyCommon));
    }

    #[test]
    fn no_direction() {
        let values = ["[]", "[dev]", "[qa]", "[dev, qa]", "[qa, prod]"];
        for (place, project) in values.iter().enumerate() {
            for (other, customer) in values.iter().enumerate() {
                // Each row compares both orders of the kinds; here the values change sides, too.
                assert_eq!(row(project, customer).0, row(customer, project).0, "{place} {other}");
            }
        }
    }

    #[test]
    fn all_tags_are_sets() {
        // The single choice of the project against the choices of the customer: a text and a list of one are the same.
        for project in ["qa", "[qa]", "[qa, qa]"] {
            let text = format!(
                "
kind: Compliance
tagDefinitions:
- {{kind: meshProject, key: stage, type: singleSelect, options: [dev, qa, prod]}}
- {{kind: meshCustomer, key: stages, type: multiSelect, options: [dev, qa, prod]}}
objects:
- {{ref: customer/c, tags: {{stages: [dev, qa]}}}}
- {{ref: project/p, workspace: c, tags: {{stage: {project}}}}}
policies: [{{id: stage, a: {{kind: meshProject, tag: stage}}, b: {{kind: meshCustomer, tag: stages}}}}]
"
            );
            let mut world = World::new(&text);
            assert_eq!(world.violations(), Vec::<String>::new(), "{project}");
            assert_eq!(
                world.act(END_USER, "verb: setTags, object: project/p, tags: {stage: prod}"),
                blocked(&["stage: project/p {prod} ~ workspace/c {dev, qa}"])
            );
            // The order and the number of values do not count.
            assert_eq!(world.act(ADMINISTRATOR, "verb: setTags, object: customer/c, tags: {stages: [qa]}"), allowed());
        }
    }

    #[test]
    fn every_policy_of_a_pair_must_hold() {
        let mut world = World::new(
            "
kind: Compliance
objects:
- {ref: customer/c, tags: {environment: [dev], region: [eu]}}
policies:
- {id: environment, a: {kind: meshProject, tag: environment}, b: {kind: meshCustomer, tag: environment}}
- {id: region, a: {kind: meshCustomer, tag: region}, b: {kind: meshProject, tag: region}}
",
        );
        let create =
            |tags: &str| format!("verb: createProject, object: {{ref: project/p, workspace: c, tags: {{{tags}}}}}");
        assert_eq!(
            world.act(END_USER, &create("environment: dev, region: us")),
            blocked(&["region: workspace/c {eu} ~ project/p {us}"])
        );
        assert_eq!(
            world.act(END_USER, &create("environment: prod")),
            blocked(&["environment: project/p {prod} ~ workspace/c {dev}", "region: workspace/c {eu} ~ project/p {}",])
        );
        assert_eq!(world.act(END_USER, &create("environment: dev, region: eu")), allowed());
    }
}
