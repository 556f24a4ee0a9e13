//! The statements of a policy, by what they are about.

use std::sync::Arc;

use upheld_engine::{FacetChoice, Payload};
use upheld_model::layers::{Mark, Reach, Statement};
use upheld_model::tree::{Kind, Value};
use upheld_model::{Config, Content, Diagnostics, Facet, Symbols};

use super::parsed::{Item, Parsed, Route};
use super::{RULE_MATCHES_TAG, conf, marks, reach, warnings};
use crate::kuma::SERVICE_TAGS;
use crate::kuma::edition::Edition;
use crate::kuma::http_match;
use crate::kuma::target_ref::{TargetKind, TargetRef};

/// Makes the statements of one policy.
pub(super) struct Statements<'a, 't, 'k> {
    pub(super) parsed: &'a Parsed<'t, 'k>,
    pub(super) edition: Edition,
    pub(super) routes: &'a [Route<'t, 'k>],
}

type Tags<'t> = Vec<(&'t str, String)>;

impl<'t> Statements<'_, 't, '_> {
    /// All of them; what has no effect is reported.
    pub(super) fn read(&self, symbols: &mut Symbols, found: &mut Diagnostics) -> Vec<Statement> {
        let mut statements = Vec::new();
        for choice in &self.parsed.merge.facets {
            match choice.facet {
                Facet::Whole => statements.extend(self.whole(choice, symbols)),
                Facet::Objects => self.objects(choice, symbols, &mut statements),
                Facet::Services => self.services(choice, symbols, &mut statements),
                Facet::Clients => self.clients(choice, symbols, &mut statements),
                Facet::Inbound => self.inbound(choice, symbols, &mut statements, found),
            }
        }
        let fields = self.parsed.merge.facets.iter().flat_map(|choice| [Some(choice.field), choice.instead]);
        let fields = fields.flatten().map(|field| symbols.text(field));
        let read: Vec<&str> = fields.chain(["targetRef"]).collect();
        warnings::unread(self.parsed, &read, self.edition, symbols, found);
        statements
    }

    fn whole(&self, choice: &FacetChoice, symbols: &Symbols) -> Option<Statement> {
        let value = self.field(symbols.text(choice.field))?;
        let config = self.prepared(&Config::of(self.parsed.source, value));
        Some(self.statement(Facet::Whole, 0, value, Reach::Everything, Vec::new(), config))
    }

    fn objects(&self, choice: &FacetChoice, symbols: &mut Symbols, statements: &mut Vec<Statement>) {
        // In Kuma 2, policies that are attached through a route are about services that are known by tags.
        if self.edition != Edition::V3 && self.parsed.top.kind == TargetKind::MeshHTTPRoute {
            return;
        }
        for (number, item) in self.parsed.to.iter().enumerate() {
            let reference = &item.reference;
            if !reference.kind.is_resource() {
                continue;
            }
            let reach = reach::objects(reference, &self.parsed.meta, self.edition, symbols);
            let marks = marks::of_destination(reference, self.edition, symbols);
            let config = self.item_config(choice, item.value, Some(reference), symbols);
            statements.push(self.statement(Facet::Objects, number, item.value, reach, marks, config));
        }
    }

    fn services(&self, choice: &FacetChoice, symbols: &mut Symbols, statements: &mut Vec<Statement>) {
        let about_route = |item: &Item<'_>| item.reference.kind == TargetKind::MeshHTTPRoute;
        if self.parsed.to.iter().any(about_route) {
            return;
        }
        let mut push = |number: usize, item: &Item<'t>, tags: &Tags<'_>| {
            let config = self.item_config(choice, item.value, Some(&item.reference), symbols);
            let reach = tags_reach(tags, symbols);
            statements.push(self.statement(Facet::Services, number, item.value, reach, Vec::new(), config));
        };
        if self.parsed.top.kind == TargetKind::MeshHTTPRoute {
            for tags in self.rules_of_route() {
                for (number, item) in self.parsed.to.iter().enumerate() {
                    push(number, item, &tags);
                }
            }
            return;
        }
        for (number, item) in self.parsed.to.iter().enumerate() {
            if let Some(tags) = item.reference.as_tags() {
                push(number, item, &owned(&tags));
            }
        }
    }

    /// Every rule of the route as tags: its target and the name of its matches. Of several routes the first one counts, as for
    /// whom the policy is attached to; the original takes the last one here.
    fn rules_of_route(&self) -> Vec<Tags<'t>> {
        let same = |route: &&Route<'_, '_>| {
            route.meta.mesh == self.parsed.meta.mesh && Some(route.meta.display_name()) == self.parsed.top.name
        };
        let found = match self.edition {
            Edition::V2Cliques => self.routes.iter().rfind(same),
            Edition::V2 | Edition::V3 => self.routes.iter().find(same),
        };
        let Some(route) = found else { return Vec::new() };
        let mut rules = Vec::new();
        for Item { value, reference } in &route.to {
            let everything = matches!(reference.kind, TargetKind::Mesh | TargetKind::MeshSubset);
            let service = (!everything).then(|| (SERVICE_TAGS[0], reference.name.unwrap_or_default().to_owned()));
            let item = conf::prepared(&Config::of(route.source, *value), route.defaults, self.edition);
            for rule in item.get("rules").map_or(&[][..], |rules| rules.items()) {
                let nothing = Config::made(Content::Null);
                let hash = http_match::hash(rule.get("matches").unwrap_or(&nothing));
                rules.push(service.iter().cloned().chain([(RULE_MATCHES_TAG, hash)]).collect());
            }
        }
        rules
    }

    fn clients(&self, choice: &FacetChoice, symbols: &mut Symbols, statements: &mut Vec<Statement>) {
        for (number, item) in self.parsed.from.iter().enumerate() {
            let Some(tags) = item.reference.as_tags() else { continue };
            let reach = tags_reach(&owned(&tags), symbols);
            let config = self.item_config(choice, item.value, Some(&item.reference), symbols);
            statements.push(self.statement(Facet::Clients, number, item.value, reach, Vec::new(), config));
        }
    }

    fn inbound(
        &self,
        choice: &FacetChoice,
        symbols: &mut Symbols,
        statements: &mut Vec<Statement>,
        found: &mut Diagnostics,
    ) {
        let own = self.field(symbols.text(choice.field)).filter(|items| items.items().next().is_some());
        let instead = choice.instead.and_then(|field| self.field(symbols.text(field)));
        let Some(items) = own.or(instead) else { return };
        for (number, item) in items.items().enumerate() {
            let config = self.item_config(choice, item, None, symbols);
            let mut written = item.get("matches").filter(|_| own.is_some());
            if !marks::has_callers(choice, symbols)
                && let Some(matches) = written.take()
            {
                warnings::no_callers(self.parsed, matches, symbols, found);
            }
            let matches: Vec<Arc<Config>> =
                (written.into_iter()).flat_map(Value::items).map(|one| Config::of(self.parsed.source, one)).collect();
            if matches.is_empty() {
                let (reach, marks) = (Reach::Callers(Vec::new()), marks::of_all_callers(choice, symbols));
                statements.push(self.statement(Facet::Inbound, number, item, reach, marks, config));
                continue;
            }
            for one in matches {
                let reach = Reach::Callers(reach::callers(&one, symbols));
                let marks = marks::of_callers(&one, symbols);
                statements.push(self.statement(Facet::Inbound, number, item, reach, marks, config.clone()));
            }
        }
    }

    fn statement(
        &self,
        facet: Facet,
        number: usize,
        value: Value<'_>,
        reach: Reach,
        marks: Vec<Mark>,
        config: Arc<Config>,
    ) -> Statement {
        let item = u32::try_from(number).unwrap_or(u32::MAX);
        Statement { facet, item, reach, marks, config, at: self.parsed.at(value) }
    }

    fn field(&self, name: &str) -> Option<Value<'t>> {
        let spec = self.parsed.resource.spec();
        spec.and_then(|spec| spec.get(name)).filter(|value| value.kind() != Kind::Null)
    }

    fn prepared(&self, config: &Arc<Config>) -> Arc<Config> {
        conf::prepared(config, &self.parsed.merge.defaults, self.edition)
    }

    fn item_config(
        &self,
        choice: &FacetChoice,
        item: Value<'_>,
        reference: Option<&TargetRef<'_>>,
        symbols: &Symbols,
    ) -> Arc<Config> {
        let source = self.parsed.source;
        let present = |name: &str| item.get(name).filter(|value| value.kind() != Kind::Null);
        let config = match choice.payload {
            Payload::Field(field) => present(symbols.text(field)).map(|value| Config::of(source, value)),
            Payload::FirstOf(field) => {
                let first = present(symbols.text(field)).and_then(|list| list.items().next());
                match (first, reference.and_then(|reference| reference.value)) {
                    (Some(first), _) => Some(Config::of(source, first)),
                    (None, Some(target)) => Some(conf::to_itself(&Config::of(source, target))),
                    (None, None) => None,
                }
            }
            Payload::Rest => {
                let whole = Config::of(source, item);
                let kept = whole.entries().iter().filter(|(key, _)| !matches!(key.as_str(), "targetRef" | "matches"));
                Some(Arc::new(Config { content: Content::Map(kept.cloned().collect()), at: whole.at }))
            }
        };
        self.prepared(&config.unwrap_or_else(|| Config::made(Content::Map(Vec::new()))))
    }
}

fn owned<'t>(tags: &[(&'t str, &str)]) -> Tags<'t> {
    tags.iter().map(|(key, value)| (*key, (*value).to_owned())).collect()
}

fn tags_reach(tags: &Tags<'_>, symbols: &mut Symbols) -> Reach {
    Reach::Tags(tags.iter().map(|(key, value)| (symbols.intern(key), symbols.intern(value))).collect())
}
