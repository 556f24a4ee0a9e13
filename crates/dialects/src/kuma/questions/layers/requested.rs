//! A request that a proxy makes: which rule of its routes takes it, where it goes, and what holds on the way.
//!
//! Policies may be about a route: those that name it in `to`, and those that are attached through it. What they say counts
//! for the requests that a rule of the route takes, in place of what is said about the service.

use upheld_engine::merge::{About, Question, ResolvedReach, Subject, Target, chain};
use upheld_engine::{EntryId, Scratch, Silent, ask};
use upheld_model::{Config, Content, Facet, Object, TagSet};
use upheld_report::{Outcome, Report, Sentence, Verdict, brief};

use super::{Asking, Layers, Member, outlets};
use crate::kuma::http_match::{self, fits, hash_of_rule, precedence};
use crate::kuma::layered::{ROUTE, RULE_MATCHES_TAG};
use crate::kuma::rules::{Rules, kinds, origin_by_matches};
use crate::question::HttpRequest;

/// Kinds that are routes themselves: what they say is what takes a request, not what holds for it.
const ROUTES: [&str; 2] = [ROUTE, "MeshTCPRoute"];

/// How a service is called: as a resource, or by its tags.
enum Way {
    Resource(Target, String),
    Service(TagSet),
}

/// What becomes of a request.
struct Routed {
    /// All rules that were looked at.
    rules: usize,
    taken: Option<Taken>,
}

/// The rule that takes a request.
struct Taken {
    /// Where it stands among all rules of all routes.
    place: String,
    /// Where it stands in its route, from one.
    number: usize,
    /// The name of its matches.
    hash: String,
    /// The route that has the last word about it.
    route: String,
    target: Option<Target>,
    /// What it says.
    rule: serde_json::Value,
    backends: Vec<String>,
}

impl Layers<'_> {
    /// What holds for a request, with the rule that takes it.
    pub(super) fn requesting(
        &self,
        proxy: &Object,
        source: &Member,
        called: &Member,
        request: &HttpRequest,
    ) -> Vec<Report> {
        let resources = self.targets_of(called).into_iter();
        let resources = resources.map(|target| Way::Resource(target, self.called_label(called, target)));
        let ways: Vec<Way> = resources.chain(self.service_of(called).map(Way::Service)).collect();
        let routes = kinds(self.snapshot, self.connection.mesh).into_iter().find(|rules| rules.name() == ROUTE);
        let mut all = Vec::new();
        for outlet in outlets(proxy) {
            let (part, place) = self.outlet(proxy, outlet);
            for way in &ways {
                let to = match way {
                    Way::Resource(_, label) => label,
                    Way::Service(_) => &called.label,
                };
                let subject = part.map_or_else(|| Subject::of(proxy), |part| Subject::part(proxy, part));
                let routed = routes.map(|routes| self.routed(&routes, subject, way, request, to));
                let taken = routed.as_ref().and_then(|routed| routed.taken.as_ref());
                for rules in &self.rules {
                    let ask = |about: About<'_>, to: &str| {
                        let asking = Asking::new(proxy, about, Some(&source.label), Some(to), &place);
                        self.ask::<Report>(rules, Asking { part, ..asking })
                    };
                    let answer = match (way, taken.filter(|_| !ROUTES.contains(&rules.name()))) {
                        (way, None) => way.about(rules, |about| ask(about, to)),
                        (Way::Resource(target, _), Some(taken)) => {
                            let on_route = taken.target.filter(|route| is_named(rules, proxy, *route));
                            let chain = chain(on_route.unwrap_or(*target), &rules.surroundings());
                            ask(About::Targets(&chain), &taken.label(to))
                        }
                        (Way::Service(tags), Some(taken)) => {
                            let tags = self.with_rule(tags, &taken.hash);
                            ask(About::Service(&tags), &taken.label(to))
                        }
                    };
                    all.extend(match &routed {
                        Some(routed) if rules.name() == ROUTE => answer.map(|report| routed.tell(report, request)),
                        _ => answer,
                    });
                }
            }
        }
        all
    }

    fn routed(&self, rules: &Rules<'_>, subject: Subject<'_>, way: &Way, request: &HttpRequest, to: &str) -> Routed {
        let answer = way.about(rules, |about| {
            Some(ask(rules.merge, &Question { subject, about }, &mut Scratch::default(), &mut Silent))
        });
        let Some(answer) = answer else { return Routed { rules: 0, taken: None } };
        let confs: Vec<_> = answer.results.iter().filter_map(upheld_engine::merge::Merged::config).collect();
        let mut rules_of = Vec::new();
        for (group, conf) in confs.iter().enumerate() {
            let prefix = if confs.len() > 1 { format!("[{group}].") } else { String::new() };
            let listed = conf.get("rules").map_or(&[][..], |rules| rules.items());
            rules_of.extend(listed.iter().enumerate().map(|(place, rule)| (format!("{prefix}rules[{place}]"), rule)));
        }
        let everything = Config::made(Content::Null);
        let mut matches: Vec<(&Config, usize)> = Vec::new();
        for (number, (_, rule)) in rules_of.iter().enumerate() {
            match rule.get("matches").map_or(&[][..], |matches| matches.items()) {
                [] => matches.push((&everything, number)),
                listed => matches.extend(listed.iter().map(|one| (&**one, number))),
            }
        }
        matches.sort_by_key(|(one, _)| precedence(one));
        let written = request.path.as_deref().unwrap_or("/");
        let (path, query) = written.split_once('?').unwrap_or((written, ""));
        let query: Vec<(&str, &str)> =
            query.split('&').map(|pair| pair.split_once('=').unwrap_or((pair, ""))).collect();
        let seen = http_match::Request {
            path,
            query: &query,
            method: request.method.as_deref().unwrap_or("GET"),
            headers: &request.headers,
        };
        let chosen = matches.iter().find(|(one, _)| fits(one, seen)).and_then(|(_, number)| rules_of.get(*number));
        let worst_first: Vec<EntryId> = answer.entries.iter().rev().copied().collect();
        let taken = chosen.map(|(place, rule)| self.taken(rules, &worst_first, place, rule, to));
        Routed { rules: rules_of.len(), taken }
    }

    fn taken(&self, rules: &Rules<'_>, worst_first: &[EntryId], place: &str, rule: &Config, to: &str) -> Taken {
        let hash = hash_of_rule(rule);
        let owner = origin_by_matches(rules, worst_first).into_iter().find(|(known, _)| *known == hash);
        let entry = owner.and_then(|(_, entry)| rules.merge.entry(entry));
        let policy = entry.and_then(|entry| self.snapshot.policy(entry.policy));
        let written = entry.and_then(|entry| entry.config.get("rules")).map_or(&[][..], |rules| rules.items());
        let number = written.iter().position(|one| hash_of_rule(one) == hash).unwrap_or_default() + 1;
        let object = policy.and_then(|policy| {
            let kind = self.snapshot.symbols().get(ROUTE)?;
            self.snapshot.object(kind, policy.scope, policy.name)
        });
        Taken {
            place: place.to_owned(),
            number,
            hash,
            route: policy.map_or_else(String::new, |policy| self.snapshot.text(policy.title).to_owned()),
            target: object.map(Target::whole),
            rule: serde_json::to_value(rule).unwrap_or_default(),
            backends: backends(rule, to),
        }
    }

    /// The tags of a service with those of a rule that leads to it.
    fn with_rule(&self, tags: &TagSet, hash: &str) -> TagSet {
        let symbols = self.snapshot.symbols();
        let rule = symbols.get(RULE_MATCHES_TAG).zip(symbols.get(hash)).map(|(key, value)| (key, Some(value)));
        TagSet::new(tags.as_slice().iter().map(|tag| (tag.key, tag.value)).chain(rule).collect::<Vec<_>>())
    }
}

impl Way {
    fn about<T>(&self, rules: &Rules<'_>, ask: impl FnOnce(About<'_>) -> Option<T>) -> Option<T> {
        match self {
            Self::Resource(target, _) => ask(About::Targets(&chain(*target, &rules.surroundings()))),
            Self::Service(tags) => ask(About::Service(tags)),
        }
    }
}

impl Taken {
    fn label(&self, to: &str) -> String {
        format!("{to} by rule {} of {}", self.number, self.route)
    }
}

impl Routed {
    /// The report about routes, for this request alone.
    fn tell(&self, mut report: Report, request: &HttpRequest) -> Report {
        let about = report.about.what.clone();
        let method = request.method.as_deref().unwrap_or("GET");
        let request = format!("{method} {}", request.path.as_deref().unwrap_or("/"));
        match &self.taken {
            Some(Taken { place, number, route, rule, backends, .. }) => {
                let inside =
                    |path: &str| path.strip_prefix(place.as_str()).is_some_and(|rest| rest.starts_with(['.', '[']));
                report.fields.retain(|field| inside(&field.path));
                report.result = rule.clone();
                report.summary = backends.join(", ");
                report.headline = Sentence::TakenByRule {
                    about,
                    request,
                    rule: *number,
                    route: route.clone(),
                    backends: backends.clone(),
                }
                .into();
                report
            }
            None => {
                let means = report.default.as_ref().map(|default| default.means.clone()).unwrap_or_default();
                Report {
                    outcome: Outcome::Default,
                    verdict: Verdict::Unset,
                    summary: brief(&[]),
                    policies: Vec::new(),
                    fields: Vec::new(),
                    result: serde_json::Value::Null,
                    headline: Sentence::TakenByNoRule { about, request, rules: self.rules, means }.into(),
                    ..report
                }
            }
        }
    }
}

/// Whether a policy that counts for a proxy names a route.
fn is_named(rules: &Rules<'_>, proxy: &Object, route: Target) -> bool {
    let slots: Vec<u32> = rules.matched(proxy).iter().map(|one| one.slot).collect();
    rules.entries(&slots, Facet::Objects).iter().filter_map(|id| rules.merge.entry(*id)).any(|entry| {
        match &entry.reach {
            ResolvedReach::Objects(_, found) => found.contains(&route),
            _ => false,
        }
    })
}

/// Where a rule sends requests, with shares where there are several; without backends they go to whom was called.
fn backends(rule: &Config, to: &str) -> Vec<String> {
    let listed = rule.get("default").and_then(|conf| conf.get("backendRefs")).map_or(&[][..], |list| list.items());
    let weight = |backend: &Config| backend.get("weight").and_then(|weight| number(weight)).unwrap_or(1);
    let total: u64 = listed.iter().map(|backend| weight(backend)).sum();
    let name = |backend: &Config| {
        let text = |name: &str| backend.get(name).and_then(|text| text.as_text());
        let kind = text("kind").unwrap_or_default().to_ascii_lowercase();
        let labels = backend.get("labels").map_or(&[][..], |labels| labels.entries());
        let labels = labels.iter().map(|(key, value)| format!("{key}={}", value.as_text().unwrap_or_default()));
        let called = text("name").map_or_else(|| labels.collect::<Vec<_>>().join(","), str::to_owned);
        let tags = backend.get("tags").map_or(&[][..], |tags| tags.entries());
        let tags: Vec<String> =
            tags.iter().map(|(key, value)| format!("{key}={}", value.as_text().unwrap_or_default())).collect();
        let tags = if tags.is_empty() { String::new() } else { format!(" ({})", tags.join(",")) };
        let port = backend.get("port").and_then(|port| number(port)).map(|port| format!("#{port}")).unwrap_or_default();
        let share = if listed.len() > 1 { format!(" ({} of {total})", weight(backend)) } else { String::new() };
        format!("{kind}/{called}{port}{tags}{share}")
    };
    if listed.is_empty() { vec![to.to_owned()] } else { listed.iter().map(|backend| name(backend)).collect() }
}

fn number(config: &Config) -> Option<u64> {
    match &config.content {
        Content::Number(text) => text.parse().ok(),
        _ => None,
    }
}
