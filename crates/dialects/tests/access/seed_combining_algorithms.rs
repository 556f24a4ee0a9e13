//! Every rule and every example of the document "Combining Algorithms", by name.

use upheld_dialects::access::{Edition, request};
use upheld_engine::decide::{By, Outcome, Request};
use upheld_engine::{Ruling, Scratch, Silent, ask};
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::{Diagnostics, SourceId, State};
use upheld_syntax::parse;

/// Policies and settings, ready for requests.
struct World {
    loaded: Loaded,
}

/// What became of a request, and of every policy.
#[derive(Debug, PartialEq, Eq)]
struct Answer {
    outcome: Outcome,
    /// The policy that decides; `(default)` if none does.
    by: String,
    /// The policies that apply but do not decide, in order.
    lost: Vec<String>,
    /// The policies that do not apply.
    skipped: Vec<String>,
}

impl World {
    fn new(manifest: &str, policies: &str) -> Self {
        Self::of(&[("manifest.yaml", manifest), ("policies.yaml", policies)])
    }

    fn of(files: &[(&str, &str)]) -> Self {
        let inputs = files.iter().map(|(name, text)| Input::text(*name, Format::Yaml, *text)).collect();
        let loaded = load(inputs, &["access/strict"]);
        Self { loaded: loaded.unwrap_or_else(|broken| panic!("{:#?}", broken.diagnostics)) }
    }

    /// Asks about a request, written as a map in one line.
    fn ask(&self, text: &str) -> Answer {
        let request = request_of(text);
        let (_, decide) = self.loaded.snapshot.decides().next().expect("policies that decide requests");
        let decided = ask(decide, &&request, &mut Scratch::default(), &mut Silent);
        let name = |entry| decide.rule(entry).expect("a policy").name.to_string();
        let by = match decided.by {
            By::Policy(entry) => name(entry),
            By::Default => "(default)".to_owned(),
            By::Algorithm => "(algorithm)".to_owned(),
            By::Nobody => "(nobody)".to_owned(),
        };
        let ruling = Ruling::explain(decide, &&request);
        let in_state = |states: &[State]| -> Vec<String> {
            let of_state = ruling.candidates.iter().filter(|candidate| states.contains(&candidate.state));
            of_state.map(|candidate| name(candidate.entry)).collect()
        };
        let winners = in_state(&[State::Won]);
        assert_eq!(!winners.is_empty(), matches!(decided.by, By::Policy(_)), "{ruling:?}");
        assert!(winners.iter().all(|winner| *winner == by), "the explanation is that of the decision");
        let skipped = in_state(&[State::Skip]);
        Answer { outcome: decided.outcome, by, lost: in_state(&[State::Lost, State::Kept]), skipped }
    }
}

fn request_of(text: &str) -> Request {
    let (parsed, problems) = parse("request.yaml", Format::Yaml, text.to_owned(), SourceId::new(0));
    assert_eq!(problems, [], "{text}");
    let mut found = Diagnostics::default();
    let document = parsed.tree.documents().next().expect("a document");
    request::read_asked(SourceId::new(0), document, Edition::Strict, &mut found).unwrap_or_else(|| panic!("{found:#?}"))
}

/// A request of somebody with one role.
fn by(role: &str, method: &str, path: &str) -> String {
    format!("{{subject: {{roles: [{role}]}}, action: {{method: {method}}}, resource: {{path: {path}}}}}")
}

/// `(effect, priority)` of policies that all apply, named `p0`, `p1` and so on, in the order of the file.
fn of_effects(algorithm: &str, effects: &[(&str, i32)]) -> World {
    let policy = |(number, (effect, priority)): (usize, &(&str, i32))| {
        format!(
            "- {{id: p{number}, effect: {effect}, priority: {priority}, subjects: [], resources: [], actions: []}}\n"
        )
    };
    let policies: String = effects.iter().enumerate().map(policy).collect();
    World::new(&format!("combiningAlgorithm: {algorithm}\n"), &policies)
}

fn decision(answer: &Answer) -> (Outcome, &str) {
    (answer.outcome, answer.by.as_str())
}

const ANYTHING: &str = "{action: {method: GET}, resource: {path: /}}";

const AUDIT: &str = "
- id: admin-access
  effect: permit
  priority: 100
  subjects: [{ role: admin }]
  resources: [{ path: '/**' }]
  actions: [{ method: '*' }]
- id: deny-audit-logs
  effect: deny
  priority: 200
  subjects: [{ role: admin }]
  resources: [{ path: '/api/audit/**' }]
  actions: [{ method: DELETE }]
";

const ADMIN_AREA: &str = "
- id: deny-admin-area
  effect: deny
  priority: 100
  subjects: [{ role: user }]
  resources: [{ path: '/admin/**' }]
  actions: [{ method: '*' }]
- id: super-user-admin
  effect: permit
  priority: 200
  subjects:
    - claim:
        name: superUser
        value: true
  resources: [{ path: '/admin/**' }]
  actions: [{ method: '*' }]
";

const LOCKDOWN: &str = "
- id: emergency-lockdown
  effect: deny
  priority: 1000
  subjects: []
  resources: [{ path: '/**' }]
  actions: [{ method: '*' }]
";

const WITHOUT_LOCKDOWN: &str = "
- id: admin-access
  effect: permit
  priority: 100
  subjects: [{ role: admin }]
  resources: [{ path: '/**' }]
  actions: [{ method: '*' }]
- id: user-read
  effect: permit
  priority: 90
  subjects: [{ role: user }]
  resources: [{ path: '/api/**' }]
  actions: [{ method: GET }]
";

fn first_applicable() -> World {
    World::new("combiningAlgorithm: first-applicable", &(LOCKDOWN.to_owned() + WITHOUT_LOCKDOWN))
}

// Overview and configuration.

#[test]
fn the_algorithm_is_set_for_all_policies_by_the_manifest() {
    for (algorithm, expected) in [
        ("deny-overrides", (Outcome::Deny, "deny-audit-logs")),
        ("permit-overrides", (Outcome::Permit, "admin-access")),
        ("first-applicable", (Outcome::Deny, "deny-audit-logs")),
    ] {
        let world = World::new(&format!("combiningAlgorithm: {algorithm}\ndefaultEffect: deny\n"), AUDIT);
        let answer = world.ask(&by("admin", "DELETE", "/api/audit/123"));
        assert_eq!(decision(&answer), expected, "{algorithm}");
    }
}

#[test]
fn without_a_manifest_one_deny_overrides() {
    let world = World::of(&[("policies.yaml", AUDIT)]);
    let answer = world.ask(&by("admin", "DELETE", "/api/audit/123"));
    assert_eq!(decision(&answer), (Outcome::Deny, "deny-audit-logs"));
}

#[test]
fn without_a_manifest_the_default_is_deny() {
    let answer = World::of(&[("policies.yaml", AUDIT)]).ask(&by("user", "GET", "/api/users"));
    assert_eq!(decision(&answer), (Outcome::Deny, "(default)"));
}

#[test]
fn a_manifest_that_says_one_thing_leaves_the_other_as_it_is() {
    let world = World::new("defaultEffect: permit", AUDIT);
    let answer = world.ask(&by("admin", "DELETE", "/api/audit/123"));
    assert_eq!(decision(&answer), (Outcome::Deny, "deny-audit-logs"), "deny-overrides still");
    let world = World::new("combiningAlgorithm: permit-overrides", AUDIT);
    assert_eq!(decision(&world.ask(&by("user", "GET", "/x"))), (Outcome::Deny, "(default)"), "deny still");
}

#[test]
fn an_algorithm_in_a_manifest_with_its_policies_counts_as_well() {
    let text = format!("combiningAlgorithm: permit-overrides\npolicies:{}", AUDIT.replace('\n', "\n  "));
    let answer = World::of(&[("manifest.yaml", &text)]).ask(&by("admin", "DELETE", "/api/audit/123"));
    assert_eq!(decision(&answer), (Outcome::Permit, "admin-access"));
}

// deny-overrides.

#[test]
fn deny_overrides_illustration_one_deny_among_permits() {
    let world = of_effects("deny-overrides", &[("permit", 0), ("permit", 0), ("deny", 0), ("permit", 0)]);
    let answer = world.ask(ANYTHING);
    assert_eq!(decision(&answer), (Outcome::Deny, "p2"));
    assert_eq!(answer.lost, ["p0", "p1", "p3"]);
}

#[test]
fn deny_overrides_flow_any_deny_then_any_permit_then_the_default() {
    let permits = of_effects("deny-overrides", &[("permit", 0), ("permit", 0)]);
    assert_eq!(decision(&permits.ask(ANYTHING)), (Outcome::Permit, "p0"));
    let denies = of_effects("deny-overrides", &[("deny", 0), ("deny", 0)]);
    assert_eq!(decision(&denies.ask(ANYTHING)), (Outcome::Deny, "p0"));
    let nothing = World::new("combiningAlgorithm: deny-overrides", AUDIT);
    assert_eq!(decision(&nothing.ask(&by("guest", "GET", "/"))), (Outcome::Deny, "(default)"));
}

#[test]
fn deny_overrides_example_admin_deletes_audit_log() {
    let answer = World::new("combiningAlgorithm: deny-overrides", AUDIT).ask(&by("admin", "DELETE", "/api/audit/123"));
    assert_eq!(decision(&answer), (Outcome::Deny, "deny-audit-logs"));
    assert_eq!(answer.lost, ["admin-access"], "both match");
}

#[test]
fn deny_overrides_example_admin_reads_users() {
    let answer = World::new("combiningAlgorithm: deny-overrides", AUDIT).ask(&by("admin", "GET", "/api/users"));
    assert_eq!(decision(&answer), (Outcome::Permit, "admin-access"));
    assert_eq!(answer.skipped, ["deny-audit-logs"], "only the first matches");
}

#[test]
fn deny_overrides_does_not_care_for_priorities() {
    let world = of_effects("deny-overrides", &[("permit", 1000), ("deny", -1000)]);
    assert_eq!(decision(&world.ask(ANYTHING)), (Outcome::Deny, "p1"));
}

#[test]
fn of_several_denies_the_one_with_the_highest_priority_is_told() {
    let world = of_effects("deny-overrides", &[("deny", 1), ("deny", 3), ("deny", 2)]);
    assert_eq!(decision(&world.ask(ANYTHING)), (Outcome::Deny, "p1"));
}

// permit-overrides.

#[test]
fn permit_overrides_illustration_one_permit_among_denies() {
    let world = of_effects("permit-overrides", &[("deny", 0), ("deny", 0), ("permit", 0), ("deny", 0)]);
    let answer = world.ask(ANYTHING);
    assert_eq!(decision(&answer), (Outcome::Permit, "p2"));
    assert_eq!(answer.lost, ["p0", "p1", "p3"]);
}

#[test]
fn permit_overrides_flow_any_permit_then_any_deny_then_the_default() {
    let denies = of_effects("permit-overrides", &[("deny", 0), ("deny", 0)]);
    assert_eq!(decision(&denies.ask(ANYTHING)), (Outcome::Deny, "p0"));
    let permits = of_effects("permit-overrides", &[("permit", 0), ("permit", 0)]);
    assert_eq!(decision(&permits.ask(ANYTHING)), (Outcome::Permit, "p0"));
    let nothing = World::new("combiningAlgorithm: permit-overrides\ndefaultEffect: permit\n", ADMIN_AREA);
    assert_eq!(decision(&nothing.ask(&by("guest", "GET", "/"))), (Outcome::Permit, "(default)"));
}

#[test]
fn permit_overrides_example_super_user_in_the_admin_area() {
    let world = World::new("combiningAlgorithm: permit-overrides", ADMIN_AREA);
    let answer = world.ask(
        "{subject: {roles: [user], claims: {superUser: true}}, action: {method: GET}, resource: {path: /admin/dashboard}}",
    );
    assert_eq!(decision(&answer), (Outcome::Permit, "super-user-admin"));
    assert_eq!(answer.lost, ["deny-admin-area"], "both match");
}

#[test]
fn permit_overrides_example_without_the_claim_or_with_another_value() {
    let world = World::new("combiningAlgorithm: permit-overrides", ADMIN_AREA);
    for claims in ["{}", "{superUser: false}", "{other: true}"] {
        let answer = world.ask(&format!(
            "{{subject: {{roles: [user], claims: {claims}}}, action: {{method: GET}}, resource: {{path: /admin/dashboard}}}}"
        ));
        assert_eq!(decision(&answer), (Outcome::Deny, "deny-admin-area"), "{claims}");
        assert_eq!(answer.skipped, ["super-user-admin"], "{claims}");
    }
}

#[test]
fn permit_overrides_does_not_care_for_priorities() {
    let world = of_effects("permit-overrides", &[("deny", 1000), ("permit", -1000)]);
    assert_eq!(decision(&world.ask(ANYTHING)), (Outcome::Permit, "p1"));
}

// first-applicable.

#[test]
fn first_applicable_illustration_the_highest_priority_stops() {
    let world = of_effects("first-applicable", &[("permit", 50), ("deny", 200), ("permit", 100)]);
    let answer = world.ask(ANYTHING);
    assert_eq!(decision(&answer), (Outcome::Deny, "p1"));
    assert_eq!(answer.lost, ["p2", "p0"], "by priority, wherever they stand");
}

#[test]
fn first_applicable_flow_a_policy_that_does_not_match_is_passed() {
    let world = World::new(
        "combiningAlgorithm: first-applicable",
        "- {id: others, effect: deny, priority: 2, subjects: [{role: guest}], resources: [], actions: []}\n\
         - {id: mine, effect: permit, priority: 1, subjects: [{role: user}], resources: [], actions: []}\n",
    );
    let answer = world.ask(&by("user", "GET", "/"));
    assert_eq!(decision(&answer), (Outcome::Permit, "mine"));
    assert_eq!(answer.skipped, ["others"]);
}

#[test]
fn first_applicable_flow_a_policy_whose_condition_does_not_hold_is_passed() {
    let world = World::new(
        "combiningAlgorithm: first-applicable",
        "- id: from-the-office\n  effect: deny\n  priority: 2\n  subjects: []\n  resources: []\n  actions: []\n  \
         conditions: [{type: ip, allowlist: [192.0.2.0/24]}]\n\
         - {id: everybody, effect: permit, priority: 1, subjects: [], resources: [], actions: []}\n",
    );
    let from = |ip: &str| format!("{{action: {{method: GET}}, resource: {{path: /}}, environment: {{ip: {ip}}}}}");
    assert_eq!(decision(&world.ask(&from("192.0.2.7"))), (Outcome::Deny, "from-the-office"));
    let answer = world.ask(&from("198.51.100.7"));
    assert_eq!(decision(&answer), (Outcome::Permit, "everybody"));
    assert_eq!(answer.skipped, ["from-the-office"]);
}

#[test]
fn first_applicable_flow_when_no_policy_is_left_the_default_stands() {
    for (default, outcome) in [("deny", Outcome::Deny), ("permit", Outcome::Permit)] {
        let manifest = format!("combiningAlgorithm: first-applicable\ndefaultEffect: {default}\n");
        let answer = World::new(&manifest, WITHOUT_LOCKDOWN).ask(&by("user", "POST", "/api/users"));
        assert_eq!(decision(&answer), (outcome, "(default)"));
        assert_eq!(answer.skipped.len(), 2);
    }
}

#[test]
fn first_applicable_example_admin_reads_users_during_lockdown() {
    let answer = first_applicable().ask(&by("admin", "GET", "/api/users"));
    assert_eq!(decision(&answer), (Outcome::Deny, "emergency-lockdown"));
    assert_eq!(
        (answer.lost.as_slice(), answer.skipped.as_slice()),
        (&["admin-access".to_owned()][..], &["user-read".to_owned()][..])
    );
}

#[test]
fn first_applicable_example_order_is_by_priority() {
    let world = first_applicable();
    let (_, decide) = world.loaded.snapshot.decides().next().expect("policies");
    let order: Vec<(&str, f64)> = decide.rules().iter().map(|rule| (rule.name.as_str(), rule.priority)).collect();
    assert_eq!(order, [("emergency-lockdown", 1000.0), ("admin-access", 100.0), ("user-read", 90.0)]);
}

#[test]
fn first_applicable_example_if_emergency_lockdown_is_removed() {
    let world = World::new("combiningAlgorithm: first-applicable", WITHOUT_LOCKDOWN);
    let answer = world.ask(&by("admin", "GET", "/api/users"));
    assert_eq!(decision(&answer), (Outcome::Permit, "admin-access"));
    let answer = world.ask(&by("user", "GET", "/api/users"));
    assert_eq!(decision(&answer), (Outcome::Permit, "user-read"));
}

#[test]
fn first_applicable_order_in_the_file_does_not_matter() {
    let world = World::new("combiningAlgorithm: first-applicable", &(WITHOUT_LOCKDOWN.to_owned() + LOCKDOWN));
    let answer = world.ask(&by("admin", "GET", "/api/users"));
    assert_eq!(decision(&answer), (Outcome::Deny, "emergency-lockdown"));
}

#[test]
fn first_applicable_at_equal_priority_goes_by_place() {
    for (first, outcome) in [("permit", Outcome::Permit), ("deny", Outcome::Deny)] {
        let second = if first == "permit" { "deny" } else { "permit" };
        let world = of_effects("first-applicable", &[(first, 5), (second, 5)]);
        assert_eq!(decision(&world.ask(ANYTHING)), (outcome, "p0"));
    }
}

#[test]
fn empty_subjects_are_any() {
    let world = first_applicable();
    for request in [by("admin", "GET", "/x"), by("user", "GET", "/x"), by("", "GET", "/x")] {
        assert_eq!(decision(&world.ask(&request)), (Outcome::Deny, "emergency-lockdown"), "{request}");
    }
    let nobody = "{action: {method: GET}, resource: {path: /x}}";
    assert_eq!(decision(&world.ask(nobody)), (Outcome::Deny, "emergency-lockdown"), "even without a subject");
}

// Default effect.

#[test]
fn default_effect_table_deny_and_permit() {
    for algorithm in ["deny-overrides", "permit-overrides", "first-applicable"] {
        for (default, outcome) in [("deny", Outcome::Deny), ("permit", Outcome::Permit)] {
            let world =
                World::new(&format!("combiningAlgorithm: {algorithm}\ndefaultEffect: {default}\n"), WITHOUT_LOCKDOWN);
            let answer = world.ask(&by("guest", "GET", "/api/users"));
            assert_eq!(decision(&answer), (outcome, "(default)"), "{algorithm}");
        }
    }
}

#[test]
fn default_effect_counts_where_there_are_no_policies() {
    for (default, outcome) in [("deny", Outcome::Deny), ("permit", Outcome::Permit)] {
        let answer = World::new(&format!("defaultEffect: {default}"), "[]").ask(ANYTHING);
        assert_eq!(decision(&answer), (outcome, "(default)"));
    }
}

#[test]
fn default_effect_does_not_count_where_a_policy_applies() {
    let world = World::new("defaultEffect: permit", AUDIT);
    let answer = world.ask(&by("admin", "DELETE", "/api/audit/1"));
    assert_eq!(decision(&answer), (Outcome::Deny, "deny-audit-logs"));
    let world = World::new("defaultEffect: deny", AUDIT);
    assert_eq!(decision(&world.ask(&by("admin", "GET", "/x"))), (Outcome::Permit, "admin-access"));
}

// Comparison.

#[test]
fn comparison_of_three_algorithms_over_a_b_and_c() {
    let policies = "
- {id: A, effect: permit, priority: 100, subjects: [], resources: [], actions: []}
- {id: B, effect: deny, priority: 90, subjects: [], resources: [], actions: []}
- {id: C, effect: permit, priority: 80, subjects: [], resources: [], actions: []}
";
    for (algorithm, outcome, deciding) in [
        ("deny-overrides", Outcome::Deny, "B"),
        ("permit-overrides", Outcome::Permit, "A"),
        ("first-applicable", Outcome::Permit, "A"),
    ] {
        let answer = World::new(&format!("combiningAlgorithm: {algorithm}"), policies).ask(ANYTHING);
        assert_eq!(decision(&answer), (outcome, deciding), "{algorithm}");
    }
}

// Beyond the document: all ten, as docs/choosing-an-algorithm.md has them.

#[test]
fn all_algorithms_over_the_requests_of_the_page() {
    let policies = |ids: &[&str]| -> String {
        let all = [
            ("A", "{id: A, effect: permit, priority: 100, subjects: [], resources: [], actions: []}"),
            ("B", "{id: B, effect: deny, priority: 90, subjects: [], resources: [], actions: []}"),
            ("C", "{id: C, effect: permit, priority: 80, subjects: [], resources: [], actions: []}"),
            ("B?", "{id: B, effect: deny, priority: 90, subjects: [{group: b}], resources: [], actions: []}"),
            ("X", "{id: X, effect: permit, subjects: [{group: x}], resources: [], actions: [{method: PUT}]}"),
        ];
        all.iter().filter(|(id, _)| ids.contains(id)).map(|(_, text)| format!("- {text}\n")).collect()
    };
    let (permit, deny, open) = (Outcome::Permit, Outcome::Deny, Outcome::Undecided);
    let request = "{subject: {groups: '?'}, action: {method: GET}, resource: {path: /}}";
    let table = [
        ("deny-overrides", [(deny, "B"), (permit, "A"), (deny, "(default)"), (open, "(nobody)")]),
        ("permit-overrides", [(permit, "A"), (permit, "A"), (deny, "(default)"), (permit, "A")]),
        ("first-applicable", [(permit, "A"), (permit, "A"), (deny, "(default)"), (permit, "A")]),
        ("only-one-applicable", [(open, "(nobody)"), (permit, "A"), (deny, "(default)"), (open, "(nobody)")]),
        ("deny-unless-permit", [(permit, "A"), (permit, "A"), (deny, "(algorithm)"), (permit, "A")]),
        ("permit-unless-deny", [(deny, "B"), (permit, "A"), (permit, "(algorithm)"), (permit, "A")]),
        ("ordered-deny-overrides", [(deny, "B"), (permit, "A"), (deny, "(default)"), (open, "(nobody)")]),
        ("ordered-permit-overrides", [(permit, "A"), (permit, "A"), (deny, "(default)"), (permit, "A")]),
        ("unanimous", [(open, "(nobody)"), (permit, "A"), (deny, "(default)"), (open, "(nobody)")]),
        ("priority-deny-overrides", [(permit, "A"), (permit, "A"), (deny, "(default)"), (permit, "A")]),
    ];
    let worlds: [&[&str]; 4] = [&["A", "B", "C"], &["A"], &["X"], &["A", "B?"]];
    for (algorithm, expected) in table {
        for (ids, expected) in worlds.iter().zip(expected) {
            let answer = World::new(&format!("combiningAlgorithm: {algorithm}"), &policies(ids)).ask(request);
            assert_eq!(decision(&answer), expected, "{algorithm} over {ids:?}");
        }
    }
}
