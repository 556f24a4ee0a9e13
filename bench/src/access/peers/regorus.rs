//! Rego in regorus, on its virtual machine: over a list of policies as people write it, and over data that is keyed by
//! the literal start of the pattern, the subject and the method, so that few patterns are left to try.

use std::collections::BTreeMap;

use ::regorus::languages::rego::compiler::Compiler;
use ::regorus::rvm::vm::RegoVM;
use ::regorus::{Engine, Rc, Value, cache};

use super::Decider;
use crate::access::workload::{Effect, Policy, Request, Workload, segments};

const NATURAL: &str = r#"
package access

default allow := false

allow if {
    not denied
    permitted
}

denied if {
    some policy in data.denying
    policy.methods[input.method]
    some subject in policy.subjects
    input.subjects[subject]
    glob.match(policy.pattern, ["/"], input.path)
}

permitted if {
    some policy in data.permitting
    policy.methods[input.method]
    some subject in policy.subjects
    input.subjects[subject]
    glob.match(policy.pattern, ["/"], input.path)
}
"#;

const INDEXED: &str = r#"
package access

default allow := false

allow if {
    not denied
    permitted
}

denied if {
    some start in input.starts
    node := data.denying[start]
    some subject in input.subjects
    rules := node[subject]
    some method in input.methods
    some pattern in rules[method]
    glob.match(pattern, ["/"], input.path)
}

permitted if {
    some start in input.starts
    node := data.permitting[start]
    some subject in input.subjects
    rules := node[subject]
    some method in input.methods
    some pattern in rules[method]
    glob.match(pattern, ["/"], input.path)
}
"#;

const ENTRY: &str = "data.access.allow";

/// What holds for any method.
const ANY: &str = "*";

struct Regorus {
    name: &'static str,
    machine: RegoVM,
    input: fn(&Request) -> Value,
}

pub(super) fn load_natural(workload: &Workload) -> Result<Box<dyn Decider>, String> {
    let data = by_effect(workload, |policies| Value::from(policies.map(natural_policy).collect::<Vec<_>>()));
    load(super::REGORUS.name, NATURAL, data, natural_input)
}

pub(super) fn load_indexed(workload: &Workload) -> Result<Box<dyn Decider>, String> {
    let data = by_effect(workload, index);
    load(super::REGORUS_INDEXED.name, INDEXED, data, indexed_input)
}

fn load(
    name: &'static str,
    rules: &str,
    data: Value,
    input: fn(&Request) -> Value,
) -> Result<Box<dyn Decider>, String> {
    cache::configure(cache::Config { glob: cache::Config::MAX_CAPACITY, ..cache::Config::default() });
    let mut engine = Engine::new();
    engine.add_policy("access.rego".to_owned(), rules.to_owned()).map_err(|error| error.to_string())?;
    let compiled = engine.compile_with_entrypoint(&Rc::from(ENTRY)).map_err(|error| error.to_string())?;
    let program = Compiler::compile_from_policy(&compiled, &[ENTRY]).map_err(|error| error.to_string())?;
    let mut machine = RegoVM::new();
    machine.set_max_instructions(usize::MAX);
    machine.load_program(program);
    machine.set_data(data).map_err(|error| error.to_string())?;
    Ok(Box::new(Regorus { name, machine, input }))
}

impl Decider for Regorus {
    fn name(&self) -> &str {
        self.name
    }

    fn decide(&mut self, request: &Request) -> bool {
        self.machine.set_input((self.input)(request));
        self.machine.execute().is_ok_and(|answer| answer == Value::from(true))
    }
}

fn by_effect(workload: &Workload, data: impl Fn(&mut dyn Iterator<Item = &Policy>) -> Value) -> Value {
    let of = |effect| data(&mut workload.policies.iter().filter(move |policy| policy.effect == effect));
    object([("denying", of(Effect::Deny)), ("permitting", of(Effect::Permit))])
}

fn natural_policy(policy: &Policy) -> Value {
    let subjects = policy.subject_keys().into_iter().map(Value::from).collect::<Vec<_>>();
    object([
        ("pattern", Value::from(glob(policy))),
        ("methods", flags(policy.all_methods())),
        ("subjects", Value::from(subjects)),
    ])
}

fn natural_input(request: &Request) -> Value {
    object([
        ("path", Value::from(request.path.as_str())),
        ("method", Value::from(request.method.as_str())),
        ("subjects", flags(request.user.keys())),
    ])
}

/// Patterns by the literal start, the subject and the method.
type Index = BTreeMap<String, BTreeMap<String, BTreeMap<String, Vec<Value>>>>;

fn index(policies: &mut dyn Iterator<Item = &Policy>) -> Value {
    let mut index = Index::new();
    for policy in policies {
        let literals = policy.segments().take_while(|segment| !segment.starts_with('*'));
        let start: String = literals.map(|segment| format!("/{segment}")).collect();
        let node = index.entry(start).or_default();
        let any = vec![ANY.to_owned()];
        let methods = if policy.methods.is_empty() { &any } else { &policy.methods };
        for subject in policy.subject_keys() {
            let rules = node.entry(subject).or_default();
            for method in methods {
                rules.entry(method.clone()).or_default().push(Value::from(glob(policy)));
            }
        }
    }
    keyed(index, |node| keyed(node, |rules| keyed(rules, Value::from)))
}

fn indexed_input(request: &Request) -> Value {
    let mut start = String::new();
    let mut starts = vec![Value::from("")];
    for segment in segments(&request.path) {
        start.push('/');
        start.push_str(segment);
        starts.push(Value::from(start.as_str()));
    }
    object([
        ("path", Value::from(request.path.as_str())),
        ("starts", Value::from(starts)),
        ("methods", Value::from(vec![Value::from(request.method.as_str()), Value::from(ANY)])),
        ("subjects", Value::from(request.user.keys().map(Value::from).collect::<Vec<_>>())),
    ])
}

/// The pattern as its globs have it: an inner `**` fits nothing too, so one segment is asked for beside it.
fn glob(policy: &Policy) -> String {
    policy.pattern.replace("/**/", "/*/**/")
}

fn object<const N: usize>(fields: [(&str, Value); N]) -> Value {
    Value::from(fields.into_iter().map(|(name, value)| (Value::from(name), value)).collect::<BTreeMap<_, _>>())
}

/// An object that holds true for each of these.
fn flags<T: Into<Value>>(keys: impl IntoIterator<Item = T>) -> Value {
    Value::from(keys.into_iter().map(|key| (key.into(), Value::from(true))).collect::<BTreeMap<_, _>>())
}

fn keyed<T>(map: BTreeMap<String, T>, value: impl Fn(T) -> Value) -> Value {
    Value::from(map.into_iter().map(|(key, entry)| (Value::from(key), value(entry))).collect::<BTreeMap<_, _>>())
}
