//! What policies are attached to, and what they say, by how the documents of their kind are read. Each document is read by itself.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::HierarchyKind;
use upheld_engine::hierarchy::Column;
use upheld_model::tree::{Kind, Value};
use upheld_model::{
    AttachedLayer, Attachments, Config, Content, LabelWant, LayerContent, NodeRef, SourceId, Sym, Symbols,
    TargetNamespaces, TargetReference, TargetSelector,
};

use super::claim::{EXPERIMENTAL, GATEWAY, is_object};
use super::policy::{Extent, Side, Statement};
use super::resources::{Route, children, text};
use super::settings::ControllerSettings;
use crate::document::Resource;
use crate::gateways::{envoy_gateway, kgateway};

/// How the documents of a kind are read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Reader {
    /// As kgateway reads a kind of its own.
    Kgateway(kgateway::PolicyType),
    /// As Envoy Gateway reads its kinds.
    EnvoyGateway,
    /// Defaults, overrides, and what stands in neither.
    Stanzas,
    /// One whole.
    Whole,
}

impl Reader {
    /// The one of a word.
    pub fn of(word: &str) -> Option<Self> {
        Some(match word {
            "envoy-gateway" => Self::EnvoyGateway,
            "stanzas" => Self::Stanzas,
            "whole" => Self::Whole,
            word => Self::Kgateway(kgateway::PolicyType::read_as(word)?),
        })
    }
}

/// The fields of a spec that say what a policy is attached to.
pub(crate) const TARGETS: [&str; 4] = ["targetRef", "targetRefs", "targetSelector", "targetSelectors"];

/// Where a policy is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Written<'t> {
    /// Its file.
    pub(crate) source: SourceId,
    /// Its document.
    pub(crate) resource: Resource<'t>,
    /// Its namespace.
    pub(crate) namespace: &'t str,
}

impl<'t> Written<'t> {
    /// Where a value stands.
    pub(crate) fn at(self, value: Value<'_>) -> NodeRef {
        NodeRef { source: self.source, node: value.number() }
    }

    /// What it says.
    pub(crate) fn spec(self) -> Option<Value<'t>> {
        self.resource.spec()
    }
}

/// Reads a policy of a kind.
pub(crate) fn read(
    written: Written<'_>,
    kind: &HierarchyKind,
    settings: &ControllerSettings,
    symbols: &mut Symbols,
) -> Attachments {
    let mut attachments = Attachments { group: Some(kind.group), ..Attachments::default() };
    let Some(reader) = Reader::of(symbols.text(kind.reads)) else { return attachments };
    let Some(spec) = written.spec() else {
        attachments.layers = vec![silent(reader)];
        return attachments;
    };
    attachments.targets = targets(written, reader, spec, symbols);
    attachments.selectors = selectors(written, reader, spec, symbols);
    let numbers = kind.rank.rungs().iter().filter_map(|rung| match rung.column {
        Column::Number(name) => Some(name),
        _ => None,
    });
    attachments.numbers = numbers.filter_map(|name| Some((name, number(spec, symbols.text(name))?))).collect();
    match reader {
        Reader::Kgateway(subject) => {
            let (weight, problem) = kgateway::weight(subject, written.resource);
            attachments.weight = weight;
            attachments.problems.extend(problem);
            let fields = kgateway::fields::of(subject, written, settings);
            attachments.layers = vec![AttachedLayer { says: LayerContent::Fields(fields), meets: None }];
        }
        Reader::EnvoyGateway => attachments.layers = vec![envoy_gateway::layer(written, spec, kind, symbols)],
        Reader::Stanzas => {
            let stanzas = stanzas(written.source, spec);
            attachments.layers = stanzas.iter().map(|stanza| stanza.layer(kind.unsaid)).collect();
        }
        Reader::Whole => attachments.layers = vec![Statement::bare(whole(written, spec)).layer(kind.unsaid)],
    }
    attachments
}

/// What a policy without a spec says.
fn silent(reader: Reader) -> AttachedLayer {
    let says = match reader {
        Reader::Kgateway(_) => LayerContent::Fields(Vec::new()),
        Reader::EnvoyGateway | Reader::Stanzas | Reader::Whole => {
            LayerContent::Whole { config: Config::made(Content::Map(Vec::new())), merged: None }
        }
    };
    AttachedLayer { says, meets: None }
}

/// A whole number of a spec, by its path.
fn number(spec: Value<'_>, path: &str) -> Option<i64> {
    let path: Vec<&str> = path.split('.').collect();
    spec.at_path(&path).and_then(Value::as_integer)
}

/// `targetRefs` and its older form, which is one reference or a list.
fn targets(written: Written<'_>, reader: Reader, spec: Value<'_>, symbols: &mut Symbols) -> Vec<TargetReference> {
    let single = spec.get("targetRef").into_iter().flat_map(|value| match value.kind() {
        Kind::List => value.items().collect::<Vec<_>>(),
        _ => vec![value],
    });
    let mut targets = Vec::new();
    for target in single.chain(children(spec, "targetRefs")) {
        let part = |key: &str| text(target, key).filter(|text| !text.is_empty());
        let (kind, name) = (part("kind").unwrap_or_default(), part("name").unwrap_or_default());
        if name.is_empty() || !can_be_attached(reader, written, part("group"), kind) {
            continue;
        }
        // Others than kinds of users never reach into another namespace.
        let declared = matches!(reader, Reader::Stanzas | Reader::Whole);
        let namespace = part("namespace").filter(|_| declared).unwrap_or(written.namespace);
        targets.push(TargetReference {
            kind: symbols.intern(kind),
            namespace: symbols.intern(namespace),
            name: symbols.intern(name),
            section: part("sectionName").map(|section| symbols.intern(section)),
            at: written.at(target),
        });
    }
    targets
}

/// Whether policies can be attached to objects of a type.
fn can_be_attached(reader: Reader, written: Written<'_>, group: Option<&str>, kind: &str) -> bool {
    match reader {
        Reader::Kgateway(_) => is_object(group.unwrap_or_default(), kind),
        Reader::EnvoyGateway => {
            let own = [GATEWAY, EXPERIMENTAL].contains(&group.unwrap_or(GATEWAY));
            own && (envoy_gateway::reaches_routes(written.resource.kind.text()) || !Route::KINDS.contains(&kind))
        }
        Reader::Stanzas | Reader::Whole => true,
    }
}

fn selectors(written: Written<'_>, reader: Reader, spec: Value<'_>, symbols: &mut Symbols) -> Vec<TargetSelector> {
    if matches!(reader, Reader::Stanzas | Reader::Whole) {
        return Vec::new();
    }
    let mut selectors = Vec::new();
    let single = spec.get("targetSelector").filter(|_| matches!(reader, Reader::Kgateway(_)));
    for selector in children(spec, "targetSelectors").chain(single) {
        let part = |key: &str| text(selector, key).filter(|text| !text.is_empty());
        let kind = part("kind").unwrap_or_default();
        if !can_be_attached(reader, written, part("group"), kind) {
            continue;
        }
        let mut wants = label_wants(selector, symbols);
        if reader == Reader::EnvoyGateway && wants.is_empty() {
            wants.push(LabelWant::Anything);
        }
        let section = part("sectionName").filter(|_| reader != Reader::EnvoyGateway);
        selectors.push(TargetSelector {
            kind: symbols.intern(kind),
            wants,
            namespaces: target_namespaces(reader, selector, symbols),
            section: section.map(|section| symbols.intern(section)),
            at: written.at(selector),
        });
    }
    selectors
}

/// The namespaces in which a selector selects: those of `namespaces`, where that is read.
fn target_namespaces(reader: Reader, selector: Value<'_>, symbols: &mut Symbols) -> TargetNamespaces {
    let written = selector.get("namespaces").filter(|_| reader == Reader::EnvoyGateway);
    match written.and_then(|namespaces| text(namespaces, "from")) {
        None | Some("" | "Same") => TargetNamespaces::Own,
        Some("All") => TargetNamespaces::All,
        Some(from) => {
            let labels = written.and_then(|namespaces| namespaces.get("selector")).filter(|_| from == "Selector");
            let wants = labels.filter(|labels| labels.kind() == Kind::Map).map(|labels| label_wants(labels, symbols));
            // Whoever selects by labels and names none selects nothing.
            TargetNamespaces::Labelled(wants.unwrap_or_else(|| vec![LabelWant::Impossible]))
        }
    }
}

/// What a label selector of Kubernetes wants.
fn label_wants(selector: Value<'_>, symbols: &mut Symbols) -> Vec<LabelWant> {
    let exact = selector.get("matchLabels").into_iter().flat_map(Value::entries);
    let mut wants: Vec<LabelWant> =
        exact.map(|(key, value)| LabelWant::Is(symbols.intern(key.text()), symbols.intern(value.text()))).collect();
    for expression in children(selector, "matchExpressions") {
        let key = symbols.intern(text(expression, "key").unwrap_or_default());
        let values: Vec<Sym> = children(expression, "values").map(|value| symbols.intern(value.text())).collect();
        wants.push(match text(expression, "operator").unwrap_or_default() {
            "In" => LabelWant::In(key, values),
            "NotIn" => LabelWant::NotIn(key, values),
            "Exists" => LabelWant::Exists(key),
            "DoesNotExist" => LabelWant::Absent(key),
            _ => LabelWant::Impossible,
        });
    }
    wants
}

/// What a policy says, without what it is attached to.
fn whole(written: Written<'_>, spec: Value<'_>) -> Arc<Config> {
    let said = spec.entries().filter(|(key, value)| !TARGETS.contains(&key.text()) && value.kind() != Kind::Null);
    let entries = said.map(|(key, value)| (SmolStr::new(key.text()), Config::of(written.source, value)));
    Arc::new(Config { content: Content::Map(entries.collect()), at: Some(written.at(spec)) })
}

/// Stanzas of defaults and overrides, and what stands in neither.
fn stanzas(source: SourceId, spec: Value<'_>) -> Vec<Statement> {
    let mut stanzas = Vec::new();
    let mut bare = Vec::new();
    for (key, value) in spec.entries().filter(|(_, value)| value.kind() != Kind::Null) {
        let side = match key.text() {
            "defaults" | "default" => Side::Defaults,
            "overrides" | "override" => Side::Overrides,
            name if TARGETS.contains(&name) => continue,
            name => {
                bare.push((SmolStr::new(name), Config::of(source, value)));
                continue;
            }
        };
        let whole = Config::of(source, value);
        let extent = match whole.get("strategy").and_then(|strategy| strategy.as_text()) {
            Some("atomic") => Some(Extent::Whole),
            Some("patch" | "merge") => Some(Extent::Fields),
            _ => None,
        };
        let kept = whole.entries().iter().filter(|(key, _)| key != "strategy" || extent.is_none()).cloned().collect();
        let config = Arc::new(Config { content: Content::Map(kept), at: whole.at });
        stanzas.push(Statement { side: Some(side), extent, config });
    }
    if !bare.is_empty() {
        stanzas.push(Statement::bare(Config::made(Content::Map(bare))));
    }
    stanzas
}
