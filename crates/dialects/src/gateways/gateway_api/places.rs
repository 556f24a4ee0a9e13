//! From a target to the places at which its policies are looked for, in the order that a kind says.
//!
//! ```text
//! way       rule and route, then those that delegate to them │ host │ gateway
//! listener  listener, set, gateway                            one level, or scopes of their own on plain ports
//! backend   port, whole
//! ```

mod about;

use std::cell::RefCell;

use smallvec::SmallVec;
use smol_str::SmolStr;
use upheld_engine::hierarchy::{
    Effective, Entry, EntrySource, LevelJoin, Listed, OwnLayer, Question, Section, Site, Usable,
};
use upheld_engine::{Hierarchy, HierarchyKind, Levels, ObjectId, Place, PolicyId, Ruling, Scratch, Silent, ask};
use upheld_model::{Code, Lookup, NamespaceLabels, Object, Reason, Sym};

use super::attachments::Reader;
use super::controller::System;
use super::facts::{Reference, RuleFacts};
use super::gateways::{GatewayKind, Network};
use super::scopes::{
    BACKEND, BACKEND_REFERENCE, GATEWAY, HOST, LISTENER, ONLY_BACKEND_REFERENCE, PLAIN, PlaceName, ROUTE, RULE, TLS,
};
use super::topology::{Gateway, Listener, Outcome, Step, Way};
use crate::gateways::{envoy_gateway, kgateway};

/// A question about a target of gateways, under a kind of policy.
#[derive(Debug)]
pub struct Asked<'s> {
    network: Network<'s>,
    kind: GatewayKind<'s>,
    reader: Option<Reader>,
    /// Texts of the question.
    pub lookup: Lookup<'s>,
    sites: SmallVec<[Planned<'s>; 8]>,
    levels: SmallVec<[LevelJoin; 2]>,
    omits: &'static [&'static str],
    omits_in: Option<(u8, &'static [&'static str])>,
    /// The listener in question, by its gateway: some policies cannot be used at all listeners.
    listener: Option<(&'s Gateway, &'s Listener)>,
    /// Who runs the gateway, if there is one and that is known.
    run_by: Option<System>,
    /// Why no policy of the kind counts here: somebody else runs the gateway.
    foreign: Option<Reason>,
    /// Whether policies count that have no effect where they are attached.
    only_effective: bool,
}

/// Policies of a question whose use is remembered.
const REMEMBERED: usize = 8;

#[derive(Debug)]
struct Planned<'s> {
    scope: u8,
    level: u16,
    section: u8,
    spot: PlaceTarget<'s>,
    looks: PlannedLooks<'s>,
}

/// The namespaces whose policies may select an object: its own, and perhaps the global one.
#[derive(Clone, Copy, Debug)]
enum Namespaces {
    Own([Sym; 1]),
    WithGlobal([Sym; 2]),
}

impl Namespaces {
    fn as_slice(&self) -> &[Sym] {
        match self {
            Self::Own(namespaces) => namespaces,
            Self::WithGlobal(namespaces) => namespaces,
        }
    }
}

/// What a place is a place of.
#[derive(Clone, Debug, Default)]
pub struct PlaceTarget<'s> {
    /// The object.
    pub object: Option<&'s Object>,
    /// The section of it that is meant.
    pub section: Option<SmolStr>,
    /// The rule of a route that refers to policies, or that says something itself, by its number.
    pub rule: Option<usize>,
}

#[derive(Debug)]
enum PlannedLooks<'s> {
    Object { section: Option<Sym>, namespaces: Namespaces, around: NamespaceLabels<'s> },
    Listed(Vec<Listed>),
    Own(&'s [OwnLayer]),
}

impl<'s> Network<'s> {
    /// Nothing, under a kind; places are added to it.
    pub fn under(self, kind: GatewayKind<'s>) -> Asked<'s> {
        Asked {
            network: self,
            kind,
            reader: Reader::of(self.snapshot.text(kind.policies.kind().reads)),
            lookup: self.snapshot.lookup(),
            sites: SmallVec::new(),
            levels: SmallVec::new(),
            omits: &[],
            omits_in: None,
            listener: None,
            run_by: None,
            foreign: None,
            only_effective: false,
        }
    }
}

impl<'s> Asked<'s> {
    /// As whoever runs a gateway has it.
    fn run_as(mut self, gateway: &Gateway) -> Self {
        self.run_by = gateway.controller.map(|controller| controller.system);
        self.foreign = self.network.foreign(self.kind, gateway);
        self
    }

    /// What the rules of a way say themselves, if this kind has anything to do with it.
    fn rules(mut self, way: &Way) -> Self {
        if !self.has_own_words() {
            return self;
        }
        let deepest = if self.choices().levels == Levels::None { 1 } else { usize::MAX };
        for (level, step) in (0..).zip(way.chain.iter().rev().take(deepest)) {
            let own = self.rule(step).map_or(&[][..], |rule| match self.reader {
                Some(Reader::EnvoyGateway) => &rule.own_of_envoy,
                _ => &rule.own,
            });
            if !own.is_empty() {
                self.push(RULE, level, 0, self.spot_of(step), PlannedLooks::Own(own));
            }
        }
        self
    }

    /// A route at the end of a chain of delegations, and the routes that delegate to it.
    #[must_use]
    pub fn route(mut self, chain: &[Step]) -> Self {
        let deepest = if self.choices().levels == Levels::None { 1 } else { usize::MAX };
        for (depth, step) in (0..).zip(chain.iter().rev().take(deepest)) {
            let facts = self.network.topology().facts(step.route);
            let word = facts.and_then(|facts| self.network.snapshot.symbols().get(facts.inheritance_word));
            let inheritance = facts.map(|facts| facts.inheritance).unwrap_or_default();
            self.levels.push(LevelJoin { inheritance, word });
            let rule = self.rule(step);
            for (section, place) in self.places(ROUTE, None) {
                let level = self.level(depth);
                match (place, rule) {
                    (PlaceName::Reference, Some(rule)) => {
                        self.refer(ROUTE, level, section, step, &rule.refers);
                    }
                    (PlaceName::Rule, Some(RuleFacts { name: Some(name), .. })) => {
                        self.look(ROUTE, level, section, step.route, Some(name));
                    }
                    (PlaceName::Route, _) => self.look(ROUTE, level, section, step.route, None),
                    _ => {}
                }
            }
        }
        self
    }

    /// The host that a listener owns.
    #[must_use]
    pub fn host(self, gateway: &'s Gateway, listener: &'s Listener) -> Self {
        self.run_as(gateway).around_listener(HOST, gateway, listener)
    }

    /// All hosts behind a listener.
    #[must_use]
    pub fn behind(self, gateway: &'s Gateway, listener: &'s Listener) -> Self {
        let mut asked = self.run_as(gateway);
        asked.listener = Some((gateway, listener));
        asked.around_listener(GATEWAY, gateway, listener)
    }

    /// Any port of a gateway.
    #[must_use]
    pub fn port(self, gateway: &Gateway) -> Self {
        let mut asked = self.run_as(gateway);
        for (section, place) in asked.places(LISTENER, None) {
            if place == PlaceName::Gateway {
                asked.look(LISTENER, 0, section, gateway.object, None);
            }
        }
        asked
    }

    /// What a reference of a rule to a backend refers to.
    #[must_use]
    pub fn backend_reference(mut self, step: &Step, number: usize) -> Self {
        let Some(rule) = self.rule(step) else { return self };
        let scope = if rule.backends.len() > 1 { BACKEND_REFERENCE } else { ONLY_BACKEND_REFERENCE };
        // How requests are passed on is a matter of the rule: at one of its backends, the controller does not look at it.
        if matches!(self.reader, Some(Reader::Kgateway(_))) {
            self.omits_in = Some((scope, &kgateway::FORWARDING));
        }
        for (section, place) in self.places(BACKEND_REFERENCE, None) {
            if let (Some(references), PlaceName::Reference) = (rule.backends.get(number), place) {
                self.refer(scope, 0, section, step, references);
            }
        }
        if let Some(own) = rule.backends_own.get(number).filter(|own| !own.is_empty() && self.has_own_words()) {
            self.push(RULE, 0, 0, self.spot_of(step), PlannedLooks::Own(own));
        }
        self
    }

    fn at_backend(mut self, backend: ObjectId, port: Option<&str>) -> Self {
        for (section, place) in self.places(BACKEND, None) {
            let level = self.level(u16::from(section));
            match (place, port) {
                (PlaceName::Port, Some(port)) => self.look(BACKEND, level, section, backend, Some(port)),
                (PlaceName::Backend, _) => self.look(BACKEND, level, section, backend, None),
                _ => {}
            }
        }
        self
    }

    fn around_listener(mut self, scope: u8, gateway: &Gateway, listener: &Listener) -> Self {
        let protocol = if listener.is_plain() { PLAIN } else { TLS };
        for (section, place) in self.places(scope, Some(protocol)) {
            let level = self.level(0);
            match place {
                PlaceName::Listener => self.look(scope, level, section, listener.owner, Some(&listener.name)),
                PlaceName::Set if listener.owner != gateway.object => {
                    self.look(scope, level, section, listener.owner, None);
                }
                PlaceName::Gateway => self.look(scope, level, section, gateway.object, None),
                _ => {}
            }
        }
        self
    }

    /// Fields about passing requests on mean nothing where a rule does not.
    fn passing_on(mut self, outcome: &Outcome) -> Self {
        if !matches!(outcome, Outcome::Forward | Outcome::Unserved(_)) {
            self.omits = &kgateway::FORWARDING;
        }
        self
    }

    /// Whether what rules say themselves is about the same things as policies of this kind, and told in its words here.
    fn has_own_words(&self) -> bool {
        let Some(system) = self.network.system(self.kind).filter(|_| self.network.has_own_words(self.kind)) else {
            return false;
        };
        match self.run_by {
            Some(System::Other) | None => self.network.is_meant(system),
            Some(runs) => runs == system,
        }
    }

    /// As requests meet it: without policies that are attached, and reported so, where they have no effect.
    #[must_use]
    pub fn in_effect(mut self) -> Self {
        self.only_effective = true;
        self
    }

    fn choices(&self) -> &'s HierarchyKind {
        self.kind.policies.kind()
    }

    /// The places of a scope that the kind names, numbered from the most specific on.
    fn places(&self, scope: u8, protocol: Option<u8>) -> impl Iterator<Item = (u8, PlaceName)> + use<'s> {
        let meant = self
            .choices()
            .places
            .iter()
            .filter(move |choice| choice.scope == scope && choice.when.is_none_or(|when| Some(when) == protocol));
        (0..).zip(meant.flat_map(|choice| &choice.places).filter_map(|place| PlaceName::of(*place)))
    }

    /// What is known of the rule of a step.
    fn rule(&self, step: &Step) -> Option<&'s RuleFacts> {
        self.network.topology().facts(step.route)?.rules.get(step.rule)
    }

    /// The number of a level: where every place is one, the next; else that of a delegation.
    fn level(&self, delegation: u16) -> u16 {
        match self.choices().levels {
            Levels::Places => self.sites.iter().map(|site| site.level + 1).max().unwrap_or(0),
            Levels::Delegations | Levels::None => delegation,
        }
    }

    /// Looks for policies of an object, or of a section of it.
    fn look(&mut self, scope: u8, level: u16, number: u8, object: ObjectId, section: Option<&str>) {
        if let Some(object) = self.network.object(object) {
            self.look_at(scope, level, number, object, section);
        }
    }

    fn look_at(&mut self, scope: u8, level: u16, number: u8, object: &'s Object, section: Option<&str>) {
        let global = self.network.gateways.settings.policies.global_namespace.as_deref();
        let global = global.filter(|_| matches!(self.reader, Some(Reader::Kgateway(_))));
        let global = global.and_then(|name| self.network.snapshot.symbols().get(name));
        let namespaces = match global.filter(|global| *global != object.scope) {
            Some(global) => Namespaces::WithGlobal([object.scope, global]),
            None => Namespaces::Own([object.scope]),
        };
        let around = if self.kind.policies.selects_elsewhere() {
            self.network.around(object.scope)
        } else {
            NamespaceLabels::default()
        };
        let looks = PlannedLooks::Object { section: section.map(|name| self.lookup.symbol(name)), namespaces, around };
        let spot = PlaceTarget { object: Some(object), section: section.map(SmolStr::new), rule: None };
        self.push(scope, level, number, spot, looks);
    }

    fn spot_of(&self, step: &Step) -> PlaceTarget<'s> {
        PlaceTarget { object: self.network.object(step.route), section: None, rule: Some(step.rule) }
    }

    /// Policies that filters name, in the order of the filters; names are looked up in the namespace of the route.
    fn refer(&mut self, scope: u8, level: u16, section: u8, step: &Step, references: &[Reference]) {
        let snapshot = self.network.snapshot;
        let Some(namespace) = self.network.object(step.route).map(|route| route.scope) else { return };
        let (group, governs) = (snapshot.text(self.choices().group), snapshot.text(self.kind.kind.governs));
        let mut listed = Vec::new();
        for Reference { group: of, kind, name, position, at } in references {
            let name = snapshot.symbols().get(name).filter(|_| of == group && kind == governs);
            let entries = name.map_or(&[][..], |name| self.kind.policies.of_policy(namespace, name));
            listed.extend(entries.iter().map(|entry| Listed { entry: *entry, position: *position, at: *at }));
        }
        if !listed.is_empty() {
            self.push(scope, level, section, self.spot_of(step), PlannedLooks::Listed(listed));
        }
    }

    fn push(&mut self, scope: u8, level: u16, section: u8, spot: PlaceTarget<'s>, looks: PlannedLooks<'s>) {
        self.sites.push(Planned { scope, level, section, spot, looks });
    }

    /// Asks with the question in the words of the engine.
    pub fn with<T>(&self, ask: impl FnOnce(&Hierarchy, &Question<'_>) -> T) -> T {
        let sites: SmallVec<[Site<'_>; 8]> = self.sites.iter().filter_map(Planned::site).collect();
        // Asked more than once for each: to see what is alike, and to rank.
        let known: RefCell<SmallVec<[(PolicyId, Place, Usable); REMEMBERED]>> = RefCell::default();
        let usable = |entry: &Entry, place| {
            let find = |(policy, at, _): &&(PolicyId, Place, Usable)| *policy == entry.policy && *at == place;
            let found = known.borrow().iter().find(find).map(|(_, _, usable)| *usable);
            found.unwrap_or_else(|| {
                let usable = self.usable(entry, place);
                // A crowd is looked up again: to search all of it each time would take longer.
                if known.borrow().len() < REMEMBERED {
                    known.borrow_mut().push((entry.policy, place, usable));
                }
                usable
            })
        };
        let question = Question {
            sites: &sites,
            levels: &self.levels,
            omits: self.omits,
            omits_in: self.omits_in,
            usable: &usable,
        };
        ask(self.kind.policies, &question)
    }

    /// The kind that is asked.
    pub fn kind(&self) -> GatewayKind<'s> {
        self.kind
    }

    /// How the documents of the kind are read.
    pub fn reader(&self) -> Option<Reader> {
        self.reader
    }

    /// The gateways that are asked.
    pub fn network(&self) -> Network<'s> {
        self.network
    }

    /// What a place is a place of.
    pub fn spot(&self, place: Place) -> Option<&PlaceTarget<'s>> {
        self.sites.get(place.0 as usize).map(|site| &site.spot)
    }

    /// What policies at a place are attached to: an object, or a section of it.
    pub fn target_at(&self, place: Place) -> Option<(ObjectId, Option<&str>)> {
        let PlaceTarget { object, section, .. } = self.spot(place)?;
        let object = (*object)?;
        Some((self.network.snapshot.object(object.kind, object.scope, object.name)?, section.as_deref()))
    }

    /// The scope and the level of a place.
    pub fn place(&self, place: Place) -> Option<(u8, u16)> {
        self.sites.get(place.0 as usize).map(|site| (site.scope, site.level))
    }

    /// What holds.
    pub fn effective(&self) -> Effective {
        self.with(|hierarchy, question| ask(hierarchy, question, &mut Scratch::default(), &mut Silent))
    }

    /// What holds, with what became of every policy that is attached.
    pub fn ruling(&self) -> Ruling<Hierarchy> {
        self.with(Ruling::matched)
    }

    /// What is attached, in the order of folding.
    fn members(&self) -> Vec<&'s Entry> {
        let policies = self.kind.policies;
        self.effective().order.iter().filter_map(|member| policies.entry(member.entry)).collect()
    }

    /// How each level is joined, by the word that users have for it.
    pub fn joins(&self) -> impl Iterator<Item = &'s str> {
        self.levels.iter().filter_map(|join| join.word).map(|word| self.network.snapshot.text(word))
    }

    /// Why a policy that selects the object of a place has no effect there: nobody grants it.
    fn not_granted(&self, entry: &Entry, place: Place) -> Option<Reason> {
        if !self.kind.policies.selects_elsewhere() {
            return None;
        }
        self.network.not_granted(self.kind, entry.namespace, self.spot(place)?.object?)
    }

    fn usable(&self, entry: &Entry, place: Place) -> Usable {
        if let Some(reason) = self.foreign.or_else(|| self.not_granted(entry, place)) {
            return Usable::Off(reason);
        }
        match (self.reader, self.listener) {
            (Some(Reader::Kgateway(policy)), _) => {
                let is_host = self.place(place).is_some_and(|(scope, _)| scope == HOST);
                if self.only_effective && is_host && policy.is_about_connections() {
                    return Usable::Off(Reason::new(Code::OffPlainListener, &[]));
                }
                kgateway::usable(self.network, policy, entry)
            }
            (Some(Reader::EnvoyGateway), Some(listener)) => match self.target_at(place) {
                Some(target) => envoy_gateway::usable(self.network, self.kind, target, listener),
                None => Usable::Yes,
            },
            (Some(Reader::EnvoyGateway | Reader::Stanzas | Reader::Whole) | None, _) => Usable::Yes,
        }
    }
}

impl Planned<'_> {
    fn site(&self) -> Option<Site<'_>> {
        let looks = match &self.looks {
            PlannedLooks::Object { section, namespaces, around } => EntrySource::Object {
                object: self.spot.object?,
                section: section.zip(self.spot.section.as_deref()).map(|(symbol, text)| Section { symbol, text }),
                namespaces: namespaces.as_slice(),
                around: *around,
            },
            PlannedLooks::Listed(listed) => EntrySource::Listed(listed),
            PlannedLooks::Own(own) => EntrySource::Own(own),
        };
        Some(Site { scope: self.scope, level: self.level, section: self.section, looks })
    }
}
