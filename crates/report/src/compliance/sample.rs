//! An audit made by hand, with names that try to break every format.

use super::super::At;
#[cfg(test)]
use super::fingerprint;
use super::{
    Actor, AppliedWaiver, Audit, Cause, Check, CheckState, Counts, Edit, Filter, Fix, Level, Link, NearMiss,
    PolicyLine, Severity, Side, Subject, Unjudged, Unseen, WaiverLine, WaiverState, Why,
};
use crate::sentences::Gap;

/// A name that means something in every format.
pub const HOSTILE: &str =
    "a\"b'<script>alert(1)</script>&amp;|`*_[x](http://evil.example) @all #1\n\u{1b}[31m\u{7}\u{202e}😀 {0}";

/// An audit with every state, three workspaces and hostile names.
pub fn audit() -> Audit {
    let checks = vec![
        hard(),
        caused("b", &["dev"]),
        caused("a", &["dev"]),
        caused("c", &["qa"]),
        caused("d", &[]),
        waived(),
        hostile(),
        second_rule(),
    ];
    Audit {
        semantics: "compliance/classic".to_owned(),
        now: "2026-03-01T12:00:00Z".to_owned(),
        snapshot: Some("sha256:0123".to_owned()),
        filters: vec![Filter { by: "workspace".to_owned(), value: "workspace/*".to_owned() }],
        pairs: 9,
        policies: policies(),
        checks,
        waivers: vec![waiver("w-used", WaiverState::Used, 1), waiver("w-old", WaiverState::Expired, 0)],
        errors: vec![Unjudged {
            policy: "broken]]>".to_owned(),
            message: "tag `x` is not defined for <project>".to_owned(),
            at: Some(at("policies/my file.yaml", 3, 5)),
        }],
        gaps: vec![Unseen {
            gap: Gap::NotRead { message: format!("the table is not read: {HOSTILE}") }.into(),
            at: Some(at("objects|<x>.csv", 1, 1)),
        }],
        ..Audit::default()
    }
    .finished()
}

fn policies() -> Vec<PolicyLine> {
    let line = |id: &str, level, strategy: &str, pairs, counts| PolicyLine {
        id: id.to_owned(),
        level,
        strategy: strategy.to_owned(),
        a: subject("project", &["environment"]),
        b: subject("landingZone", &["environment"]),
        pairs,
        counts,
        description: None,
        how_to_fix: None,
        severity: None,
        at: None,
    };
    let counts = |hard, soft, waived| Counts { hard, soft, waived, ..Counts::default() };
    vec![
        line("silent", Level::Off, "intersection", 0, Counts::default()),
        PolicyLine {
            a: subject("workspace", &["environment"]),
            b: subject("project", &["environment"]),
            description: Some("Projects live where their workspace does <everywhere>".to_owned()),
            how_to_fix: Some("choose an environment of the workspace".to_owned()),
            severity: Severity::of("high"),
            at: Some(at("policies/env.yaml", 4, 1)),
            ..line("env-project-workspace", Level::Enforce, "subset", 1, counts(1, 0, 0))
        },
        line(
            "env-project-landingzone",
            Level::Enforce,
            "intersection",
            6,
            Counts { passed: 1, vacuous: 1, ..counts(0, 4, 1) },
        ),
        line(HOSTILE, Level::Warn, "intersection", 1, counts(0, 1, 0)),
        PolicyLine {
            a: subject("project", &["environment", "region"]),
            b: subject("principal", &["environment", "area"]),
            ..line("two-rules", Level::Audit, "intersection", 1, counts(0, 1, 0))
        },
    ]
}

fn subject(kind: &str, tags: &[&str]) -> Subject {
    Subject { kind: kind.to_owned(), tags: tags.iter().map(|tag| (*tag).to_owned()).collect() }
}

fn at(file: &str, line: usize, column: usize) -> At {
    At { file: file.to_owned(), line, column }
}

fn side(reference: &str, title: &str, values: &[&str]) -> Side {
    let (kind, name) = reference.split_once('/').unwrap_or_default();
    Side {
        reference: reference.to_owned(),
        kind: kind.to_owned(),
        title: title.to_owned(),
        name: name.to_owned(),
        tag: "environment".to_owned(),
        values: values.iter().map(|value| (*value).to_owned()).collect(),
        at: None,
    }
}

fn check(workspace: &str, policy: &str, state: CheckState, a: Side, b: Side) -> Check {
    Check {
        id: String::new(),
        workspace: Some(workspace.to_owned()),
        policy: policy.to_owned(),
        rule: 0,
        a,
        b,
        strategy: "intersection".to_owned(),
        level: Level::Enforce,
        severity: None,
        state,
        vacuous: false,
        reason: Why { code: "comply.disjoint".into(), text: "nothing in common".to_owned() },
        message: String::new(),
        first_seen: None,
        cause: None,
        waiver: None,
        near_miss: Vec::new(),
        how_to_fix: None,
        fixes: Vec::new(),
        baseline_state: None,
        no_fix: None,
    }
}

fn hard() -> Check {
    let workspace = side("workspace/managed-customer", "customer", &["dev", "test", "qa"]);
    let mut project = side("project/my-example-project-prod", "project", &["prod"]);
    project.at = Some(at("projects/a b.yaml", 7, 3));
    let edit = Edit::Tag {
        object: project.reference.clone(),
        tag: "environment".to_owned(),
        add: vec!["dev".to_owned()],
        remove: vec!["prod".to_owned()],
    };
    let unlink = Edit::Unlink { unlink: Link { a: workspace.reference.clone(), b: project.reference.clone() } };
    Check {
        severity: Severity::of("high"),
        strategy: "subset".to_owned(),
        reason: Why { code: "comply.not-subset".into(), text: "prod is outside the allowed set".to_owned() },
        first_seen: Some("2026-02-01T08:30:00.5Z".to_owned()),
        how_to_fix: Some("choose an environment of the workspace".to_owned()),
        near_miss: vec![NearMiss { a_value: "Prod".to_owned(), b_value: "prod".to_owned(), kind: "case".to_owned() }],
        fixes: vec![
            Fix {
                text: "choose dev, test or qa on the project".to_owned(),
                edits: vec![edit],
                by: Actor::Viewer,
                harms: Vec::new(),
            },
            Fix {
                text: "take the project out".to_owned(),
                edits: vec![unlink],
                by: Actor::Administrator,
                harms: Vec::new(),
            },
        ],
        ..check("workspace/managed-customer", "env-project-workspace", CheckState::Hard, workspace, project)
    }
}

fn caused(project: &str, values: &[&str]) -> Check {
    let zone = side("landingZone/lz-1", "landing zone", &["prod"]);
    let project = side(&format!("project/{project}"), "project", values);
    let only_one = values.is_empty();
    let reason = if only_one {
        ("comply.one-empty", "only one side carries the tag")
    } else {
        ("comply.disjoint", "nothing in common")
    };
    Check {
        reason: Why { code: reason.0.into(), text: reason.1.to_owned() },
        cause: Some(Cause {
            action: "setTags".to_owned(),
            actor: "administrator".to_owned(),
            object: "landingZone/lz-1".to_owned(),
            at: "2026-02-03T00:00:00Z".to_owned(),
            text: "landingZone/lz-1 moved dev → prod on 2026-02-03 by an administrator".to_owned(),
        }),
        ..check("workspace/shop", "env-project-landingzone", CheckState::Soft, project, zone)
    }
}

fn waived() -> Check {
    let project = side("project/legacy", "project", &["qa"]);
    let zone = side("landingZone/lz-1", "landing zone", &["prod"]);
    Check {
        waiver: Some(AppliedWaiver {
            id: "w-used".to_owned(),
            reason: "is shut down in summer".to_owned(),
            expires: Some("2026-07-01T00:00:00Z".to_owned()),
            category: Some("mitigated".to_owned()),
            ticket: Some("OPS-7".to_owned()),
            approved_by: Some("ana".to_owned()),
        }),
        ..check("workspace/shop", "env-project-landingzone", CheckState::Waived, project, zone)
    }
}

fn hostile() -> Check {
    let mut project = side(&format!("project/{HOSTILE}"), "project", &["=1+1", "prod ", ""]);
    project.name = format!("=cmd {HOSTILE}");
    let zone = side(&format!("landingZone/x{HOSTILE}"), "landing zone", &["]]>", "a,b"]);
    Check {
        level: Level::Warn,
        how_to_fix: Some(format!("@ask {HOSTILE}")),
        ..check(&format!("workspace/{HOSTILE}"), HOSTILE, CheckState::Soft, project, zone)
    }
}

fn second_rule() -> Check {
    let mut user = side("user/ana", "user", &["north"]);
    "area".clone_into(&mut user.tag);
    let mut project = side("project/a", "project", &["south"]);
    "region".clone_into(&mut project.tag);
    Check { rule: 1, level: Level::Audit, workspace: None, ..check("", "two-rules", CheckState::Soft, project, user) }
}

/// What passes in it.
pub fn passed() -> Vec<Check> {
    let zone = side("landingZone/lz-2", "landing zone", &[]);
    let both = Check {
        vacuous: true,
        reason: Why {
            code: "comply.both-empty".into(),
            text: "neither side carries the tag, passes by rule".to_owned(),
        },
        ..check("workspace/shop", "env-project-landingzone", CheckState::Pass, side("project/e", "project", &[]), zone)
    };
    vec![both.completed()]
}

fn waiver(id: &str, state: WaiverState, covers: usize) -> WaiverLine {
    WaiverLine {
        id: id.to_owned(),
        policy: "env-project-landingzone".to_owned(),
        state,
        covers,
        reason: "is shut down in summer".to_owned(),
        expires: Some("2026-07-01T00:00:00Z".to_owned()),
        at: None,
    }
}

#[test]
fn sentences_count_pairs_and_only_what_is_there() {
    let counts = Counts { passed: 121, hard: 3, soft: 4, ..Counts::default() };
    let line = |counts, level| PolicyLine { level, counts, ..policies().remove(0) };
    let answer = |pairs, policies| Audit { pairs, policies, ..Audit::default() }.finished().answer;
    let policies = vec![line(counts, Level::Enforce), line(Counts::default(), Level::Off)];
    assert_eq!(answer(128, policies.clone()), "128 pairs checked against 1 policy: 121 pass, 3 hard, 4 soft.");
    assert_eq!(answer(100, policies), "100 pairs checked against 1 policy in 128 checks: 121 pass, 3 hard, 4 soft.");
    let one = Counts { passed: 1, ..Counts::default() };
    assert_eq!(answer(1, vec![line(one, Level::Warn)]), "1 pair checked against 1 policy: 1 passes.");
    assert_eq!(answer(0, Vec::new()), "There are no policies, so nothing is checked.");
}

#[test]
fn fingerprints_depend_on_each_part_and_on_nothing_else() {
    let base = fingerprint("p", 0, "a/b", "c/d", Some("w"));
    assert_eq!(base.len(), 21);
    let others = [
        fingerprint("q", 0, "a/b", "c/d", Some("w")),
        fingerprint("p", 1, "a/b", "c/d", Some("w")),
        fingerprint("p", 0, "a/", "bc/d", Some("w")),
        fingerprint("p", 0, "a/b", "c/d", None),
        fingerprint("p", 0, "a/b", "c/d", Some("")),
    ];
    assert!(others.iter().all(|other| *other != base));
    let with = |values: &[&str]| Audit { checks: vec![caused("a", values)], ..Audit::default() }.finished();
    assert_eq!(with(&["dev"]).checks[0].id, with(&["qa", "test"]).checks[0].id);
}

#[test]
fn messages_tell_both_sides_and_the_rule() {
    let audit = audit();
    let told = |state| audit.ended(state).map(|check| check.message.as_str()).next().unwrap_or_default();
    assert_eq!(
        told(CheckState::Hard),
        "customer \"managed-customer\": environment = dev, test, qa; project \"my-example-project-prod\": environment = prod: \
         prod is outside the allowed set. Every value of the project must be one of the customer's, and there must be one."
    );
    assert!(audit.checks.iter().all(|check| !check.message.contains('\n')));
}
