//! Kinds whose policies are layers: which questions a connection comes to, and their reports.
//!
//! A proxy alone is asked for everything (`whole_proxy`). With a destination it is asked for what it calls; with a caller for
//! what comes in. A connection between two proxies is both.

mod callers;
mod every_pair;
mod leaving;
mod made_up;
mod requested;
mod told;
mod whole_proxy;

use std::borrow::Cow;
use std::collections::HashMap;

use crate::kuma::SERVICE_TAGS;
use crate::kuma::ends::{Connection, End, Is, Member};
use crate::kuma::kri::Kri;
use crate::kuma::layered::RULE_MATCHES_TAG;
use crate::kuma::meta::fact;
use crate::kuma::permission::{self, Enforcement, Fit, Lists, Verdict};
use crate::kuma::remarks;
use crate::kuma::rules::{Rules, kinds};
use crate::kuma::services::{Leading, are_exclusive};
use crate::question::HttpRequest;
use upheld_engine::merge::{About, CallerFact, Cells, Classes, Layered, Merge, Question, Subject, Target, chain};
use upheld_engine::{Granularity, KindId, Snapshot};
use upheld_model::{Code, Facet, Lookup, Object, Param, Part, Reason, Sym, TagSet};

use self::callers::{Named, SeenCaller};
pub(super) use self::made_up::MadeUp;
use self::told::Told;
use super::connections::{Group, same_answer_key};
use upheld_report::{Access, AskedLayers, Depth, Phrase, Report, Skipped, Vocabulary};

/// What somebody does who calls.
pub(super) const OUTGOING: [Facet; 2] = [Facet::Objects, Facet::Services];

/// What somebody does who is called.
pub(super) const INCOMING: [Facet; 2] = [Facet::Clients, Facet::Inbound];

/// Asks for one connection.
pub(crate) struct Layers<'a> {
    snapshot: &'a Snapshot,
    lookup: &'a Lookup<'a>,
    connection: &'a Connection,
    rules: Vec<Rules<'a>>,
    leading: Cow<'a, Leading>,
    /// Whether services are resources only.
    exclusive: bool,
    /// What the identity of a caller is called.
    identity: Sym,
    made_up: &'a MadeUp,
    /// The request that is made, if one was described.
    request: Option<&'a HttpRequest>,
    /// Which policies that do not match are listed.
    skipped: &'a Skipped,
    /// How much is wanted.
    depth: Depth,
}

impl<'a> Layers<'a> {
    /// For one kind, or for all that have policies in the mesh.
    pub(crate) fn new(
        snapshot: &'a Snapshot,
        lookup: &'a Lookup<'a>,
        connection: &'a Connection,
        kind: Option<KindId>,
        identity: Sym,
        made_up: &'a MadeUp,
    ) -> Self {
        let mut rules = kinds(snapshot, connection.mesh);
        rules.retain(|rules| kind.is_none_or(|kind| rules.id == kind));
        let leading = Leading::of(snapshot);
        let exclusive = are_exclusive(snapshot, connection.mesh);
        Self {
            snapshot,
            lookup,
            connection,
            rules,
            leading,
            exclusive,
            identity,
            made_up,
            request: None,
            skipped: &Skipped::NONE,
            depth: Depth::All,
        }
    }

    /// For a request over the connection.
    pub(crate) fn requesting_this(self, request: Option<&'a HttpRequest>) -> Self {
        Self { request, ..self }
    }

    /// With some of the policies that do not match in each report.
    pub(crate) fn listing(self, skipped: &'a Skipped) -> Self {
        Self { skipped, ..self }
    }

    /// With no more than is wanted.
    pub(crate) fn with_depth(self, depth: Depth) -> Self {
        Self { depth, ..self }
    }

    /// Reports for all pairs of members; pairs with the same answers stand together.
    pub(crate) fn groups(&self) -> Vec<Group> {
        let mut groups = Groups::default();
        let members = |end: Option<&End>, each| end.map_or_else(Vec::new, |end| end.members_for(each).to_vec());
        let sources = members(self.connection.source.as_ref(), Granularity::Service);
        let (source, destination) = (self.connection.source.is_some(), self.connection.destination.is_some());
        // What all policies tell apart is not looked at where there is nobody to be told apart from.
        let mut classes = (sources.len() > 1).then(|| Classes::new(self.merges()));
        let mut class_of = |object| classes.as_mut().map_or(0, |classes| classes.add(Subject::of(object), ()));
        if source && !destination {
            for source in &sources {
                let Some(object) = self.proxy(source) else { continue };
                let class = class_of(object);
                groups.add(source.label.clone(), Alike::Whole(class), || self.whole_proxy(object, &source.label));
            }
        }
        for (number, called) in members(self.connection.destination.as_ref(), Granularity::Service).iter().enumerate() {
            for source in &sources {
                let Some(object) = self.proxy(source) else { continue };
                let class = class_of(object);
                groups.add(format!("{} → {}", source.label, called.label), Alike::Calling(class, number), || {
                    match self.request {
                        Some(request) => self.requesting(object, source, called, request),
                        None => self.calling(object, source, called),
                    }
                });
            }
        }
        let callers = self.callers(&sources);
        let several = callers.len() > 1;
        let lists: Vec<Lists> = if several { self.rules.iter().map(Lists::of).collect() } else { Vec::new() };
        for (number, called) in members(self.connection.destination.as_ref(), Granularity::Inbound).iter().enumerate() {
            let Some((object, part)) = self.inbound(called) else { continue };
            let named: Vec<Named> = self.rules.iter().map(|rules| Named::of(rules, object, part)).collect();
            let seen: Vec<SeenCaller<'_>> = callers.iter().map(|caller| caller.seen(&named)).collect();
            let mut cells = several.then(|| Cells::new(self.merges()));
            for seen in &seen {
                let labels = seen.caller.source.into_iter().chain([called]).map(|member| member.label.clone());
                let pair = labels.collect::<Vec<_>>().join(" → ");
                let question = |about| Question { subject: Subject::of(object), about };
                let asked =
                    cells.as_mut().map(|cells| seen.asks(part).map(|about| cells.classify(question(about))).collect());
                let listed = seen.listed(&lists, self.lookup);
                groups.add(pair, Alike::Called(number, asked.unwrap_or_default(), listed), || {
                    self.called(object, part, seen, &called.label)
                });
            }
        }
        for (number, called) in members(self.connection.destination.as_ref(), Granularity::Service).iter().enumerate() {
            let Some(passing) = self.passing(called) else { continue };
            for (place, caller) in callers.iter().enumerate() {
                let Some(source) = caller.source else { continue };
                let pair = format!("{} → {}", source.label, called.label);
                groups.add(pair, Alike::Leaving(number, place), || self.leaving(&passing, caller, called));
            }
        }
        groups.all
    }

    fn merges(&self) -> impl Iterator<Item = &'a Merge> + Clone {
        self.rules.iter().map(|rules| rules.merge)
    }

    /// The proxy that calls, or the one that was made up for its tags.
    fn proxy(&self, member: &Member) -> Option<&Object> {
        match member.caller() {
            Some(id) => self.made_up.proxy(self.snapshot, id),
            None => self.made_up.caller.as_ref(),
        }
    }

    /// The inbound that is called, or the one that was made up for its tags.
    fn inbound(&self, called: &Member) -> Option<(&Object, u32)> {
        match called.is {
            Some(Is::Inbound(id, part)) => Some((self.snapshot.objects().get(id)?, part)),
            Some(_) => None,
            None => Some((self.made_up.called.as_ref()?, 0)),
        }
    }

    /// What a proxy does when it calls; a built-in gateway does it at each of its listeners.
    fn calling<T: Told>(&self, proxy: &Object, source: &Member, called: &Member) -> Vec<T> {
        let mut all = Vec::new();
        let tags = self.service_of(called);
        let targets = self.targets_of(called).into_iter();
        let targets: Vec<(Target, String)> =
            targets.map(|target| (target, self.called_label(called, target))).collect();
        for rules in &self.rules {
            for outlet in outlets(proxy) {
                let (part, place) = self.outlet(proxy, outlet);
                let ask = |about: About<'_>, to: &str| {
                    self.ask(rules, Asking { part, ..Asking::new(proxy, about, Some(&source.label), Some(to), &place) })
                };
                for (target, label) in &targets {
                    let chain = chain(*target, &rules.surroundings());
                    all.extend(ask(About::Targets(&chain), label));
                    for (rule, tags) in self.rules_of_route(rules, proxy, *target) {
                        all.extend(ask(About::Service(&tags), &rule));
                    }
                }
                if let Some(tags) = &tags {
                    all.extend(ask(About::Service(tags), &called.label));
                }
            }
        }
        all
    }

    /// Real resources that a called member is, or that lead to it.
    fn targets_of(&self, called: &Member) -> Vec<Target> {
        match called.is {
            Some(Is::Resource(target)) => vec![target],
            Some(Is::Inbound(id, part)) => {
                let proxy = self.snapshot.objects().get(id);
                let inbound = proxy.and_then(|proxy| proxy.parts.get(part as usize));
                let leading = proxy.zip(inbound).map(|(proxy, part)| self.leading.to(self.snapshot, proxy, part));
                leading.unwrap_or_default()
            }
            Some(Is::Proxy(_)) | None => Vec::new(),
        }
    }

    /// What a part of a proxy does when it is called.
    fn called<T: Told>(&self, proxy: &Object, part: u32, seen: &SeenCaller<'_>, label: &str) -> Vec<T> {
        let mut all: Vec<T> = Vec::new();
        let place = proxy.parts.get(part as usize);
        // A proxy with several inbounds is called by the one in question.
        let place = place.map_or_else(String::new, |part| {
            if label.contains('#') { part.role.word().to_owned() } else { self.place(part) }
        });
        let from = seen.caller.source.map(|source| source.label.as_str());
        for (rules, clients) in self.rules.iter().zip(&seen.clients) {
            let incoming = Incoming { from, clients, facts: seen.facts_for(rules), part };
            all.extend(self.incoming(rules, &incoming, |about| {
                self.ask::<T>(rules, Asking::new(proxy, about, from, Some(label), &place))
            }));
        }
        all
    }

    /// What holds for a caller where it comes in: by its tags, and by what else is known of it.
    fn incoming<T: Told>(
        &self,
        rules: &Rules<'_>,
        incoming: &Incoming<'_>,
        ask: impl Fn(About<'_>) -> Option<T>,
    ) -> Vec<T> {
        let Incoming { from, clients, facts, part } = *incoming;
        let mut all = self.as_client(rules, clients, from, |tags| ask(About::Client { part, tags }));
        let inbound = ask(About::Inbound { part, caller: facts });
        let inbound = inbound.filter(|answer| all.is_empty() || answer.speaks());
        all.extend(inbound);
        all
    }

    /// What holds for a caller by its tags: one answer wherever there is one.
    fn as_client<T: Told>(
        &self,
        rules: &Rules<'_>,
        clients: &[TagSet],
        from: Option<&str>,
        ask: impl Fn(&TagSet) -> Option<T>,
    ) -> Vec<T> {
        let mut answers: Vec<(T, &TagSet)> =
            clients.iter().filter_map(|tags| ask(tags).map(|answer| (answer, tags))).collect();
        if permission::grants(rules) {
            // A certificate has the tags of all inbounds, and it is enough that a policy allows one of them.
            answers.sort_by_key(|(answer, _)| match answer.verdict() {
                upheld_report::Verdict::Permit => 0,
                upheld_report::Verdict::Undecided => 1,
                _ => 2,
            });
            answers.truncate(1);
        }
        answers.dedup_by(|(answer, _), (known, _)| answer.is_like(known));
        let differ = answers.len() > 1;
        let name = |tags: &TagSet| format!("{} ({})", from.unwrap_or_default(), self.tags_text(tags));
        let named = |(answer, tags): (T, &TagSet)| if differ { answer.of_caller(|| name(tags)) } else { answer };
        answers.into_iter().map(named).collect()
    }

    fn ask<T: Told>(&self, rules: &Rules<'_>, asking: Asking<'_>) -> Option<T> {
        let asking = Asking { depth: asking.depth.min(self.depth), ..asking };
        let Asking { subject, about, from, to, place, part, depth } = asking;
        let (snapshot, lookup) = (self.snapshot, self.lookup);
        let vocabulary = &Known { rules, lookup, asking };
        let (kind, merge) = (rules.kind, rules.merge);
        let skipped = self.skipped;
        T::of(&AskedLayers {
            snapshot,
            kind,
            merge,
            vocabulary,
            lookup,
            subject,
            about,
            from,
            to,
            place,
            part,
            depth,
            skipped,
        })
    }

    /// Callers know nothing of a service but its name. Where services are resources, that names nothing.
    fn service_of(&self, called: &Member) -> Option<TagSet> {
        let key = self.snapshot.symbols().get(SERVICE_TAGS[0])?;
        let tag = called.parts.first()?.get(key)?;
        (!self.exclusive).then(|| TagSet::new([(tag.key, tag.value)]))
    }

    fn place(&self, part: &Part) -> String {
        let section = self.snapshot.text(part.section);
        match (part.role, part.port) {
            (upheld_model::Role::GatewayListener, Some(port)) => {
                format!("{} {}:{section}", part.role.word(), self.snapshot.text(port))
            }
            // A proxy that nobody wrote down has no names.
            _ if section.is_empty() => part.role.word().to_owned(),
            _ => format!("{} {section}", part.role.word()),
        }
    }

    /// The part of a proxy that calls, and how it is called in answers.
    fn outlet(&self, proxy: &Object, part: Option<u32>) -> (Option<u32>, String) {
        let described = part.and_then(|part| proxy.parts.get(part as usize));
        (part, described.map_or_else(|| "outbound".to_owned(), |part| format!("outbound of {}", self.place(part))))
    }

    fn tags_text(&self, tags: &TagSet) -> String {
        let text = |symbol| self.lookup.text(symbol);
        let mut pairs: Vec<String> =
            (tags.as_slice().iter()).map(|tag| format!("{}={}", text(tag.key), tag.value.map_or("?", text))).collect();
        pairs.sort();
        pairs.join(",")
    }

    /// What a called member is called as one of its resources.
    fn called_label(&self, called: &Member, target: Target) -> String {
        match called.is {
            Some(Is::Resource(_)) => called.label.clone(),
            _ => self.target_label(target),
        }
    }

    fn target_label(&self, target: Target) -> String {
        let Some(object) = self.snapshot.objects().get(target.object) else { return String::new() };
        let (kind, name) = (self.snapshot.text(object.kind).to_ascii_lowercase(), self.snapshot.text(object.name));
        match target.section {
            Some(section) => format!("{kind}/{name}#{}", self.snapshot.text(section)),
            None => format!("{kind}/{name}"),
        }
    }
}

/// Who comes in, and where.
#[derive(Clone, Copy, Debug)]
struct Incoming<'a> {
    from: Option<&'a str>,
    /// The clients that the caller is taken for.
    clients: &'a [TagSet],
    /// What else is known of it.
    facts: &'a [CallerFact<'a>],
    part: u32,
}

/// One question in the making.
#[derive(Clone, Copy, Debug)]
struct Asking<'a> {
    subject: &'a Object,
    about: About<'a>,
    from: Option<&'a str>,
    to: Option<&'a str>,
    place: &'a str,
    part: Option<u32>,
    depth: Depth,
}

impl<'a> Asking<'a> {
    fn new(subject: &'a Object, about: About<'a>, from: Option<&'a str>, to: Option<&'a str>, place: &'a str) -> Self {
        Self { subject, about, from, to, place, part: None, depth: Depth::All }
    }
}

/// Where a proxy calls from: a built-in gateway at each of its listeners, which have policies of their own.
fn outlets(proxy: &Object) -> Vec<Option<u32>> {
    let listeners: Vec<Option<u32>> = (proxy.parts.iter().enumerate())
        .filter(|(_, part)| part.role == upheld_model::Role::GatewayListener)
        .map(|(number, _)| u32::try_from(number).ok())
        .collect();
    if listeners.is_empty() { vec![None] } else { listeners }
}

/// Whether statements about clients are also read as rules for what comes in.
fn is_from_as_rules(rules: &Rules<'_>) -> bool {
    rules.merge.kind().facet(Facet::Inbound).is_some_and(|choice| choice.instead.is_some())
}

/// What Kuma knows beyond the family of its layers.
#[derive(Debug)]
struct Known<'a> {
    rules: &'a Rules<'a>,
    lookup: &'a Lookup<'a>,
    asking: Asking<'a>,
}

impl Vocabulary for Known<'_> {
    fn access(&self, answer: &Layered) -> Access {
        let enforcement = permission::enforcement(self.rules, self.asking.subject);
        let off = matches!(enforcement, Enforcement::Off | Enforcement::AtGateway);
        match permission::verdict(self.rules, self.asking.about, answer, self.lookup) {
            None => Access::NotAsked,
            Some(Verdict::Allowed) => Access::Allowed,
            Some(Verdict::Refused) if off => Access::NotEnforced,
            Some(Verdict::Refused) => Access::Refused,
            Some(Verdict::Unknown) => Access::ByIdentity,
        }
    }

    fn because(&self, reason: &Reason) -> Option<String> {
        let text = |param: &Param| match param {
            Param::Text(symbol) => Some(self.lookup.text(*symbol)),
            _ => None,
        };
        let [first, key, want, _] = &reason.params;
        if reason.code == Code::SkipFact && text(first) == Some(fact::KRI) {
            let kri = text(key)?.parse::<Kri>().ok()?;
            return Some(format!("is for the proxy {}", kri.readable()));
        }
        match reason.code {
            Code::SkipTag | Code::SkipTagAbsent if text(key) == Some(RULE_MATCHES_TAG) => {
                Some("only for requests that a rule of its route takes".to_owned())
            }
            Code::SkipTag | Code::SkipTagAbsent if text(want) == Some("") => {
                Some("is about real resources, which it refers to by labels".to_owned())
            }
            _ => None,
        }
    }

    fn remarks(&self) -> Vec<Phrase> {
        let Asking { subject, about, depth, .. } = self.asking;
        let remarks = remarks::of(self.rules, self.lookup, subject, about, depth);
        remarks.into_iter().map(|remark| Phrase::of_fault(remark.fault, remark.parameters, remark.text)).collect()
    }
}

/// Groups in the making.
#[derive(Default)]
struct Groups {
    all: Vec<Group>,
    keys: Vec<String>,
    known: HashMap<Alike, Vec<Report>>,
}

/// Pairs that no policy can tell apart.
#[derive(PartialEq, Eq, Hash)]
enum Alike {
    /// A class of proxies.
    Whole(usize),
    /// A class of proxies and the number of the called one.
    Calling(usize, usize),
    /// The number of the inbound, the cells of all that is asked about its callers, and what lists say of them.
    Called(usize, Vec<usize>, Vec<Fit>),
    /// The number of the called one, and that of the caller.
    Leaving(usize, usize),
}

impl Groups {
    /// Adds a pair; pairs that are alike have the same reports.
    fn add(&mut self, pair: String, alike: Alike, explain: impl FnOnce() -> Vec<Report>) {
        let reports = self.known.entry(alike).or_insert_with(explain);
        if reports.is_empty() {
            return;
        }
        let key = same_answer_key(reports);
        match self.keys.iter().position(|known| *known == key).and_then(|place| self.all.get_mut(place)) {
            Some(group) => group.pairs.push(pair),
            None => {
                self.keys.push(key);
                self.all.push(Group { pairs: vec![pair], reports: reports.clone() });
            }
        }
    }
}
