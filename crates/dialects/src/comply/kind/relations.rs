//! How objects are related, which pairs that makes, and who may do what to them.

use upheld_engine::comply::{DerivedPair, End, Holds, NeedsScope, Profile, Relation, Right, Subject, Swapped};
use upheld_model::tree::Value;

use super::{MOST, Reading, names, parts};

impl Reading<'_> {
    /// `match`: the pairs that policies may be about.
    pub(super) fn pairs(&mut self, profile: &Profile) -> Vec<(Subject, Subject)> {
        let items: Vec<Value<'_>> = self.list("match").collect();
        let mut known = Profile { pairs: Vec::new(), ..profile.clone() };
        for item in items.into_iter().take(MOST) {
            let sides: Vec<Value<'_>> = item.items().collect();
            let (a, b) = match sides.as_slice() {
                // One subject for itself: policies about its own tags.
                [own] => (own, own),
                [a, b] => (a, b),
                _ => {
                    let message = format!("a pair has two sides, not {}", sides.len());
                    self.wrong(item, message, "expected `[workspace, project]` or the like", None);
                    continue;
                }
            };
            let (Some(a), Some(b)) = (self.subject(profile, *a), self.subject(profile, *b)) else { continue };
            if a == b && sides.len() == 2 {
                let own = profile.subject_name(a);
                let message = format!("`{own}` cannot be compared with itself");
                let help = format!("write `[{own}]` for policies about its own tags");
                self.wrong(item, message, "both sides are the same", Some(help));
            } else if known.pair(a, b).is_some() {
                self.wrong(item, "this pair is listed twice".to_owned(), "already listed above", None);
            } else {
                known.pairs.push((a, b));
            }
        }
        if known.pairs.is_empty() {
            let at = self.document.get("match").unwrap_or(self.document);
            let message = "`match` names no pair, so no policy could be about anything".to_owned();
            self.wrong(at, message, "expected at least one pair", None);
        }
        known.pairs
    }

    pub(super) fn relations(&mut self, profile: &Profile) -> Vec<Relation> {
        let items: Vec<Value<'_>> = self.list("relationships").collect();
        let mut relations: Vec<Relation> = Vec::new();
        let owned = owned(profile, &items);
        for item in items.into_iter().take(MOST) {
            let mut side = |field: &str| item.get(field).and_then(|word| self.subject(profile, word));
            let (Some(a), Some(b)) = (side("a"), side("b")) else { continue };
            if relations.iter().any(|known| (known.a, known.b) == (a, b) || (known.b, known.a) == (a, b)) {
                let (a, b) = (profile.subject_name(a), profile.subject_name(b));
                self.wrong(item, format!("`{a}` and `{b}` are related twice"), "already listed above", None);
                continue;
            }
            let role = item.get("role").and_then(|role| self.kind(profile, role));
            let holds = if parts::flag(item, "holds") { Holds::Owned } else { Holds::Related };
            let needs_scope = if parts::flag(item, "needsScope") { NeedsScope::Yes } else { NeedsScope::No };
            let mut relation = Relation { a, b, role, holds, needs_scope, gives: Vec::new() };
            let gives: Vec<Value<'_>> = item.get("gives").into_iter().flat_map(Value::items).collect();
            for given in gives {
                let given = self.given(profile, &relation, &owned, given);
                relation.gives.extend(given);
            }
            relations.push(relation);
        }
        relations
    }

    fn given(
        &mut self,
        profile: &Profile,
        relation: &Relation,
        owned: &[Subject],
        item: Value<'_>,
    ) -> Option<DerivedPair> {
        let (first, second) = (item.get("a")?, item.get("b")?);
        let a = self.end(profile, relation, owned, first)?;
        let b = self.end(profile, relation, owned, second)?;
        let ((a, a_subject), (b, b_subject)) = (a, b);
        let Some((pair, turned)) = profile.pair(a_subject, b_subject) else {
            let (a, b) = (profile.subject_name(a_subject), profile.subject_name(b_subject));
            let help = format!("add `[{a}, {b}]` to `match`, or remove this");
            self.wrong(item, format!("`match` does not have the pair `{a}` and `{b}`"), "no such pair", Some(help));
            return None;
        };
        Some(match turned {
            Swapped::No => DerivedPair { pair, a, b },
            Swapped::Yes => DerivedPair { pair, a: b, b: a },
        })
    }

    /// What a word means in a relationship, and what it counts as.
    fn end(
        &mut self,
        profile: &Profile,
        relation: &Relation,
        owned: &[Subject],
        word: Value<'_>,
    ) -> Option<(End, Subject)> {
        match word.text() {
            "a" => Some((End::A, relation.a)),
            "b" => Some((End::B, relation.b)),
            "role" => {
                let subject = relation.role.and_then(|role| profile.subject_of(role));
                if subject.is_none() {
                    let message = "this relationship has no role".to_owned();
                    self.wrong(word, message, "no role", Some("say which objects it is: `role: ...`".to_owned()));
                }
                Some((End::Role, subject?))
            }
            _ => {
                let scope = profile.scope.and_then(|scope| profile.subject_of(scope));
                if scope.is_none() {
                    let help = "name the kind that others belong to: `scope: ...`".to_owned();
                    self.wrong(word, "this kind has no scope".to_owned(), "no scope", Some(help));
                } else if scope != Some(relation.a) && !owned.contains(&relation.a) {
                    let a = profile.subject_name(relation.a);
                    let help = "a relationship with `holds: true` says what belongs to what".to_owned();
                    self.wrong(word, format!("`{a}` belongs to nothing"), "no scope here", Some(help));
                }
                Some((End::Scope, scope?))
            }
        }
    }

    /// A pair that nothing makes would let every policy about it pass.
    pub(super) fn check_given(&mut self, profile: &Profile) {
        let items: Vec<Value<'_>> = self.list("match").collect();
        let given: Vec<usize> =
            profile.relations.iter().flat_map(|one| &one.gives).map(|given| usize::from(given.pair.0)).collect();
        // With mistakes in either list the places do not agree.
        if items.len() != profile.pairs.len() || profile.relations.len() != self.list("relationships").count() {
            return;
        }
        for (place, item) in items.into_iter().enumerate().filter(|(place, _)| !given.contains(place)) {
            let Some((a, b)) = profile.pairs.get(place).filter(|(a, b)| a != b) else { continue };
            let (a, b) = (profile.subject_name(*a), profile.subject_name(*b));
            let help = "add it to `gives` of a relationship".to_owned();
            self.wrong(item, format!("no relationship makes pairs of `{a}` and `{b}`"), "never occurs", Some(help));
        }
    }

    /// `tag project`, or a verb alone.
    pub(super) fn right(&mut self, profile: &Profile, word: Value<'_>) -> Option<Right> {
        let (verb, of) = match word.text().split_once(' ') {
            Some((verb, of)) => (verb, Some(of.trim())),
            None => (word.text(), None),
        };
        let subject = match of.map(|of| (of, profile.subject(of))) {
            Some((_, Some(subject))) => Some(subject),
            Some((of, None)) => {
                let help = names::or_nearest(of, profile.subjects.iter().map(|subject| subject.name.as_str()));
                self.wrong(word, format!("there is no subject `{of}`"), "unknown", Some(help));
                return None;
            }
            None => None,
        };
        let right = match (verb, subject) {
            ("create", subject) => Right::Create(subject),
            ("delete", subject) => Right::Delete(subject),
            ("tag", subject) => Right::Tag(subject),
            ("link", None) => Right::Link,
            ("policies", None) => Right::Policies,
            ("definitions", None) => Right::Definitions,
            ("waivers", None) => Right::Waivers,
            ("violations", None) => Right::Violations,
            _ => {
                let known = ["create", "delete", "tag", "link", "policies", "definitions", "waivers", "violations"];
                let help = names::or_nearest(verb, known.into_iter());
                self.wrong(word, format!("there is no right `{}`", word.text()), "unknown right", Some(help));
                return None;
            }
        };
        Some(right)
    }
}

/// What lives in something.
fn owned(profile: &Profile, relationships: &[Value<'_>]) -> Vec<Subject> {
    let holding = relationships.iter().filter(|item| parts::flag(**item, "holds"));
    holding.filter_map(|item| profile.subject(parts::text(*item, "b"))).collect()
}
