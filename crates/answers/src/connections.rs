//! Connections: from the names of their ends to explanations.

use std::borrow::Cow;
use std::collections::HashMap;

use serde_json::{Value as Json, json};
use upheld_dialects::access::SCOPE;
use upheld_dialects::kuma::ends::{Connection, Member, connect, proxies};
use upheld_engine::select::cells::{Cell, Cells};
use upheld_engine::{Each, KindId, PolicyKind, Resolve, Snapshot};
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault, Lookup, Side};

use crate::layers::{Layers, spoken};
use crate::question::Question;
use crate::report::{Asked, Explanation, Outcome, explain, is_within};

/// What a question lacks before anything is asked.
pub fn incomplete(question: &Question) -> Option<Diagnostic> {
    let message = "`--field` needs `--kind`: fields of different kinds have nothing in common";
    let lacks = question.field.is_some() && question.kind.is_none();
    lacks.then(|| Diagnostic::error(Fault::IncompleteQuestion, message))
}

/// The answers as they are told, and remarks on them.
pub(crate) fn told(
    snapshot: &Snapshot,
    mesh: Option<&str>,
    question: &Question,
) -> Result<(Answers, Vec<String>), Vec<Diagnostic>> {
    if let Some(problem) = incomplete(question) {
        return Err(vec![problem]);
    }
    let mut answers = answer(snapshot, mesh, question)?;
    for group in &mut answers.groups {
        // What was decided first, alphabetically; what fell to the default last.
        group.explanations.sort_by_key(|explanation| explanation.outcome == Outcome::Default);
    }
    let mut notes = Vec::new();
    if let Some(path) = &question.field {
        for explanation in answers.groups.iter_mut().flat_map(|group| &mut group.explanations) {
            let known: Vec<String> = explanation.fields.iter().map(|field| field.path.clone()).collect();
            explanation.fields.retain(|field| is_within(&field.path, path));
            if explanation.fields.is_empty() && explanation.outcome != Outcome::Undecided {
                let near = nearest(path, known.iter().map(String::as_str));
                let hint = near.map(|name| format!("; {}", did_you_mean(name)));
                notes.push(format!("note: {}: `{path}` is not set{}", explanation.kind, hint.unwrap_or_default()));
            }
        }
    }
    Ok((answers, notes))
}

/// Answers to one question, grouped: pairs of members with the same answers are told together.
#[derive(Debug)]
pub struct Answers {
    /// How the ends are called.
    pub between: String,
    /// At least one.
    pub groups: Vec<Group>,
    /// Kinds that have policies here but need the other end, too.
    pub incomplete: Vec<String>,
}

impl Answers {
    /// Every explanation, with the pairs that it holds for.
    pub fn listed(&self) -> Vec<Json> {
        let groups = self.groups.iter();
        groups.flat_map(|group| group.explanations.iter().map(|explanation| group.with_pairs(explanation))).collect()
    }

    /// Who stands: `Kind/policy`, each once.
    pub fn names(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for explanation in self.groups.iter().flat_map(|group| &group.explanations) {
            let standing: Vec<&str> = match (explanation.outcome, explanation.policies.as_slice()) {
                (Outcome::Undecided, _) => vec!["(undecided)"],
                (_, []) => vec![&explanation.default.name],
                (_, policies) => policies.iter().map(String::as_str).collect(),
            };
            for name in standing {
                let name = format!("{}/{name}", explanation.kind);
                if !names.contains(&name) {
                    names.push(name);
                }
            }
        }
        names
    }

    /// The editions of the kinds that answered, once for each answer.
    pub fn editions(&self) -> impl Iterator<Item = &str> {
        let explanations = self.groups.iter().flat_map(|group| &group.explanations);
        explanations.filter_map(|explanation| explanation.semantics.as_deref())
    }
}

/// Pairs with the same answers.
#[derive(Debug)]
pub struct Group {
    /// The pairs, as users would write them.
    pub pairs: Vec<String>,
    /// One explanation for each kind.
    pub explanations: Vec<Explanation>,
}

impl Group {
    /// An explanation of this group as programs get it.
    pub fn with_pairs(&self, explanation: &Explanation) -> Json {
        let mut document = serde_json::to_value(explanation).unwrap_or_default();
        if let Some(map) = document.as_object_mut() {
            map.insert("for".to_owned(), json!(self.pairs));
        }
        document
    }
}

/// Asks what the user asked.
pub(crate) fn answer(snapshot: &Snapshot, mesh: Option<&str>, question: &Question) -> Result<Answers, Vec<Diagnostic>> {
    let mut lookup = snapshot.lookup();
    if let (Some(what), Some(_), Some(_)) = (&question.what, &question.from, &question.to) {
        let message = format!("`{what}`, `--from` and `--to` are three ends of one connection");
        return Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help("leave one of them out")]);
    }
    if question.source().is_none() && question.destination().is_none() {
        return Err(vec![nobody_asked(snapshot)]);
    }
    let kind = question.kind.as_deref().map(|name| find_kind(snapshot, name)).transpose();
    let called = question.destination().map(|called| called_proxy(snapshot, question, called));
    let connection = connect(snapshot, &mut lookup, mesh, question.source(), called.as_deref());
    let (kind, connection) = match (kind, connection) {
        (Ok(Some(kind)), _) if snapshot.kind(kind).is_some_and(|kind| kind.decide().is_some()) => {
            let message = "policies of this kind decide requests, not connections";
            return Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(REQUEST)]);
        }
        (Ok(kind), Ok(connection)) => (kind, connection),
        (kind, connection) => {
            return Err(kind.err().into_iter().chain(connection.err().into_iter().flatten()).collect());
        }
    };
    let (kinds, incomplete) = match kind {
        Some(kind) if snapshot.kind(kind).is_some_and(|kind| kind.merge().is_some()) => (Vec::new(), Vec::new()),
        Some(kind) => (vec![complete(snapshot, kind, &connection)?], Vec::new()),
        None => kinds_for(snapshot, &connection),
    };
    let asker = Asker { snapshot, lookup: &lookup, connection: &connection };
    let layers = Layers::new(snapshot, &lookup, &connection, kind).groups();
    let mut groups = asker.groups(&kinds);
    groups.extend(layers);
    let groups = merge_same_pairs(groups);
    if let Some(problem) = unanswered(snapshot, kind, &connection, &groups) {
        return Err(vec![problem]);
    }
    Ok(Answers { between: between(&connection), groups, incomplete })
}

/// What stands before the flags is a proxy, if there is one of that name.
fn called_proxy<'q>(snapshot: &Snapshot, question: &'q Question, called: &'q str) -> Cow<'q, str> {
    let name = called.split('#').next().unwrap_or(called);
    let is_proxy = || proxies(snapshot).any(|(_, proxy)| snapshot.text(proxy.name) == name);
    if question.to.is_none() && is_proxy() { Cow::Owned(format!("dataplane/{called}")) } else { Cow::Borrowed(called) }
}

/// A question about nothing, with what could be asked here.
fn nobody_asked(snapshot: &Snapshot) -> Diagnostic {
    let mut problem = Diagnostic::error(Fault::IncompleteQuestion, "whose policies?");
    let decides = snapshot.decides().next().is_some();
    if !decides || snapshot.policies().iter().any(|(_, policy)| snapshot.text(policy.scope) != SCOPE) {
        problem = problem
            .help("name a connection: `--from web-1 --to backend-1`, or a proxy: `dataplane/web-1`")
            .help("`upheld list objects` shows what there is");
    }
    if decides { problem.help(REQUEST) } else { problem }
}

/// How requests are asked about.
const REQUEST: &str = "name a request: `--subject role=admin --action DELETE --resource /api/audit/123`";

/// The kind of a name, in any case; a typo gets the nearest.
pub(crate) fn find_kind(snapshot: &Snapshot, name: &str) -> Result<KindId, Diagnostic> {
    let text = |kind: &PolicyKind| snapshot.text(kind.name);
    let found = snapshot.kinds().iter().find(|(_, kind)| text(kind).eq_ignore_ascii_case(name));
    found.map(|(id, _)| id).ok_or_else(|| {
        let diagnostic = Diagnostic::error(Fault::NotFound, format!("there is no kind `{name}`"));
        let diagnostic = diagnostic.suggest(
            nearest(name, snapshot.kinds().iter().map(|(_, kind)| text(kind)))
                .map(|nearest| format!("--kind {nearest}")),
        );
        diagnostic.help("`upheld kinds` lists all of them")
    })
}

fn asked(connection: &Connection, side: Side) -> bool {
    match side {
        Side::Source => connection.source.is_some(),
        Side::Destination => connection.destination.is_some(),
    }
}

/// A kind that was asked for and cannot say anything here; or a destination that needs a proxy.
fn unanswered(
    snapshot: &Snapshot,
    kind: Option<KindId>,
    connection: &Connection,
    groups: &[Group],
) -> Option<Diagnostic> {
    if groups.iter().any(|group| !group.explanations.is_empty()) {
        return None;
    }
    let called = connection.destination.as_ref().filter(|end| end.members.iter().any(|member| member.is.is_some()));
    let proxied = connection.source.iter().flat_map(|end| &end.members).any(|member| member.caller().is_some());
    if let Some(called) = called.filter(|_| !proxied) {
        let message = format!("whose calls to {}?", called.label);
        let help = format!("name the proxy that calls: `upheld explain dataplane/web-1 --to {}`", called.label);
        return Some(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
    }
    let kind = kind.and_then(|kind| snapshot.kind(kind)).filter(|kind| kind.merge().is_some())?;
    let name = snapshot.text(kind.name);
    if snapshot.policies().iter().all(|(_, policy)| policy.kind != kind.governs || policy.scope != connection.mesh) {
        let message = format!("there is no {name} in mesh `{}`", snapshot.text(connection.mesh));
        return Some(Diagnostic::error(Fault::NotFound, message).help("`upheld list policies` shows what was read"));
    }
    let message = format!("{name} has nothing to say about {}", between(connection));
    let help = "it is about proxies, what they call (`--to`) and who calls them (`--from`): `upheld kinds` shows which";
    Some(Diagnostic::error(Fault::IncompleteQuestion, message).help(help))
}

/// A kind that chooses needs every side that it looks at; one that keeps all does not.
fn missing_side(kind: &PolicyKind, connection: &Connection) -> Option<Side> {
    let select = kind.select()?;
    let needs = |side: &Side| select.resolve == Resolve::First && select.side(*side).is_some();
    Side::BOTH.into_iter().find(|side| needs(side) && !asked(connection, *side))
}

fn complete(snapshot: &Snapshot, id: KindId, connection: &Connection) -> Result<KindId, Vec<Diagnostic>> {
    let missing = snapshot.kind(id).and_then(|kind| Some((kind, missing_side(kind, connection)?)));
    let Some((kind, side)) = missing else { return Ok(id) };
    let name = snapshot.text(kind.name);
    let (flag, example) = match side {
        Side::Source => ("--from", "--from web-1"),
        Side::Destination => ("--to", "--to backend-1"),
    };
    let message = format!("{name} depends on the {}, so it needs `{flag}`", side.word());
    let help = format!("for example `upheld explain --kind {name} … {example}`");
    Err(vec![Diagnostic::error(Fault::IncompleteQuestion, message).help(help)])
}

/// All kinds that can be asked and that have a policy in this mesh; and the names of those that need the other end.
fn kinds_for(snapshot: &Snapshot, connection: &Connection) -> (Vec<KindId>, Vec<String>) {
    let (mut kinds, mut incomplete) = (Vec::new(), Vec::new());
    for (id, kind) in snapshot.kinds().iter().filter(|(id, _)| snapshot.select(*id, connection.mesh).is_some()) {
        let looks = Side::BOTH
            .iter()
            .any(|side| kind.select().is_some_and(|select| select.side(*side).is_some()) && asked(connection, *side));
        if missing_side(kind, connection).is_some() {
            incomplete.push(snapshot.text(kind.name).to_owned());
        } else if looks {
            kinds.push(id);
        }
    }
    (kinds, incomplete)
}

fn between(connection: &Connection) -> String {
    let labels = connection.source.iter().chain(&connection.destination).map(|end| end.label.as_str());
    labels.collect::<Vec<_>>().join(" → ")
}

struct Asker<'a> {
    snapshot: &'a Snapshot,
    lookup: &'a Lookup<'a>,
    connection: &'a Connection,
}

impl Asker<'_> {
    /// Explains every pair of members. Pairs that no policy can tell apart are explained once.
    fn groups(&self, kinds: &[KindId]) -> Vec<Group> {
        let mut groups: Vec<(String, Group)> = Vec::new();
        let sources = self.sources();
        // Kinds differ in what they ask a service as; each way is a list of pairs of its own.
        for each in [Each::Service, Each::Inbound] {
            let of_each: Vec<KindId> = kinds.iter().copied().filter(|kind| self.each(*kind) == each).collect();
            if of_each.is_empty() {
                continue;
            }
            let destinations = self.destinations(each);
            let [from, to] = self.classes(&of_each, &sources, &destinations);
            let mut told: HashMap<Vec<Cell>, (String, Vec<Explanation>)> = HashMap::new();
            for (destination, to) in destinations.iter().zip(&to) {
                for (source, from) in sources.iter().zip(&from) {
                    let classes = from.iter().zip(to);
                    let cells =
                        classes.map(|(source, destination)| Cell { source: *source, destination: *destination });
                    let (key, explanations) = told.entry(cells.collect()).or_insert_with(|| {
                        let explanations = self.explain(&of_each, source.as_ref(), destination.as_ref());
                        (same_answer_key(&explanations), explanations)
                    });
                    let labels = source.iter().chain(destination).map(|member| member.label.clone());
                    let pair = labels.collect::<Vec<_>>().join(" → ");
                    match groups.iter_mut().find(|(known, _)| known == key) {
                        Some((_, group)) => group.pairs.push(pair),
                        None => {
                            let group = Group { pairs: vec![pair], explanations: explanations.clone() };
                            groups.push((key.clone(), group));
                        }
                    }
                }
            }
        }
        merge_same_pairs(groups.into_iter().map(|(_, group)| group).collect())
    }

    fn explain(&self, kinds: &[KindId], source: Option<&Member>, destination: Option<&Member>) -> Vec<Explanation> {
        let (snapshot, lookup, mesh) = (self.snapshot, self.lookup, self.connection.mesh);
        let asked = |kind: &KindId| Asked { snapshot, lookup, kind: *kind, mesh, source, destination };
        kinds.iter().filter_map(|kind| explain(&asked(kind))).collect()
    }

    fn sources(&self) -> Vec<Option<Member>> {
        let source = self.connection.source.as_ref();
        source.map_or(vec![None], |end| end.members.iter().cloned().map(Some).collect())
    }

    fn destinations(&self, each: Each) -> Vec<Option<Member>> {
        let destination = self.connection.destination.as_ref();
        destination.map_or(vec![None], |end| end.members_for(each).iter().cloned().map(Some).collect())
    }

    fn each(&self, kind: KindId) -> Each {
        let destination = self.snapshot.kind(kind).and_then(|kind| kind.select()?.side(Side::Destination));
        destination.map_or(Each::Service, |item| item.each)
    }

    /// For each caller, and for each of those called, its class under every kind.
    fn classes(
        &self,
        kinds: &[KindId],
        sources: &[Option<Member>],
        destinations: &[Option<Member>],
    ) -> [Vec<Vec<usize>>; 2] {
        let mut all = [vec![Vec::new(); sources.len()], vec![Vec::new(); destinations.len()]];
        let [from, to] = &mut all;
        for select in kinds.iter().filter_map(|kind| self.snapshot.select(*kind, self.connection.mesh)) {
            let mut cells = Cells::new(select);
            for (source, classes) in sources.iter().zip(from.iter_mut()) {
                classes.push(cells.add_source(source.as_ref().map(|member| member.parts.as_slice())));
            }
            for (destination, classes) in destinations.iter().zip(to.iter_mut()) {
                classes.push(cells.add_destination(destination.as_ref().map(|member| member.parts.as_slice())));
            }
        }
        all
    }
}

/// Two pairs have the same answer when all that match ended in the same way, by the same numbers. Why others do not match
/// may differ.
pub(crate) fn same_answer_key(explanations: &[Explanation]) -> String {
    let mut key = String::new();
    for explanation in explanations {
        let Explanation { kind, outcome, granted, place, .. } = explanation;
        key.push_str(&format!("{kind}{outcome:?}{granted:?}{place:?};"));
        for candidate in explanation.candidates.iter().filter(|candidate| candidate.matched()) {
            let (state, numbers) = (candidate.state, (candidate.tags, candidate.exact));
            key.push_str(&format!(
                "{}{:?}{state:?}{numbers:?}{};",
                candidate.policy, candidate.selector, candidate.code
            ));
        }
    }
    key
}

/// Kinds that were asked in different ways stand together where the pairs are the same.
fn merge_same_pairs(groups: Vec<Group>) -> Vec<Group> {
    let mut merged: Vec<Group> = Vec::new();
    for group in groups {
        match merged.iter_mut().find(|known| known.pairs == group.pairs) {
            Some(known) => known.explanations.extend(group.explanations),
            None => merged.push(group),
        }
    }
    for group in &mut merged {
        // What a kind of layers does not say at one place is no news where it speaks at another.
        let speaking: Vec<String> =
            group.explanations.iter().filter(|one| spoken(one)).map(|one| one.kind.clone()).collect();
        group.explanations.retain(|one| one.place.is_none() || spoken(one) || !speaking.contains(&one.kind));
        group.explanations.sort_by(|a, b| a.kind.cmp(&b.kind));
    }
    if merged.len() > 1 {
        merged.retain(|group| !group.explanations.is_empty());
    }
    if merged.is_empty() {
        merged.push(Group { pairs: Vec::new(), explanations: Vec::new() });
    }
    merged
}
