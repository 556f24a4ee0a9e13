//! The rival: every object is a map from texts to sets of texts, and every rule looks into two of them.

use std::collections::{HashMap, HashSet};

use super::organisation::{Of, Organisation};

type Tags = HashMap<String, HashSet<String>>;

#[derive(Debug)]
struct Rule {
    name: String,
    tag: String,
    subset: bool,
}

/// Objects by reference, pairs of references, and rules.
#[derive(Debug)]
pub(super) struct Naive {
    objects: HashMap<String, (Of, Tags)>,
    pairs: Vec<(String, String)>,
    /// By the kinds that they are about.
    rules: HashMap<(Of, Of), Vec<Rule>>,
}

impl Naive {
    /// Some pairs of an organisation and what they are about.
    pub(super) fn new(organisation: &Organisation, pairs: &[(usize, usize)]) -> Result<Self, String> {
        let mut own = Self { objects: HashMap::new(), pairs: Vec::new(), rules: HashMap::new() };
        for (a, b) in pairs {
            let references = [own.object(organisation, *a)?, own.object(organisation, *b)?];
            let [a, b] = references;
            own.pairs.push((a, b));
        }
        for rule in &organisation.rules {
            let tag = organisation.tags.get(rule.tag).map(|tag| tag.key.clone()).unwrap_or_default();
            let own = own.rules.entry((rule.a, rule.b)).or_default();
            own.push(Rule { name: rule.name.clone(), tag, subset: rule.subset });
        }
        Ok(own)
    }

    fn object(&mut self, organisation: &Organisation, number: usize) -> Result<String, String> {
        let thing = organisation.thing(number)?;
        let reference = thing.reference();
        if !self.objects.contains_key(&reference) {
            let tags = organisation.tags_of(thing);
            let tags = tags.map(|(tag, values)| {
                (tag.key.clone(), values.iter().map(|value| tag.value(*value)).collect::<HashSet<String>>())
            });
            self.objects.insert(reference.clone(), (thing.of, tags.collect()));
        }
        Ok(reference)
    }

    pub(super) fn objects(&self) -> usize {
        self.objects.len()
    }

    /// What violates: rule, first side, second side. Also how many times a rule was held against a pair.
    pub(super) fn audit(&self) -> (Vec<(&str, &str, &str)>, usize) {
        let (mut violations, mut checks) = (Vec::new(), 0);
        for (a, b) in &self.pairs {
            let (Some((kind, first)), Some((other, second))) = (self.objects.get(a), self.objects.get(b)) else {
                continue;
            };
            for rule in self.rules.get(&(*kind, *other)).into_iter().flatten() {
                checks += 1;
                if !holds(rule, first.get(&rule.tag), second.get(&rule.tag)) {
                    violations.push((rule.name.as_str(), a.as_str(), b.as_str()));
                }
            }
        }
        (violations, checks)
    }
}

fn holds(rule: &Rule, first: Option<&HashSet<String>>, second: Option<&HashSet<String>>) -> bool {
    match (first, second) {
        (None, None) => true,
        (Some(first), Some(second)) if rule.subset => second.is_subset(first),
        (Some(first), Some(second)) => first.iter().any(|value| second.contains(value)),
        _ => false,
    }
}
