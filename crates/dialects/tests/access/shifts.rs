//! What other policies decide otherwise, as reports say it.

use upheld_dialects::access::Edition;
use upheld_dialects::{changed, dialects};
use upheld_report::{Certainty, Change, Comparison, Direction, Shifts};

use crate::world::read;

const BEFORE: &str = "
policies:
  - {id: admin-access, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: []}
  - {id: user-read, effect: permit, subjects: [{role: user}], resources: [{path: /articles/**}], actions: [{method: GET}]}
";

const AFTER: &str = "
policies:
  - {id: admin-access, effect: permit, subjects: [{role: admin}], resources: [{path: /**}], actions: []}
  - {id: user-read, effect: permit, subjects: [{role: user}], resources: [{path: /articles/**}], actions: [{method: GET}]}
  - {id: ops-health, effect: permit, subjects: [{role: 'ops*'}], resources: [{path: /admin/health}], actions: [{method: GET}]}
";

fn shifts(edition: Edition, before: &str, after: &str) -> Shifts {
    let (before, after) = (read(edition, before).unwrap(), read(edition, after).unwrap());
    let documents = changed(&before.snapshot, &after.snapshot);
    let found = dialects().filter_map(|one| one.possible_shifts(&before.snapshot, &after.snapshot, &documents));
    found.fold(Shifts::default(), Shifts::with).finished()
}

#[test]
fn a_policy_that_is_added_is_told_with_a_request_to_ask() {
    let found = shifts(Edition::Strict, BEFORE, AFTER);
    assert_eq!((found.verdict, found.counts.widened), (Comparison::Differs, 1));
    let [shift] = found.shifts.as_slice() else { panic!("{found:#?}") };
    assert_eq!((shift.direction, &shift.certainty), (Direction::Widened, &Certainty::Sure));
    let [cause] = shift.causes.as_slice() else { panic!("{shift:#?}") };
    assert_eq!((cause.change, cause.name.as_str()), (Change::Added, "ops-health"));
    assert_eq!(cause.says.as_deref(), Some("role=ops*, GET /admin/health"));
    assert_eq!(shift.example.command, "upheld explain --subject role=ops --action GET --resource /admin/health");
    assert_eq!((shift.before.verdict.word(), shift.after.verdict.word()), ("deny", "permit"));
    assert_eq!(shift.after.policies, ["ops-health"]);
}

#[test]
fn the_way_back_narrows_and_the_same_is_equal() {
    let back = shifts(Edition::Strict, AFTER, BEFORE);
    assert!(back.shifts.iter().all(|shift| shift.direction == Direction::Narrowed), "{back:#?}");
    let same = shifts(Edition::Strict, AFTER, AFTER);
    assert_eq!((same.verdict, same.shifts.len()), (Comparison::Equal, 0));
    let renamed = AFTER.replace("ops-health", "operators");
    assert_eq!(shifts(Edition::Strict, AFTER, &renamed).verdict, Comparison::Equal);
}

#[test]
fn the_edition_of_the_original_is_not_compared_and_says_so() {
    let found = shifts(Edition::Compat, BEFORE, AFTER);
    assert_eq!(found.verdict, Comparison::Undecided);
    assert_eq!(found.notes.len(), 1);
}

fn codes(text: &str) -> Vec<&'static str> {
    let read = read(Edition::Strict, text).unwrap();
    dialects()
        .flat_map(|dialect| dialect.findings(&read.snapshot))
        .map(|finding| finding.problem.fault.code())
        .collect()
}

#[test]
fn policies_that_never_decide_change_nothing_or_permit_everything_are_found() {
    assert_eq!(codes(BEFORE), [""; 0]);
    let twice = BEFORE.replace("user-read, effect", "admin-read, effect").replace("role: user", "role: admin");
    assert_eq!(codes(&twice), ["UP401"], "whatever it permits is permitted already");
    let first = twice.replace("id: admin-read,", "id: admin-read, priority: 5,");
    assert_eq!(codes(&first), ["UP105"], "it decides, and nobody would miss it");
    let denied = format!(
        "{BEFORE}  - {{id: nobody, effect: deny, subjects: [], resources: [{{path: /articles/**}}], actions: []}}\n"
    );
    assert_eq!(codes(&denied), ["UP402"], "user-read never decides");
    let open =
        "policies:\n  - {id: all, effect: permit, subjects: [], resources: [{path: /**}], actions: [{method: '*'}]}\n";
    assert_eq!(codes(open), ["UP403"]);
}

#[test]
fn a_star_where_there_are_no_wildcards_opens_nothing_and_is_told() {
    let policy = |subjects: &str, resources: &str, actions: &str| {
        format!(
            "policies:\n  - {{id: a, effect: permit, subjects: [{subjects}], resources: [{resources}], actions: [{actions}]}}\n"
        )
    };
    assert_eq!(codes(&policy("{group: '*'}", "{path: /**}", "{method: '*'}")), ["UP406"]);
    assert_eq!(codes(&policy("{role: '*'}", "{type: '*'}", "{operation: '*'}")), ["UP406"; 2]);
    let told = |text: &str| -> Vec<&'static str> {
        let read = read(Edition::Strict, text).unwrap();
        read.warnings.as_slice().iter().map(|warning| warning.fault.code()).collect()
    };
    let not = policy("{not: {group: 'ops-*'}}", "{path: /a}", "");
    assert_eq!((told(&not), codes(&not)), (vec!["UP406"], Vec::new()), "it is told when policies are read");
    let deny = policy("{group: 'ops-*'}", "{type: 'x*'}", "{operation: '*'}").replace("permit", "deny");
    assert_eq!(told(&deny), ["UP406"; 3]);
    assert_eq!(codes(&policy("{role: '*'}", "{path: /**}", "{method: '*'}")), ["UP403"]);
}

#[test]
fn examples_say_who_asks() {
    let of_group = |group: &str| {
        format!(
            "policies:\n  - {{id: a, effect: permit, subjects: [{{group: {group}}}], resources: [{{path: /a}}], actions: []}}\n"
        )
    };
    let found = shifts(Edition::Strict, &of_group("staff"), &of_group("guests"));
    let mut examples: Vec<&str> = found.shifts.iter().map(|shift| shift.example.what.as_str()).collect();
    examples.sort_unstable();
    assert_eq!(examples, ["group=guests /a", "group=staff /a"]);
}

#[test]
fn an_example_for_the_hosts_of_a_domain_has_a_host_of_it() {
    let of_domain = "policies:\n  - {id: a, effect: permit, subjects: [], resources: [{property: {name: host, operator: endsWith, value: .example.com}}], actions: []}\n";
    let found = shifts(Edition::Strict, "policies: []\n", of_domain);
    let widened = found.shifts.iter().find(|shift| shift.direction == Direction::Widened).unwrap();
    assert_eq!((widened.before.verdict.word(), widened.after.verdict.word()), ("deny", "permit"));
    assert_eq!(widened.certainty, Certainty::Sure, "{widened:#?}");
    assert!(widened.example.command.contains("other.example.com"), "{}", widened.example.command);
}
