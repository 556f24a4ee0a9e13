//! Waivers and levels.

use super::told;
use crate::support::{folder, snapshot};

/// Waivers of every sort; at the usual moment two of them cover something.
pub(super) const WAIVERS: &str = "
kind: Compliance
objects:
- {ref: workspace/w, tags: {environment: [dev, qa]}}
- {ref: project/one, workspace: w, tags: {environment: prod}}
- {ref: project/two, workspace: w, tags: {environment: prod}}
- {ref: project/three, workspace: w, tags: {environment: prod}}
- {ref: project/four, workspace: w, tags: {environment: dev}}
---
type: MeshPolicy
name: env
a: {kind: project, tag: environment}
b: {kind: workspace, tag: environment}
---
kind: Waiver
id: used
policy: env
match: {a: project/one}
reason: moves to another workspace in autumn
category: mitigated
ticket: OPS-12
approvedBy: ana
---
kind: Waiver
id: expiring
policy: env
match: {a: project/two}
reason: ends soon
expiresAt: 2026-03-10T00:00:00Z
---
kind: Waiver
id: expired
policy: env
match: {a: project/three}
reason: ended
expiresAt: 2026-02-01T00:00:00Z
---
kind: Waiver
id: pending
policy: env
match: {a: project/three}
reason: begins later
notBefore: 2026-04-01T00:00:00Z
---
kind: Waiver
id: unused
policy: env
match: {a: project/four}
reason: complies by now
";

/// Policies of every level, and one that begins later.
pub(super) const LEVELS: &str = "
kind: Compliance
objects:
- {ref: workspace/levels, tags: {cost: one}}
- {ref: project/levels, workspace: levels, tags: {cost: two}}
---
type: MeshPolicy
name: enforced
a: {kind: project, tag: cost}
b: {kind: workspace, tag: cost}
enforcement: enforce
---
type: MeshPolicy
name: warned
a: {kind: project, tag: cost}
b: {kind: workspace, tag: cost}
enforcement: warn
---
type: MeshPolicy
name: recorded
a: {kind: project, tag: cost}
b: {kind: workspace, tag: cost}
enforcement: audit
---
type: MeshPolicy
name: switched-off
a: {kind: project, tag: cost}
b: {kind: workspace, tag: cost}
enforcement: 'off'
---
type: MeshPolicy
name: later
a: {kind: project, tag: cost}
b: {kind: workspace, tag: cost}
enforceFrom: 2026-06-01T00:00:00Z
";

read!(waivers_all, "waivers", WAIVERS);
read!(waivers_unused, "waivers --unused", WAIVERS);
read!(waivers_expired, "waivers --expired", WAIVERS);
read!(waivers_expiring, "waivers --expiring 14", WAIVERS);
read!(waivers_expiring_in_no_time, "waivers --expiring 1", WAIVERS);
read!(waivers_json, "waivers -o json", WAIVERS);
read!(waivers_name, "waivers --unused --expired -o name", WAIVERS);
read!(audit_waived, "audit", WAIVERS);
read!(explain_waived, "explain project/one~workspace/w", WAIVERS);
read!(can_waived, "can tag project/one environment=prod", WAIVERS);
read!(fix_waived, "fix", WAIVERS);
read!(audit_levels, "audit", LEVELS);
read!(audit_levels_wide, "audit -o wide", LEVELS);
read!(can_levels, "can create project/p cost=two --in levels", LEVELS);
read!(explain_levels, "explain project/levels~workspace/levels --verbose", LEVELS);

#[test]
fn the_level_decides_about_the_exit_code() {
    let of = |level: &str| {
        let text = format!(
            "
kind: Compliance
objects: [{{ref: workspace/w, tags: {{cost: one}}}}, {{ref: project/p, workspace: w, tags: {{cost: two}}}}]
policies: [{{id: cost, a: {{kind: project, tag: cost}}, b: {{kind: workspace, tag: cost}}, enforcement: '{level}'}}]
"
        );
        let folder = folder(&[("organisation.yaml", &text)]);
        ["enforce", "warn", "audit"].map(|least| {
            let told = told(folder.path(), &format!("audit --fail-on {least}"));
            told.lines().next().unwrap_or_default().to_owned()
        })
    };
    assert_eq!(of("enforce"), ["exit 1", "exit 1", "exit 1"]);
    assert_eq!(of("warn"), ["exit 0", "exit 1", "exit 1"]);
    assert_eq!(of("audit"), ["exit 0", "exit 0", "exit 1"]);
    assert_eq!(of("off"), ["exit 0", "exit 0", "exit 0"]);
}

#[test]
fn waivers_end_by_the_clock() {
    let folder = folder(&[("organisation.yaml", WAIVERS)]);
    let violations = |now: &str| {
        let output = crate::support::run(folder.path(), &format!("audit --now {now}"));
        String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned()
    };
    assert_eq!(violations("2026-01-15T00:00:00Z"), "4 pairs checked against 1 policy: 1 passes, 3 waived.");
    assert_eq!(violations("2026-01-31T23:59:59Z"), "4 pairs checked against 1 policy: 1 passes, 3 waived.");
    assert_eq!(violations("2026-02-01T00:00:00Z"), "4 pairs checked against 1 policy: 1 passes, 1 hard, 2 waived.");
    assert_eq!(violations("2026-03-10T00:00:00Z"), "4 pairs checked against 1 policy: 1 passes, 2 hard, 1 waived.");
    assert_eq!(violations("2026-04-01T00:00:00Z"), "4 pairs checked against 1 policy: 1 passes, 1 hard, 2 waived.");
}
