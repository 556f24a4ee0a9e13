//! What is read: forms of inventories, kinds and editions, and every mistake at once.

use super::{NOW, printed, told};
use crate::support::{folder, in_root, root, snapshot};

const POLICIES: &str = "
kind: Compliance
policies:
- {id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}
- {id: access, a: {kind: project, tag: environment}, b: {kind: principal, tag: environment}}
- {id: zone, a: {kind: project, tag: environment}, b: {kind: landingZone, tag: environment}}
";

const YAML: &str = "
{ref: workspace/w, name: 'Work, \"shop\"', tags: {environment: [dev, qa]}}
---
{ref: project/p, workspace: w, tags: {environment: [prod, 5.0]}}
---
{ref: project/q, workspace: w, tags: {environment: qa}}
---
{ref: user/u, tags: {environment: [dev]}}
---
{ref: landingZone/lz}
---
{a: project/p, b: user/u}
---
{a: project/q, b: landingZone/lz}
";

const LINES: &str = r#"{"ref":"workspace/w","name":"Work, \"shop\"","tags":{"environment":["dev","qa"]}}
{"ref":"project/p","workspace":"workspace/w","tags":{"environment":["prod",5]}}
{"ref":"project/q","workspace":"w","tags":{"environment":"qa"}}
{"ref":"user/u","tags":{"environment":"dev"}}
{"ref":"landingZone/lz","tags":{"environment":[]}}
{"a":"user/u","b":"project/p"}
{"a":"project/q","b":"landingZone/lz"}
"#;

const OBJECTS: &str = "ref,name,workspace,tags.environment[]
workspace/w,\"Work, \"\"shop\"\"\",,dev;qa
project/p,,w,prod;5
project/q,,w,qa
user/u,,,dev
landingZone/lz,,,
";

const LINKS: &str = "a,b
project/p,user/u
project/q,landingZone/lz
";

#[test]
fn lines_and_tables_give_the_same_audit_as_yaml() {
    let audits = [
        folder(&[("policies.yaml", POLICIES), ("inventory.yaml", YAML)]),
        folder(&[("policies.yaml", POLICIES), ("inventory.jsonl", LINES)]),
        folder(&[("policies.yaml", POLICIES), ("objects.csv", OBJECTS), ("links.csv", LINKS)]),
    ]
    .map(|folder| {
        ["table", "name", "prometheus"].map(|format| {
            let text = printed(folder.path(), &format!("audit -o {format}"));
            (format, text)
        })
    });
    assert!(audits[0][0].1.starts_with("4 pairs checked against 3 policies: 1 passes, 3 hard."), "{}", audits[0][0].1);
    assert_eq!(audits[0], audits[1]);
    assert_eq!(audits[0], audits[2]);
}

/// One mistake of every sort.
const BROKEN: &str = "
kind: Compliance
tagDefinitions:
- {kind: workspace, key: environment, type: multiSelect, options: [dev, qa, prod]}
- {kind: project, key: environment, type: singleSelect, options: [dev, qa, prod]}
objects:
- {ref: workspace/w, tags: {environment: [dev, qua]}}
- {ref: prject/p, workspace: w}
- {ref: project/p, workspace: w, tags: {enviroment: dev}}
- {ref: project/p, workspace: w, tags: {environment: [dev, qa]}}
- {ref: project/lost, workspace: v}
- {ref: user/u, tag: {environment: dev}}
- {ref: user/v}
relationships:
- {a: project/p, b: landingZone/gone}
- {a: user/v, b: user/v}
policies:
- {id: stage, a: {kind: project, tag: environment}, b: {kind: workspace, tag: stage}}
- {id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}
- {id: env, a: {kind: workspace, tag: environment}, b: {kind: project, tag: environment}}
- {id: users, a: {kind: project, tag: environment}, b: {kind: meshUser, tag: environment}}
- {id: level, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}, enforcement: deny}
waivers:
- {id: nothing, policy: envv, reason: typo}
- {id: silent, policy: level}
";

read!(every_mistake_at_once, "audit", BROKEN);
read!(
    users_alone,
    "audit",
    "kind: Compliance\npolicies: [{id: x, a: {kind: meshProject, tag: t}, b: {kind: meshUser, tag: t}}]"
);
read!(no_objects, "audit", "type: Mesh\nname: default");
read!(no_policies, "audit", "kind: Compliance\nobjects: [{ref: workspace/w}, {ref: project/p, workspace: w}]");
read!(
    no_pairs,
    "audit",
    "kind: Compliance\nobjects: [{ref: workspace/w}]\npolicies: [{id: x, a: {kind: project, tag: t}, b: {kind: workspace, tag: t}}]"
);
read!(
    near_misses,
    "audit",
    "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [Prod, 'dev ', qa]}}
- {ref: project/p, workspace: w, tags: {environment: [prod, dev]}}
policies: [{id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}]
"
);

/// Things that live in each other, and folders that do so in a circle.
const CIRCLE: &str = "
kind: PolicyKind
name: FolderPolicy
about: whether folders agree
family: comply
objects: [{name: folder, keys: any}, {name: file, keys: any}]
relationships:
- {a: folder, b: folder, holds: true}
- {a: folder, b: file, holds: true, gives: [{a: a, b: b}]}
match: [[folder, file]]
---
{ref: folder/a}
---
{ref: folder/b}
---
{ref: folder/c}
---
{a: folder/a, b: folder/b}
---
{a: folder/b, b: folder/c}
---
{a: folder/c, b: folder/a}
";

read!(cyclic_ownership, "audit", CIRCLE);

/// The newer edition: its pairs have a direction, values may have to lie within others.
const CURRENT: &str = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {data: [open, internal]}}
- {ref: project/p, workspace: w, tags: {data: [internal, secret]}}
- {ref: landingZone/lz, tags: {data: [secret]}}
- {ref: buildingBlockDefinition/bb, tags: {data: [open]}}
- {ref: projectRole/admin, tags: {clearance: [high]}}
- {ref: user/u, tags: {clearance: [low]}}
relationships:
- {a: project/p, b: landingZone/lz}
- {a: project/p, b: buildingBlockDefinition/bb}
- {a: project/p, b: user/u, role: projectRole/admin}
policies:
- {id: project-data, a: {kind: workspace, tag: data}, b: {kind: project, tag: data}, strategy: subset}
- {id: zone-data, a: {kind: workspace, tag: data}, b: {kind: landingZone, tag: data}}
- {id: block-data, a: {kind: workspace, tag: data}, b: {kind: buildingBlockDefinition, tag: data}, strategy: subset}
- {id: clearance, a: {kind: projectRole, tag: clearance}, b: {kind: principal, tag: clearance}}
";

read!(current_edition, "audit --semantics meshstack/current", CURRENT);
read!(current_edition_read_as_classic, "audit", CURRENT);
read!(current_edition_as_user, "can tag project/p data=secret --as user --semantics meshstack/current", CURRENT);
read!(
    current_edition_as_administrator,
    "can tag project/p data=secret --as admin --semantics meshstack/current",
    CURRENT
);

/// A question about labels of Kubernetes objects.
macro_rules! labelled {
    ($name:ident, $line:literal) => {
        snapshot!("compliance_", $name, in_root(&format!("{} -f examples/kubernetes-labels {NOW}", $line)), from $line);
    };
}

labelled!(labels_audit, "audit");
labelled!(labels_audit_scope, "audit --scope shop");
labelled!(labels_explain, "explain namespace/shop~deployment/search");
labelled!(labels_can, "can tag deployment/shop/web team=discovery");
labelled!(labels_fix, "fix deployment/shop/cache");
labelled!(labels_as_nobody_in_particular, "audit --as anybody");

/// Objects of the built-in kind beside those of one's own.
const BESIDE: &str = "
kind: Compliance
policyKind: MeshPolicy
objects: [{ref: workspace/w, tags: {environment: dev}}, {ref: project/p, workspace: w}]
policies: [{id: env, a: {kind: workspace, tag: environment}, b: {kind: project, tag: environment}}]
";

#[test]
fn several_organisations_are_told_apart() {
    let folder = folder(&[("organisation.yaml", BESIDE)]);
    let labels = root().join("examples/kubernetes-labels");
    let of = |more: &str| told(folder.path(), &format!("audit -f . -f {} {more}", labels.display()));
    let all = of("");
    assert!(all.starts_with("exit 2\n"), "{all}");
    assert!(all.contains("LabelPolicy") && all.contains("MeshPolicy") && all.contains("--policies"), "{all}");
    let one = of("--policies LabelPolicy");
    assert!(one.contains("same-team") && !one.contains("project/p"), "{one}");
    let other = of("--policies MeshPolicy");
    assert!(other.contains("project/p") && !other.contains("same-team"), "{other}");
    assert!(of("--policies LabelPolcy").contains("did you mean `--policies LabelPolicy`?"));
}
