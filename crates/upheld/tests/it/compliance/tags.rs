//! Policies about the tags of single objects, and policies that are cut to some, as users ask about them.

use super::{NOW, told};
use crate::support::{folder, in_root, root, run, snapshot};

/// A question about the example.
macro_rules! tagged {
    ($name:ident, $line:literal) => {
        snapshot!("tags_", $name, in_root(&format!("{} -f examples/tag-policies {NOW}", $line)), from $line);
    };
}

tagged!(audit, "audit");
tagged!(audit_wide, "audit -o wide");
tagged!(audit_account, "audit --scope sandbox");
tagged!(audit_json, "audit --policy backup -o json");
tagged!(audit_markdown, "audit -o markdown");
tagged!(audit_csv, "audit -o csv");
tagged!(audit_junit, "audit -o junit");
tagged!(audit_as_administrator, "audit --as admin --policy environments");
tagged!(explain_violations, "explain resource/reports");
tagged!(explain_near, "explain resource/orders-db");
tagged!(explain_passes, "explain resource/web");
tagged!(explain_out_of_scope, "explain resource/try-out --verbose");
tagged!(explain_with_itself, "explain resource/web~resource/web -o name");
tagged!(explain_json, "explain resource/old-cluster -o json");
tagged!(explain_unknown, "explain resource/wev");
tagged!(explain_no_pair, "explain resource/web~account/shop");
tagged!(can_create_refused, "can create resource/new environment=test --in shop");
tagged!(can_create, "can create resource/new environment=dev cost-centre=4711 --in shop");
tagged!(can_create_recorded, "can create resource/new environment=dev --in shop --as admin");
tagged!(can_tag_into_scope, "can tag resource/queue cost-centre=4711 environment=prod");
tagged!(can_tag_refused, "can tag resource/web environment=production");
tagged!(can_tag_removed, "can tag resource/web cost-centre=");
tagged!(values, "values resource/orders-db environment");
tagged!(fix, "fix --scope shop");
tagged!(kind, "kinds show TagPolicy");

const WAIVED: &str = "
type: TagPolicy
name: owner
of: resource
tag: owner
required: true
---
- {ref: resource/one}
- {ref: resource/two}
---
kind: Waiver
id: old
policyKind: TagPolicy
policy: owner
match: {a: resource/one}
reason: goes away in autumn
";

#[test]
fn a_waiver_covers_a_single_object() {
    let folder = folder(&[("all.yaml", WAIVED)]);
    let output = told(folder.path(), "audit");
    assert!(output.contains("2 objects checked against 1 policy: 0 pass, 1 hard, 1 waived."), "{output}");
    // Without it, the object tells which kind is meant; without an object nothing does.
    let unnamed = WAIVED.replace("policyKind: TagPolicy\n", "");
    let folder = super::folder(&[("all.yaml", &unnamed)]);
    assert_eq!(told(folder.path(), "audit"), output);
    let whole = unnamed.replace("match: {a: resource/one}\n", "");
    let folder = super::folder(&[("all.yaml", &whole)]);
    assert!(told(folder.path(), "audit").contains("`policyKind:` names another"));
}

#[test]
fn an_audit_fails_where_a_tag_is_missing() {
    let code = |line: &str| run(&root(), &format!("{line} -f examples/tag-policies {NOW}")).status.code();
    assert_eq!(code("audit"), Some(1));
    assert_eq!(code("audit --policy backup"), Some(0), "it only warns");
    assert_eq!(code("audit --policy backup --fail-on warn"), Some(1));
}
