//! Invariants in `upheld test`: everything that can become of them, in all formats, for all families.

use crate::support::{root, run, shown, snapshot, with_files};

const POLICIES: &str = "policies:
- {id: operators, effect: permit, subjects: [{group: ops}], resources: [{path: /**}], actions: []}
- {id: health, effect: permit, subjects: [], resources: [{path: /*/health}], actions: [{method: GET}]}
";

const INVARIANTS: &str = "kind: PolicyTests
invariants:
- name: nobody but operators gets into the admin area
  never: permit
  where: {subjects: [{not: {group: ops}}], resources: [{path: /admin/**}]}
- name: operators get everywhere
  always: permit
  where: {subjects: [{group: ops}], resources: [{path: /**}]}
  tags: [ops]
- name: nothing is left open
  never: undecided
  skip: for later
";

fn access(line: &str) -> String {
    with_files(&[("policies.yaml", POLICIES), ("policies.test.yaml", INVARIANTS)], line)
}

macro_rules! access {
    ($name:ident, $line:literal) => {
        snapshot!("invariants_", $name, access($line), from $line);
    };
}

access!(fail, "test -f .");
access!(verbose, "test -f . --verbose --no-coverage");
access!(junit, "test -f . -o junit");
access!(tap, "test -f . -o tap");
access!(json, "test -f . -o json --only 'nobody*'");
access!(name, "test -f . -o name");
access!(tagged, "test -f . --tag ops");
access!(undecided, "test -f . --semantics access/compat --tag ops");
access!(undecided_junit, "test -f . --semantics access/compat --tag ops -o junit");
access!(notice_changes, "test -f . --mutate --only 'operators*'");

/// The demo with invariants of its own.
const DEMO: &str = "kind: PolicyTests
invariants:
- name: web gets to backend
  always: connect
  from: {kuma.io/service: web}
  to: {kuma.io/service: backend}
- name: everybody gets to backend
  always: connect
  to: {kuma.io/service: backend}
- name: logs go to splunk
  every: proxy
  kind: TrafficLog
  holds: backend = splunk
- name: routes answer in half a minute
  every: route
  kind: TrafficPolicy
  holds: timeouts.request <= 30s
- name: every project has an environment
  every: project
  holds: environment exists
- name: every project has a cost centre
  every: project
  holds: cost-center exists
- name: nobody may write
  never: permit
  where: {actions: [{method: [POST, PUT, DELETE]}]}
";

fn demo() -> String {
    let folder = tempfile::tempdir().expect("a temporary folder");
    std::fs::write(folder.path().join("demo.test.yaml"), DEMO).expect("writable");
    let line = format!("test -f {} -f demo.test.yaml --no-coverage --verbose", root().join("examples/demo").display());
    shown(&run(folder.path(), &line))
}

snapshot!("invariants_", all_families, demo());
