//! GEP-713: effective policies by path, who affects what, and how far each policy is enforced.

use anyhow::bail;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::gateways::gateway_api::effective::Inherited;
use upheld_dialects::gateways::gateway_api::{MergeStrategy, Profile, Statement, effective};

use super::paths::{Topology, shown};
use super::policies::{Attached, extent, stanzas};
use super::values::{config, held, texts};
use crate::case::Case;
use crate::outcome::Outcome;

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let world = World::read(case)?;
    let expected = case.expected_map()?;
    let mut wanted = Map::new();
    let mut actual = Map::new();
    for (question, expected) in expected {
        let by_name = expected.as_object().into_iter().flatten();
        let (mut expectations, mut answers) = (Map::new(), Map::new());
        for (name, expected) in by_name {
            let (expected, answer) = match question.as_str() {
                "effective" => (expected.clone(), world.value(name)?),
                "contributors" => (expected.clone(), world.taking_part(name)),
                "targetAffectedBy" => (expected.clone(), world.affecting(name)),
                "policyStatus" => (world.status_in_words(name, expected), world.status(name)),
                other => bail!("`{other}` is nothing that can be asked"),
            };
            expectations.insert(name.clone(), expected);
            answers.insert(name.clone(), answer);
        }
        wanted.insert(question.clone(), Json::Object(expectations));
        actual.insert(question.clone(), Json::Object(answers));
    }
    Ok(Outcome::compare(&Json::Object(wanted), &Json::Object(actual)))
}

struct World<'c> {
    topology: Topology<'c>,
    attached: Attached<'c>,
    profile: Profile,
}

impl<'c> World<'c> {
    fn read(case: &'c Case) -> anyhow::Result<Self> {
        let says = |written: &Json| -> anyhow::Result<Vec<Statement>> {
            let mut says = stanzas(written, without_strategy)?;
            if let Some(spec) = written.get("spec") {
                let inside = stanzas(spec, without_strategy)?;
                says.extend(if inside.is_empty() {
                    vec![Statement { extent: extent(written)?, ..Statement::bare(config(spec)?) }]
                } else {
                    inside
                });
            }
            Ok(says)
        };
        let offered: Vec<MergeStrategy> =
            texts(case.field("mergeStrategies")).filter_map(MergeStrategy::named).collect();
        Ok(Self {
            topology: Topology::read(case.field("topology"))?,
            attached: Attached::read(case.field("policies"), says)?,
            profile: Profile::gep_713(&offered),
        })
    }

    /// The paths that a text means: one path, or all that lead to a target.
    fn paths(&self, text: &'c str) -> Vec<Vec<&'c str>> {
        let nodes: Vec<&str> = text.split(" > ").collect();
        if let [node] = nodes.as_slice() { self.topology.paths_to(node) } else { vec![nodes] }
    }

    fn on(&self, path: &[&str]) -> Inherited {
        effective(&self.profile, &self.attached.policies, &self.attached.levels(path), None)
    }

    /// What holds; by path if a target has several effective policies.
    fn value(&self, text: &'c str) -> anyhow::Result<Json> {
        let mut by_path = Map::new();
        for path in self.paths(text) {
            by_path.insert(shown(&path), held(&self.on(&path))?);
        }
        let mut values = by_path.values();
        let first = values.next().cloned().unwrap_or_default();
        Ok(if values.all(|value| *value == first) { first } else { Json::Object(by_path) })
    }

    fn taking_part(&self, text: &'c str) -> Json {
        let levels = self.paths(text).into_iter().flat_map(|path| self.attached.levels(&path));
        json!(self.attached.names(&levels.flatten().collect::<Vec<_>>()))
    }

    fn affecting(&self, target: &'c str) -> Json {
        let mut origins: Vec<usize> = self.paths(target).iter().flat_map(|path| self.on(path).origins()).collect();
        origins.sort_unstable();
        origins.dedup();
        json!(self.attached.names(&origins))
    }

    /// How far a policy is enforced over all paths, and who is in its way.
    fn status(&self, name: &str) -> Json {
        let Some(by) = self.attached.policies.iter().position(|policy| policy.name == name) else { return Json::Null };
        let (mut in_force, mut beaten_by) = (Vec::new(), Vec::new());
        for path in self.topology.paths().iter().filter(|path| path.contains(&self.attached.target(by))) {
            let inherited = self.on(path);
            in_force.push(inherited.origins().contains(&by));
            let losses = inherited.losses().into_iter().filter(|loss| loss.by == by);
            beaten_by.extend(losses.flat_map(|loss| loss.to));
        }
        beaten_by.sort_unstable();
        beaten_by.dedup();
        let words = match (in_force.contains(&true), beaten_by.is_empty() && !in_force.contains(&false)) {
            (true, true) => "enforced",
            (true, false) => "partially enforced",
            (false, _) => "not enforced",
        };
        json!({"words": words, "by": self.attached.names(&beaten_by)})
    }

    /// The same from a sentence of the case.
    fn status_in_words(&self, policy: &str, expected: &Json) -> Json {
        let (words, reason) = expected
            .as_str()
            .unwrap_or_default()
            .split_once(':')
            .unwrap_or((expected.as_str().unwrap_or_default(), ""));
        let said: Vec<&str> = reason.split(|c: char| !c.is_alphanumeric() && c != '-' && c != '.').collect();
        let named = self.attached.policies.iter().map(|policy| policy.name.as_str());
        let named: Vec<&str> = named.filter(|name| *name != policy && said.contains(name)).collect();
        json!({"words": words.trim(), "by": named})
    }
}

fn without_strategy(stanza: &Json) -> Json {
    let fields = stanza.as_object().into_iter().flatten().filter(|(key, _)| key.as_str() != "strategy");
    Json::Object(fields.map(|(key, value)| (key.clone(), value.clone())).collect())
}
