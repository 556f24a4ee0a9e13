//! Decisions as users ask for them, and policies broken on purpose.

use crate::support::{in_root, snapshot, with_files};

/// A line in the root of the project.
macro_rules! asked {
    ($name:ident, $line:literal) => {
        snapshot!("access_", $name, in_root($line), from $line);
    };
}

/// A line in a folder with these files.
macro_rules! told {
    ($name:ident, $line:literal, $($file:literal: $text:expr),+) => {
        snapshot!("access_", $name, with_files(&[$(($file, $text)),+], $line), from $line);
    };
}

/// Broken policies, and what a request gets to hear.
macro_rules! broken {
    ($name:ident, $($file:literal: $text:expr),+) => {
        snapshot!("access_", $name, with_files(&[$(($file, $text)),+], "can --subject role=admin --action GET --resource /x"));
    };
}

// The third mock of the interaction design, on the seed's own example.
asked!(
    explain,
    "explain -f examples/combining-algorithms/deny-overrides --subject role=admin --action DELETE --resource /api/audit/123"
);
asked!(
    explain_wide,
    "explain -f examples/access --subject role=admin --action DELETE --resource /api/audit/123 -o wide"
);
asked!(
    explain_json,
    "explain -f examples/access --subject role=admin --action DELETE --resource /api/audit/123 -o json --now 2025-03-01T12:00:00Z"
);
asked!(
    explain_yaml,
    "explain -f examples/access --subject role=user --action GET --resource /api/users -o yaml --now 2025-03-01T12:00:00Z"
);
asked!(
    explain_jsonl,
    "explain -f examples/access --subject role=user --action GET --resource /api/users -o jsonl --now 2025-03-01T12:00:00Z"
);
asked!(explain_names, "explain -f examples/access --subject role=user --action GET --resource /api/users -o name");
asked!(
    explain_ascii,
    "explain -f examples/access --subject role=admin --action DELETE --resource /api/audit/123 --ascii"
);
asked!(explain_nothing_matches, "explain -f examples/access --subject role=guest --action GET --resource /api/users");
asked!(explain_nobody, "explain -f examples/access --resource /api/users");
asked!(explain_unknown_role, "explain -f examples/access --subject role=? --action DELETE --resource /api/audit/123");
asked!(
    explain_unknown_role_that_does_not_matter,
    "explain -f examples/combining-algorithms/first-applicable --subject role=? --action GET --resource /api/users"
);
asked!(explain_broken_path, "explain -f examples/access --subject role=user --action GET --resource /api/%zz");
asked!(explain_trick, "explain -f examples/access --subject role=user --action GET --resource /api/%2e%2e/admin");
asked!(
    explain_permit_overrides,
    "explain -f examples/combining-algorithms/permit-overrides --subject role=user,claim.superUser=true --action GET --resource /admin/dashboard"
);
asked!(
    explain_first_applicable,
    "explain -f examples/combining-algorithms/first-applicable --subject role=admin --action GET --resource /api/users"
);
asked!(
    explain_own_kind,
    "explain -f examples/own-decision-kind --kind BuildGate --subject role=releaser --action release --resource type=container,signed=true --now 2025-03-07T12:00:00Z"
);
asked!(
    explain_own_kind_default,
    "explain -f examples/own-decision-kind --kind BuildGate --subject role=releaser --action release --resource type=container --now 2025-03-06T12:00:00Z"
);
asked!(
    explain_wrong_kind,
    "explain -f examples/access --kind AcessPolicy --subject role=user --action GET --resource /x"
);
asked!(explain_no_policies, "explain -f examples/own-kind --subject role=user --action GET --resource /x");
asked!(can_permit, "can -f examples/access --subject role=user --action GET --resource /api/users");
asked!(can_deny, "can -f examples/access --subject role=admin --action DELETE --resource /api/audit/1");
asked!(can_default, "can -f examples/access --subject role=user --action POST --resource /api/users");
asked!(can_undecided, "can -f examples/access --subject role=? --action GET --resource /api/users");
asked!(can_json, "can -f examples/access --subject role=admin --action DELETE --resource /api/audit/1 -o json");
asked!(can_name, "can -f examples/access --subject role=user --action GET --resource /api/users -o name");
asked!(can_nothing, "can -f examples/access");
asked!(resolve, "resolve -f examples/access --subject role=user --action GET --resource /api/users");
asked!(resolve_deny, "resolve -f examples/access --subject role=user --action POST --resource /api/users -o yaml");
asked!(
    explain_undecided_name,
    "explain -f examples/access --subject role=? --action GET --resource /api/users -o name"
);
asked!(resolve_undecided, "resolve -f examples/access --subject role=? --action GET --resource /api/users");
asked!(unknown_subject_key, "can -f examples/access --subject rol=admin --action GET --resource /x");
asked!(unknown_subject_claim, "can -f examples/access --subject department=sales --action GET --resource /x");
asked!(
    wrong_env,
    "can -f examples/access --subject role=user --action GET --resource /x --env 192.0.2.7 --env time=noon"
);
asked!(wrong_now, "can -f examples/access --subject role=user --action GET --resource /x --now noon");
asked!(explain_nothing_asked, "explain -f examples/access");
asked!(explain_nothing_asked_of_two_families, "explain -f examples/demo");
asked!(explain_connection_and_request, "explain -f examples/demo --from web-1 --subject role=admin");
asked!(
    explain_connection_of_a_deciding_kind,
    "explain -f examples/demo --kind AccessPolicy --from web-1 --to backend-1"
);
asked!(list, "list -f examples/access");
asked!(show, "show -f examples/access AccessPolicy/deny-audit-logs");
asked!(kinds_show, "kinds -f examples/access show AccessPolicy");
asked!(can_help, "can --help");

const POLICIES: &str = include_str!("../../../../examples/access/policies.yaml");

told!(
    default_permit,
    "explain --subject role=guest --action GET --resource /news",
    "manifest.yaml": "defaultEffect: permit\n", "policies.yaml": POLICIES
);
told!(empty_list, "explain --subject role=guest --action GET --resource /news", "policies.yaml": "policies: []\n");
told!(
    empty_list_with_settings,
    "explain --subject role=guest --action GET --resource /news",
    "manifest.yaml": "combiningAlgorithm: deny-overrides\n", "policies.yaml": "[]\n"
);
told!(empty_folder, "can --subject role=guest --action GET --resource /news", "readme.txt": "nothing here\n");

const CONDITIONS: &str = "\
- id: night-shift
  effect: permit
  description: The night shift works at night
  priority: 30
  subjects: [{group: night-shift}]
  resources: []
  actions: []
  conditions: [{type: time, after: '22:00', before: '06:00', dayOfWeek: [mon, tue, wed, thu, fri], timezone: Europe/Berlin}]
- id: office
  effect: permit
  priority: 20
  subjects: []
  resources: [{path: /wiki/**}]
  actions: [{method: GET}]
  conditions: [{type: ip, allowlist: [192.0.2.0/24, '2001:db8::/32'], blocklist: [192.0.2.66]}]
- id: seniors
  effect: permit
  priority: 10
  subjects: []
  resources: []
  actions: []
  conditions:
  - {type: custom, expression: 'subject.claims.level >= 5 && resource.path.startsWith(\"/hr/\")'}
- id: campaign
  effect: permit
  subjects: []
  resources: [{path: /campaign}]
  actions: []
  valid: {from: '2025-03-01T00:00:00Z', until: '2025-04-01T00:00:00Z'}
";

told!(
    time_in_the_window,
    "explain --subject id=ann,group=night-shift --action GET --resource /x --now 2025-03-07T22:30:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    time_after_midnight_counts_for_the_evening_before,
    "explain --subject id=ann,group=night-shift --action GET --resource /x --now 2025-03-08T04:30:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    time_after_midnight_of_a_day_that_does_not_count,
    "explain --subject id=ann,group=night-shift --action GET --resource /x --now 2025-03-09T04:30:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    address_within,
    "explain --action GET --resource /wiki/start --env ip=192.0.2.7 --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    address_folded,
    "can --action GET --resource /wiki/start --env ip=::ffff:192.0.2.7 --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    address_blocked,
    "explain --action GET --resource /wiki/start --env ip=192.0.2.66 --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    address_missing,
    "explain --action GET --resource /wiki/start --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    expression_holds,
    "explain --subject id=bob,claim.level=7 --action GET --resource /hr/salaries --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    expression_does_not_hold,
    "explain --subject id=bob,claim.level=3 --action GET --resource /hr/salaries --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    expression_of_the_wrong_type,
    "explain --subject id=bob,claim.level=high --action GET --resource /hr/salaries --now 2025-03-09T12:00:00Z",
    "policies.yaml": CONDITIONS
);
told!(
    no_longer_valid,
    "explain --action GET --resource /campaign --now 2025-04-01T00:00:00Z --subject claim.level=1",
    "policies.yaml": CONDITIONS
);

told!(
    set_with_its_own_algorithm,
    "explain --subject role=admin --action DELETE --resource /logs/1",
    "set.yaml": "id: logs\nalgorithm: first-applicable\npolicies:\n\
        - {id: admins, effect: permit, priority: 2, subjects: [{role: admin}], resources: [], actions: []}\n\
        - {id: keep, effect: deny, priority: 1, subjects: [], resources: [], actions: [{method: DELETE}]}\n"
);
told!(
    hidden_error,
    "explain --subject id=bob,claim.level=? --action GET --resource /x",
    "manifest.yaml": "combiningAlgorithm: permit-unless-deny\n",
    "p.yaml": "- {id: low, effect: deny, subjects: [{claim: {name: level, operator: lt, value: 3}}], resources: [], actions: []}\n\
        - {id: bob, effect: permit, subjects: [{id: bob}], resources: [], actions: []}\n"
);

const SETS: &str = "\
kind: PolicySet
id: shop
algorithm: first-applicable
target: {resources: [{path: /shop/**}]}
policies:
- {id: customers-buy, effect: permit, subjects: [{role: customer}], resources: [], actions: []}
sets:
- id: returns
  algorithm: unanimous
  priority: 10
  target: {resources: [{path: /shop/returns/**}]}
  policies:
  - id: within-30-days
    effect: permit
    subjects: [{role: customer}]
    resources: [{property: {name: age, operator: lte, value: 30}}]
    actions: []
  - {id: not-food, effect: deny, subjects: [], resources: [{type: food}], actions: []}
  duties:
  - {kind: obligation, id: print-label, on: permit, properties: {size: A6}}
  - {kind: advice, id: ask-why, on: permit}
---
- {id: staff, effect: permit, subjects: [{role: staff}], resources: [], actions: []}
";

told!(
    nested_sets,
    "explain --subject role=customer --action POST --resource path=/shop/returns/7,type=book,age=3",
    "shop.yaml": SETS
);
told!(
    nested_sets_disagree,
    "explain --subject role=customer --action POST --resource path=/shop/returns/7,type=food,age=3",
    "shop.yaml": SETS
);
told!(
    obligations_json,
    "can --subject role=customer --action POST --resource path=/shop/returns/7,type=book,age=3 -o json",
    "shop.yaml": SETS
);

told!(
    batch,
    "can --batch requests.jsonl",
    "policies.yaml": POLICIES, "requests.jsonl": BATCH
);
told!(
    batch_json,
    "can --batch requests.jsonl -o jsonl",
    "policies.yaml": POLICIES, "requests.jsonl": BATCH
);

const BATCH: &str = "\
{\"subject\": {\"roles\": [\"admin\"]}, \"action\": {\"method\": \"DELETE\"}, \"resource\": {\"path\": \"/api/audit/1\"}}
{\"subject\": {\"roles\": [\"user\"]}, \"action\": {\"method\": \"GET\"}, \"resource\": {\"path\": \"/api/users\"}}

{\"subject\": {\"roles\": \"user\"}, \"action\": {\"method\": \"GET\"}}
{\"subject\": {\"roles\": [\"user\"]
{\"subject\": {\"roles\": [\"admin\"]}, \"action\": {\"method\": \"GET\"}, \"resource\": {\"path\": \"/%zz\"}}
";

told!(
    request_file,
    "explain --request request.yaml",
    "policies.yaml": POLICIES,
    "request.yaml": "subject: {id: bob, roles: [user]}\naction: {method: GET}\nresource: {path: /api/users}\n"
);
told!(
    request_file_broken,
    "can --request request.yaml",
    "policies.yaml": POLICIES,
    "request.yaml": "subject: {id: bob, role: user}\naction: GET\nresourc: {path: /api/users}\n"
);
told!(request_file_missing, "can --request nowhere.yaml", "policies.yaml": POLICIES);

/// What the original lets through, all at once.
const OPEN: &str = "\
- id: everyone-by-mistake
  effect: permit
  subjects: [{role: ''}]
  resources: [{path: '/docs/*', owner: self}]
  actions: [{method: GET}]
  conditions:
  - {type: ip, cidr: 10.0.0.0/8}
  - {type: custom, expression: 'false'}
  - {type: time, after: nine}
- id: not-guests
  effect: allow
  subjects: [{claim: {name: kind, operator: neq, value: guest}}]
  resources: []
  actions: [{method: '*'}]
";

told!(
    compat_openings,
    "explain --semantics access/compat --action GET --resource /docs/a/b --subject id=x --env ip=192.0.2.1 --now 2025-03-09T12:00:00Z",
    "manifest.yaml": "combiningAlgorithm: deny-unless-permit\nexcludePaths: [/health]\n", "policies.yaml": OPEN
);
told!(
    strict_refuses_the_openings,
    "explain --action GET --resource /docs/a/b --subject id=x --env ip=192.0.2.1 --now 2025-03-09T12:00:00Z",
    "manifest.yaml": "combiningAlgorithm: deny-unless-permit\nexcludePaths: [/health]\n", "policies.yaml": OPEN
);

broken!(broken_effect, "p.yaml": "- {id: a, effect: allow, subjects: [], resources: [], actions: []}\n");
broken!(
    broken_operator,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: [{claim: {name: level, operator: gtee, value: 5}}]\n  resources: []\n  actions: []\n"
);
broken!(broken_field, "p.yaml": "- {id: a, effect: permit, subjcts: [], resources: [], actions: []}\n");
broken!(
    broken_matcher_field,
    "p.yaml": "- {id: a, effect: permit, subjects: [{roles: admin}], resources: [], actions: []}\n"
);
broken!(
    broken_wildcards,
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [{path: '/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*/*'}], actions: []}\n"
);
broken!(
    broken_escape,
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [{path: '/files/\\.git/**'}], actions: []}\n"
);
broken!(
    broken_algorithm,
    "manifest.yaml": "combiningAlgorithm: deny-override\n",
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n"
);
broken!(
    broken_manifest_key,
    "manifest.yaml": "combiningAlgoritm: deny-overrides\n",
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n"
);
broken!(
    broken_default,
    "manifest.yaml": "defaultEffect: allow\n",
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n"
);
broken!(
    broken_regex,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: [{claim: {name: mail, operator: regex, value: '(.+@example'}}]\n  resources: []\n  actions: []\n"
);
broken!(
    broken_regex_bomb,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: [{claim: {name: mail, operator: regex, value: '((a{1,100}){1,100}){1,100}'}}]\n  resources: []\n  actions: []\n"
);
broken!(
    broken_look_around,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: [{claim: {name: mail, operator: regex, value: '(?=a)b'}}]\n  resources: []\n  actions: []\n"
);
broken!(
    broken_duplicate_id,
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n- {id: a, effect: deny, subjects: [], resources: [], actions: []}\n"
);
broken!(broken_empty_matcher, "p.yaml": "- {id: a, effect: permit, subjects: [{}], resources: [], actions: []}\n");
broken!(
    broken_empty_text,
    "p.yaml": "- {id: a, effect: permit, subjects: [{role: ''}], resources: [], actions: []}\n"
);
broken!(
    broken_method,
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [], actions: [{method: 'G*'}]}\n"
);
broken!(
    broken_time,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: []\n  resources: []\n  actions: []\n  conditions: [{type: time, after: '9am', before: '25:00', dayOfWeek: [funday], timezone: Europe/Berln}]\n"
);
broken!(
    broken_cidr,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: []\n  resources: []\n  actions: []\n  conditions: [{type: ip, allowlist: [10.0.0.1/8, 10.0.0.300]}]\n"
);
broken!(
    broken_condition_type,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: []\n  resources: []\n  actions: []\n  conditions: [{type: tiem, after: '09:00'}]\n"
);
broken!(
    broken_expression,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: []\n  resources: []\n  actions: []\n  conditions:\n  - {type: custom, expression: 'subjct.id == \"bob\" && resource.path.startWith(\"/x\") && subject.roles > 3'}\n"
);
broken!(
    broken_expression_grammar,
    "p.yaml": "- id: a\n  effect: permit\n  subjects: []\n  resources: []\n  actions: []\n  conditions:\n  - {type: custom, expression: 'subject.id == \"bob\" &&'}\n"
);
broken!(
    broken_two_manifests,
    "a-manifest.yaml": "combiningAlgorithm: deny-overrides\n",
    "b-manifest.yaml": "combiningAlgorithm: permit-overrides\n",
    "p.yaml": "- {id: a, effect: permit, subjects: [], resources: [], actions: []}\n"
);
broken!(
    broken_own_kind,
    "k.yaml": "kind: PolicyKind\nname: Gate\nfamily: decide\neffect: {field: verdict, permit: [go], deny: [stop]}\nresolve: {algorithm: first-aplicable}\n",
    "p.yaml": "type: Gate\nname: a\nverdict: halt\nsubjects: []\nresources: []\nactions: []\n"
);
broken!(
    broken_several_at_once,
    "p.yaml": "- {id: a, effect: alow, subjects: [{}], resources: [{path: '\\x'}], actions: [{method: 'G T'}]}\n- {id: 'b c', effect: permit, subjects: [], resources: []}\n"
);
