//! Documents of the family comply: every form, and every mistake.

use upheld_dialects::comply::Organisations;
use upheld_engine::comply::Comply;
use upheld_governance::Organisation;
use upheld_governance::words::cause;
use upheld_loader::load::{Loaded, load};
use upheld_loader::{Format, Input};
use upheld_model::Timestamp;

/// After everything that is written here.
const NOW: Timestamp = Timestamp(1_800_000_000_000_000_000);

pub(crate) fn loaded(texts: &[(&str, &str)], semantics: &[&str]) -> Result<Loaded, Vec<String>> {
    let inputs = texts.iter().map(|(name, text)| {
        let format = Format::of_name(name).unwrap_or(Format::Yaml);
        Input::text(*name, format, *text)
    });
    load(inputs.collect(), semantics).map_err(|broken| {
        let position = |label: &upheld_model::Label| {
            let file = broken.files.get(label.source).unwrap();
            let (line, column) = file.tree.position(label.span.start);
            format!("{line}:{column}")
        };
        let told = |one: &upheld_model::Diagnostic| {
            let place = one.label.as_ref().map_or_else(|| "?".to_owned(), position);
            format!("{place} {} {} ({})", one.fault.code(), one.message, one.help.join("; "))
        };
        broken.diagnostics.as_slice().iter().map(told).collect()
    })
}

fn organisation(texts: &[(&str, &str)], semantics: &[&str]) -> Organisation {
    let loaded = loaded(texts, semantics).unwrap();
    let mut all = loaded.snapshot.companion::<Organisations>().expect("there are organisations").iter();
    let (_, documented) = all.next().expect("there is an organisation");
    assert!(all.next().is_none(), "there is one organisation");
    documented.organisation.clone()
}

pub(crate) fn state(texts: &[(&str, &str)], semantics: &[&str]) -> Comply {
    Comply::clone(organisation(texts, semantics).comply())
}

pub(crate) fn violations(comply: &Comply) -> Vec<String> {
    let told = comply.violations(NOW).into_iter();
    told.map(|one| format!("{}: {} ~ {}", one.policy, one.a.object, one.b.object)).collect()
}

fn name(comply: &Comply, reference: &str) -> String {
    comply.described(comply.lookup(reference).unwrap()).unwrap().name.as_ref().unwrap().to_string()
}

pub(crate) fn mistakes(text: &str) -> Vec<String> {
    loaded(&[("a.yaml", text)], &[]).err().unwrap_or_default()
}

const POLICY: &str = "
type: MeshPolicy
name: env
a: {kind: meshCustomer, tag: environment}
b: {kind: project, tag: environment}
";

#[test]
fn one_document_collects_everything() {
    let comply = state(
        &[(
            "all.yaml",
            "
kind: Compliance
settings: {preexisting: tolerate, requireWorkspaceMembership: true}
userDefaultTags: {environment: [dev]}
tagDefinitions:
- {kind: project, key: environment, type: multiSelect, options: [dev, prod], withdrawn: [test]}
- {kind: workspace, key: environment, type: multiSelect, options: [dev, prod]}
objects:
- {ref: customer/w, tags: {environment: [dev]}}
- {ref: PROJECT/p, name: The project, workspace: w, tags: {environment: [prod, test]}}
- {ref: user/u, members: null}
relationships:
- {a: user/u, b: project/p, role: projectRole/admin}
- {a: user/u, b: workspace/w}
policies:
- {id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}
waivers:
- {id: later, policy: env, match: {workspace: workspace/w}, reason: moving}
---
{ref: projectRole/admin}
",
        )],
        &[],
    );
    assert_eq!(violations(&comply), ["env: project/p ~ workspace/w"]);
    assert_eq!(comply.violations(NOW)[0].waiver.as_deref(), Some("later"));
    let user = comply.lookup("user/u").unwrap();
    assert_eq!(comply.tags_of(user), [("environment".into(), vec!["dev".into()])]);
    assert_eq!(name(&comply, "project/p"), "The project");
    assert_eq!(comply.link_count(), 3);
}

#[test]
fn documents_lines_and_tables_give_the_same() {
    let yaml = "
ref: workspace/w
tags: {environment: dev}
---
type: meshProject
name: p
workspace: workspace/w
tags: {environment: [prod, qa]}
---
{ref: landingZone/lz, tags: {}}
---
{a: project/p, b: landingZone/lz}
";
    let lines = "{\"ref\": \"workspace/w\", \"tags\": {\"environment\": [\"dev\"]}}
{\"ref\": \"project/p\", \"workspace\": \"w\", \"tags\": {\"environment\": [\"prod\", \"qa\"]}}
{\"ref\": \"landingZone/lz\"}
{\"a\": \"landingZone/lz\", \"b\": \"project/p\"}
";
    let list = "[{\"ref\": \"workspace/w\", \"tags\": {\"environment\": \"dev\"}},
{\"ref\": \"project/p\", \"tags\": {\"environment\": [\"prod\", \"qa\"]}}, {\"ref\": \"landingZone/lz\"}]";
    let links = "[{\"a\": \"workspace/w\", \"b\": \"project/p\"}, {\"a\": \"landingZone/lz\", \"b\": \"project/p\"}]";
    let objects =
        "ref,workspace,tags.environment[]\nworkspace/w,,dev\nproject/p,workspace/w,prod;qa\nlandingZone/lz,,\n";
    let relations = "a,b\nproject/p,landingZone/lz\n";
    let expected = state(&[("a.yaml", yaml), ("p.yaml", POLICY)], &[]);
    assert_eq!(violations(&expected), ["env: workspace/w ~ project/p"]);
    for texts in [
        vec![("a.jsonl", lines)],
        vec![("a.json", list), ("b.json", links)],
        vec![("a.csv", objects), ("b.csv", relations)],
    ] {
        let texts: Vec<_> = texts.into_iter().chain([("p.yaml", POLICY)]).collect();
        assert_eq!(state(&texts, &[]).digest(NOW), expected.digest(NOW), "{}", texts[0].0);
    }
}

/// Manifests of the object API.
const MANIFESTS: &str = "
{apiVersion: v1, kind: meshWorkspace, metadata: {name: team, createdOn: x}, spec: {displayName: Team, tags: {environment: [dev]}}}
---
apiVersion: v2
kind: meshProject
metadata: {name: app, ownedByWorkspace: team}
spec: {displayName: App, tags: {environment: [prod], cost: [1332]}, paymentMethodIdentifier: budget}
---
{apiVersion: v2, kind: meshPaymentMethod, metadata: {name: budget, ownedByWorkspace: team}, spec: {displayName: Budget, tags: {center: [1]}}}
---
{apiVersion: v1, kind: meshLandingZone, metadata: {name: lz, ownedByWorkspace: team, tags: {environment: [dev]}}, spec: {displayName: LZ}, status: {disabled: true}}
---
{apiVersion: v3, kind: meshTenant, metadata: {ownedByProject: app, ownedByWorkspace: team, platformIdentifier: aws}, spec: {landingZoneIdentifier: lz}}
---
{apiVersion: v3, kind: meshTenant, metadata: {ownedByProject: app, ownedByWorkspace: team}, spec: {localId: x}}
---
{apiVersion: v2, kind: meshUser, metadata: {name: ana}, spec: {email: ana@example.com, tags: {environment: [dev]}}}
---
{apiVersion: v2, kind: meshUser, metadata: {name: ben}, spec: {email: ben@example.com}}
---
{apiVersion: v1, kind: meshWorkspaceUserGroup, metadata: {name: ops, ownedByWorkspace: team}, spec: {displayName: Ops, members: [ana]}}
---
{apiVersion: v1, kind: meshWorkspaceUserBinding, roleRef: {name: Workspace Manager}, targetRef: {name: team}, subjects: [{name: ana}, {name: ben}]}
---
{apiVersion: v1, kind: meshWorkspaceGroupBinding, roleRef: {name: Workspace Manager}, targetRef: {name: team}, subject: {name: ops}}
---
{apiVersion: v3, kind: meshProjectUserBinding, metadata: {name: b}, roleRef: {name: Project Admin}, targetRef: {name: app, ownedByWorkspace: team}, subject: {name: ana}}
---
{apiVersion: v1, kind: meshTagDefinition, metadata: {name: meshProject.environment}, spec: {targetKind: meshProject, key: environment, displayName: Environment, valueType: {multiSelect: {options: [dev, prod], defaultValue: [dev]}}, mandatory: true}}
---
{apiVersion: v1, kind: meshTagDefinition, metadata: {name: meshProject.cost}, spec: {targetKind: meshProject, key: cost, valueType: {string: {validationRegex: '[0-9]+'}}}}
";

#[test]
fn manifests_of_the_object_api_are_read_in_both_editions() {
    let policies = "
kind: Compliance
policies:
- {id: env, a: {kind: workspace, tag: environment}, b: {kind: project, tag: environment}}
- {id: access, a: {kind: project, tag: environment}, b: {kind: principal, tag: environment}}
- {id: zone, a: {kind: project, tag: environment}, b: {kind: landingZone, tag: environment}}
";
    for edition in ["meshstack/classic", "meshstack/current"] {
        let organisation = organisation(&[("m.yaml", MANIFESTS), ("p.yaml", policies)], &[edition]);
        let comply = organisation.comply();
        assert_eq!(
            violations(comply),
            [
                "access: project/team/app ~ user/ana",
                "env: workspace/team ~ project/team/app",
                "zone: project/team/app ~ landingZone/lz",
            ]
        );
        // Owner, tenant, three with access to the workspace, one to the project.
        assert_eq!(comply.link_count(), 6);
        let app = comply.lookup("project/team/app").unwrap();
        assert_eq!(name(comply, "project/team/app"), "App");
        let tags = comply.effective_tags(app);
        assert!(tags.contains(&("center".into(), vec!["1".into()])), "{tags:?}");
        assert!(comply.lookup("projectRole/Project Admin").is_ok());
        assert_eq!(organisation.schema().definitions().len(), 2);
    }
}

#[test]
fn the_current_edition_has_its_own_pairs() {
    let text = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {data: [open]}}
- {ref: project/p, workspace: w}
- {ref: landingZone/lz, tags: {data: [secret]}}
- {ref: buildingBlockDefinition/bb, tags: {data: [open, secret]}}
relationships:
- {a: project/p, b: landingZone/lz}
- {a: project/p, b: buildingBlock/bb}
policies:
- {id: lz, a: {kind: workspace, tag: data}, b: {kind: landingZone, tag: data}}
- {id: bb, a: {kind: workspace, tag: data}, b: {kind: buildingBlockDefinition, tag: data}, strategy: subset}
";
    let comply = state(&[("a.yaml", text)], &["meshstack/current"]);
    assert_eq!(
        violations(&comply),
        ["bb: workspace/w ~ buildingBlockDefinition/bb", "lz: workspace/w ~ landingZone/lz"]
    );
    let found = mistakes(text);
    assert_eq!(found.len(), 4, "{found:#?}");
}

#[test]
fn policies_are_listed_with_all_others() {
    let loaded = loaded(&[("p.yaml", POLICY)], &[]).unwrap();
    let snapshot = &loaded.snapshot;
    let names: Vec<_> =
        snapshot.policies().iter().map(|(_, own)| (snapshot.text(own.kind), snapshot.text(own.name))).collect();
    assert_eq!(names, [("MeshPolicy", "env")]);
}

#[test]
fn the_digest_knows_every_part() {
    let base = "kind: Compliance\nobjects: [{ref: workspace/w}, {ref: user/u}]\n";
    let digest = |more: &str| {
        let text = format!("{base}{more}");
        loaded(&[("a.yaml", &text)], &[]).unwrap().snapshot.digest().to_owned()
    };
    let all = [
        "",
        "relationships: [{a: workspace/w, b: user/u}]",
        "settings: {preexisting: tolerate}",
        "userDefaultTags: {a: b}",
        "tagDefinitions: [{kind: project, key: a, type: string}]",
        "---\n{ref: user/v}",
        "---\nkind: Changes\nchanges: [{at: 2026-01-01T00:00:00Z, verb: advance, to: 2026-01-02T00:00:00Z}]",
    ];
    let mut digests: Vec<String> = all.into_iter().map(digest).collect();
    digests.sort();
    digests.dedup();
    assert_eq!(digests.len(), all.len());
}

#[test]
fn changes_are_history() {
    let text = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev]}}
- {ref: project/p, workspace: w, tags: {environment: [dev]}}
- {ref: landingZone/lz-1, tags: {environment: [dev]}}
relationships: [{a: project/p, b: landingZone/lz-1}]
policies: [{id: zone, a: {kind: project, tag: environment}, b: {kind: landingZone, tag: environment}}]
---
kind: Changes
changes:
- {at: 2026-03-01T00:00:00Z, by: {role: platformEngineer, name: ana}, verb: setTags, object: landingZone/lz-1, tags: {environment: prod}}
- {at: 2026-02-01T00:00:00Z, by: endUser, verb: createProject, object: {ref: project/q, workspace: w, tags: {environment: dev}}, landingZones: [landingZone/lz-1]}
";
    let organisation = organisation(&[("a.yaml", text)], &[]);
    let comply = organisation.comply();
    assert_eq!(violations(comply), ["zone: project/p ~ landingZone/lz-1", "zone: project/q ~ landingZone/lz-1"]);
    let seen = organisation.seen(&comply.violations(NOW)[0]).unwrap();
    assert_eq!(
        cause(comply.profile(), &seen),
        "landingZone/lz-1 moved environment dev → prod on 2026-03-01 by ana, an administrator"
    );
    assert_eq!(seen.first.to_string(), "2026-03-01T00:00:00Z");
}

#[test]
fn what_nobody_had_the_right_to_do_is_no_history() {
    let text = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev]}}
policies: [{id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}]
---
kind: Changes
changes:
- {at: 2026-02-02T00:00:00Z, by: endUser, verb: deletePolicy, policy: env}
";
    let refused = "9:4 UP025 this change would have been refused: delete policy env (the role workspaceManager may not change policies)";
    assert_eq!(mistakes(text), [refused]);
}

/// A policy that was written today does not make last year impossible.
#[test]
fn c4_what_a_policy_would_refuse_today_was_done_all_the_same() {
    let text = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev]}}
policies: [{id: env, a: {kind: project, tag: environment}, b: {kind: workspace, tag: environment}}]
---
kind: Changes
changes:
- {at: 2026-02-01T00:00:00Z, by: endUser, verb: create, object: {ref: project/q, workspace: w, tags: {environment: prod}}}
";
    let told = "UP025 this change would be refused today: create project/q ~ workspace/w with environment=prod \
                (policy `env`: project/q has environment prod, workspace/w has environment dev)";
    let warnings = loaded(&[("a.yaml", text)], &[]).unwrap().warnings;
    let [warning] = warnings.as_slice() else { panic!("{warnings:?}") };
    assert_eq!(format!("{} {} ({})", warning.fault.code(), warning.message, warning.help.join("; ")), told);
    let organisation = organisation(&[("a.yaml", text)], &[]);
    assert_eq!(violations(organisation.comply()), ["env: project/q ~ workspace/w"]);
    let seen = organisation.seen(&organisation.comply().violations(NOW)[0]).unwrap();
    assert_eq!(seen.first.to_string(), "2026-02-01T00:00:00Z");
}

#[test]
fn mistakes_are_told_with_their_place() {
    let base = "
kind: Compliance
tagDefinitions:
- {kind: project, key: environment, type: singleSelect, options: [dev, prod]}
- {kind: project, key: cost, type: integer}
objects:
- {ref: workspace/w}
- {ref: project/p, workspace: w}
- {ref: user/u}
- {ref: group/g}
- {ref: landingZone/lz}
";
    assert_eq!(mistakes(base), Vec::<String>::new());
    let spoilt = [
        ("- {ref: prject/q}", "12:9 UP021 there is no kind of object `prject` (did you mean `project`?)"),
        ("- {ref: project}", "12:9 UP021 `project` is not a valid reference (for example `project/shop-prod`)"),
        ("- {ref: user/u}", "12:4 UP015 `user/u` is defined twice (rename or remove one of them)"),
        ("- {ref: user/v, tag: {}}", "12:17 UP010 this object has no field `tag` (did you mean `tags`?)"),
        (
            "- {ref: project/q, tags: {enviroment: dev}}",
            "12:27 UP501 meshProject has no tag `enviroment` (did you mean `environment`?)",
        ),
        (
            "- {ref: project/q, tags: {environment: prd}}",
            "12:40 UP501 the tag `environment` of meshProject has no option `prd` (did you mean `prod`?)",
        ),
        (
            "- {ref: project/q, tags: {environment: [dev, prod]}}",
            "12:40 UP501 the tag `environment` of meshProject takes one value only (for several values define it as `multiSelect`)",
        ),
        (
            "- {ref: project/q, tags: {cost: much}}",
            "12:33 UP501 the tag `cost` of meshProject cannot be `much`, which is not of its type (it is of the type `integer`)",
        ),
        ("- {ref: project/q, tags: {cost: [{a: b}]}}", "12:34 UP012 a value of a tag must be text, not a map ()"),
        ("- {ref: project/q, workspace: v}", "12:31 UP020 there is no `workspace/v` (did you mean `workspace/w`?)"),
        (
            "relationships: [{a: project/p, b: landingZone/zl}]",
            "UP020 there is no `landingZone/zl` (did you mean `landingZone/lz`?)",
        ),
        (
            "relationships: [{a: user/u, b: landingZone/lz}]",
            "12:17 UP023 `user` and `landingZone` are not related in `meshstack/classic` (`user` can be related to: workspace, project)",
        ),
        ("relationships: [{a: project/p, b: project/p}]", "12:17 UP023 a project cannot be related to itself ()"),
        (
            "relationships: [{a: project/p, b: landingZone/lz, role: x}]",
            "12:57 UP023 a relationship of `project` and `landingZone` has no role (",
        ),
        ("relationships: [{a: project/p, b: user/u, roll: x}]", "12:43 UP010 this relationship has no field `roll`"),
        ("relationships: [{a: project/p}]", "12:18 UP011 this relationship has no `b`"),
        (
            "- {ref: workspace/v}\nrelationships: [{a: workspace/v, b: project/p}]",
            "13:18 UP024 `project/p` belongs to `workspace/w` and to `workspace/v` (remove one of them)",
        ),
        (
            "policies: [{id: x, a: {kind: user, tag: t}, b: {kind: project, tag: cost}}]",
            "12:30 UP023 no policy can be about `user` alone: only about meshUser/Group (all of them can be related",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: landingZone, tag: cost}}]",
            "12:53 UP023 no policy can be about meshCustomer and meshLandingZone (policies can be about",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: costs}}]",
            "12:74 UP501 meshProject has no tag `costs` (did you mean `cost`?)",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}, strategy: subset}]",
            "12:91 UP013 `meshstack/classic` has no strategy `subset` (`meshstack/classic` has: intersection)",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}, enforcement: warm}]",
            "UP013",
        ),
        (
            "policies: [{id: x, a: {kind: workspace}, b: {kind: project, tag: cost}}]",
            "12:23 UP011 a policy needs a `tag` on both sides, or `rules` ()",
        ),
        (
            "policies: [{id: x, a: {kind: workspace}, b: {kind: project}, rules: []}]",
            "12:69 UP013 a policy needs at least one rule ()",
        ),
        (
            "policies: [{a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}}]",
            "12:13 UP011 a policy needs an `id` (",
        ),
        (
            "policies:\n- &p {id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}}\n- *p",
            "UP015 the policy `x` is defined twice",
        ),
        ("waivers: [{id: x, policy: y, reason: z}]", "12:27 UP020 there is no policy `y` ("),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}}]\nwaivers: [{id: x, policy: x, reason: ' '}]",
            "UP011 a waiver without a reason is not in force",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}}]\nwaivers: [{id: x, policy: x, reason: z, match: {a: workspace/no}}]",
            "UP020 there is no `workspace/no`",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}}]\nwaivers: [{id: x, policy: x, reason: z}, {id: x, policy: x, reason: z}]",
            "UP015 the waiver `x` is defined twice",
        ),
        (
            "policies: [{id: x, a: {kind: workspace, tag: t}, b: {kind: project, tag: cost}}]\nwaivers: [{id: x, policy: x, reason: z, expiresAt: soon}]",
            "UP013 `expiresAt` is not a valid timestamp: `soon`",
        ),
        (
            "---\n{kind: TagDefinition, of: project, key: COST, type: string}",
            "UP013 the tag definition `COST` differs from `cost` by case only",
        ),
        (
            "---\n{kind: TagDefinition, of: project, key: cost, type: string}",
            "UP015 the tag definition `cost` already exists",
        ),
        ("---\n{kind: TagDefinition, of: project, key: a b, type: string}", "UP013 the tag definition `a b` has a key"),
        ("---\n{kind: TagDefinition, of: project, key: x, type: text}", "UP013 there is no type of tags `text`"),
        (
            "---\n{kind: TagDefinition, of: project, key: x, type: multiSelect}",
            "UP013 the tag definition `x` has nothing to choose from",
        ),
        (
            "---\n{kind: TagDefinition, of: project, key: x, type: integer, default: many}",
            "UP013 the tag definition `x` has a default",
        ),
        (
            "---\n{kind: TagDefinition, of: project, key: x, type: string, regex: '['}",
            "UP013 `[` is not a valid pattern",
        ),
        (
            "---\n{kind: TagDefinition, of: projct, key: x, type: string}",
            "UP021 there is no subject `projct` (did you mean `project`?)",
        ),
        (
            "---\n{kind: TagDefinition, key: x, type: string}",
            "UP011 this definition does not say which objects have the tag",
        ),
        (
            "---\n{kind: Changes, changes: [{verb: settags}]}",
            "UP013 there is no verb `settags` (did you mean `setTags`?)",
        ),
        (
            "---\n{kind: Changes, changes: [{verb: deleteObject, object: user/u}]}",
            "UP011 a change that was made needs a time",
        ),
        ("---\n{kind: Changes, changes: [{verb: setTags, objct: user/u, tags: {}}]}", "UP010"),
        (
            "---\n{kind: Changes, changes: [{at: 2026-01-01T00:00:00Z, verb: deleteObject, object: user/u, by: adminn}]}",
            "UP013 there is no role `adminn`",
        ),
        ("---\n{kind: Compliance, settings: {preexisting: tolerated}}", "UP013"),
        ("---\n{kind: Compliance, wavers: []}", "UP010"),
        ("---\n{kind: meshProject, metadata: {}}", "UP011 this meshProject has no `metadata.name`"),
        ("---\n{kind: MeshPolicy, name: x, a: {kind: workspace, tag: t}}", "UP011 this policy has no `b`"),
        (
            "---\n{type: MeshPolcy, name: x, a: {kind: workspace, tag: t}}",
            "UP014 there is no type `MeshPolcy` (did you mean `MeshPolicy`?)",
        ),
    ];
    let mut wrong = Vec::new();
    for (more, message) in spoilt {
        let found = mistakes(&format!("{base}{more}\n"));
        if found.len() != 1 || !found[0].contains(message) {
            wrong.push((more, message, found));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}

#[test]
fn documents_of_others_are_left_alone() {
    for text in [
        "{ref: refs/heads/main, before: x, after: y}",
        "{kind: Project, apiVersion: example.com/v1, metadata: {name: x}}",
        "{a: x, b: y}",
        "{kind: Waiver, apiVersion: example.com/v1, spec: {}}",
    ] {
        let loaded = loaded(&[("a.yaml", text)], &[]).unwrap();
        assert_eq!(loaded.snapshot.complies().count(), 0, "{text}");
        assert_eq!(loaded.set_aside.by_type.values().sum::<usize>(), 1, "{text}");
    }
}

#[test]
fn values_are_read_as_the_format_says() {
    let text = "
ref: project/p
tags: {a: null, b: [], c: [null], d: true, e: 5.0, f: [x, x, y], g: '', h: 0x10, i: '007'}
";
    let comply = state(&[("a.yaml", text)], &[]);
    let tags = comply.tags_of(comply.lookup("project/p").unwrap());
    let shown: Vec<String> = tags.iter().map(|(key, values)| format!("{key}={}", values.join(","))).collect();
    assert_eq!(shown, ["d=true", "e=5", "f=x,y", "g=", "h=16", "i=007"]);
}

const LABELS: &str = "
kind: PolicyKind
name: LabelPolicy
about: whether labels agree with those of the namespace
family: comply
objects:
- name: namespace
  keys: any
  documents: [{kind: Namespace, id: metadata.name, tags: metadata.labels}]
- name: deployment
  keys: any
  documents:
  - {kind: Deployment, id: metadata.name, within: metadata.namespace, tags: metadata.labels, links: [{to: namespace, field: metadata.namespace}]}
scope: namespace
relationships: [{a: namespace, b: deployment, holds: true, gives: [{a: a, b: b}]}]
match: [[namespace, deployment]]
enforcement: [{on: link, effect: block}]
---
kind: LabelPolicy
id: team
a: {kind: namespace, tag: team}
b: {kind: deployment, tag: team}
";

#[test]
fn a_kind_of_ones_own_over_labels() {
    let text = "
apiVersion: v1
kind: Namespace
metadata: {name: shop, labels: {team: shop}}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: web, namespace: shop, labels: {team: shop, app.kubernetes.io/name: web}}
spec: {replicas: 3}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: db, namespace: shop, labels: {team: data}}
---
apiVersion: v1
kind: List
items:
- {apiVersion: apps/v1, kind: Deployment, metadata: {name: lone, namespace: shop}}
";
    let comply = state(&[("kind.yaml", LABELS), ("a.yaml", text)], &[]);
    assert_eq!(
        violations(&comply),
        ["team: namespace/shop ~ deployment/shop/db", "team: namespace/shop ~ deployment/shop/lone"]
    );
    assert_eq!(comply.link_count(), 3);
}

const FOLDERS: &str = "
kind: PolicyKind
name: FolderPolicy
family: comply
objects: [{name: folder}, {name: owner}]
scope: folder
relationships:
- {a: folder, b: folder, holds: true}
- {a: folder, b: owner, gives: [{a: a, b: b}]}
match: [[folder, owner]]
---
[{ref: folder/a}, {ref: folder/b}, {ref: folder/c}, {a: folder/a, b: folder/b}, {a: folder/b, b: folder/c}]
";

#[test]
fn nothing_lives_in_itself() {
    assert_eq!(mistakes(FOLDERS), Vec::<String>::new());
    let round = format!("{FOLDERS}---\n{{a: folder/c, b: folder/a}}\n");
    let found = mistakes(&round);
    assert!(found.len() == 1 && found[0].contains("UP024 objects belong to each other: folder/"), "{found:#?}");
}
