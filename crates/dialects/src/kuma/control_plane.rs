//! What a control plane adds to resources, so that files as people write them mean what they mean in a cluster: the zone, where
//! a resource was created, and which namespace is its own.

use std::collections::BTreeSet;
use std::sync::{Arc, LazyLock};

use upheld_engine::digest::{Encode, Encoder};
use upheld_engine::{Companions, Snapshot};
use upheld_model::nearest::nearest;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault};

use super::meta::label;
use super::resources::ResourceType;
use crate::dialect::SystemSettings;
use crate::document::{Form, Resource};

/// Namespaces of control planes unless somebody names another.
const SYSTEM_NAMESPACES: [&str; 2] = ["kuma-system", "kong-mesh-system"];

/// As users set it.
pub(super) const SETTINGS: SystemSettings = SystemSettings {
    name: "kuma",
    about: "what the control plane of Kuma adds to documents (zone=NAME, origin=zone|global, system-namespace=NAME), and \
            whether policies in shadow mode count (shadow=on)",
    read: |given| ControlPlane::read(given).map(|read| Companions::default().with(Arc::new(read))),
};

const NAMES: [&str; 4] = ["zone", "origin", "system-namespace", "shadow"];
const ORIGINS: [&str; 2] = ["zone", "global"];

/// What is known of the control plane.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ControlPlane {
    /// The zone in which documents are applied.
    pub zone: Option<String>,
    /// Whether documents are applied in a zone or globally.
    pub origin: Option<String>,
    /// Its own namespaces, instead of the usual ones.
    pub system_namespaces: Vec<String>,
    /// Whether policies that are only tried count.
    pub shadow: Shadow,
}

/// What becomes of policies that are only tried.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Shadow {
    /// They do not count, as in a mesh.
    #[default]
    Off,
    /// They count, as if they were in force.
    On,
}

impl ControlPlane {
    /// As users give it, each `NAME=VALUE`, also several with commas. All mistakes at once.
    pub fn read<S: AsRef<str>>(given: &[S]) -> Result<Self, Vec<Diagnostic>> {
        let mut read = Self::default();
        let mut problems = Vec::new();
        let wrong = |message: String| Diagnostic::error(Fault::BadSetting, message);
        for one in given.iter().flat_map(|given| given.as_ref().split(',')) {
            match one.split_once('=').map(|(name, value)| (name.trim(), value.trim())) {
                None => problems.push(wrong(format!("`{one}` is not `name=value`"))),
                Some((name, "")) => problems.push(wrong(format!("`{name}` has no value"))),
                Some(("zone", zone)) => read.zone = Some(zone.to_owned()),
                Some(("system-namespace", namespace)) => read.system_namespaces.push(namespace.to_owned()),
                Some(("origin", origin)) if ORIGINS.contains(&origin) => read.origin = Some(origin.to_owned()),
                Some(("shadow", "on")) => read.shadow = Shadow::On,
                Some(("shadow", "off")) => read.shadow = Shadow::Off,
                Some(("shadow", other)) => problems.push(wrong(format!("shadow is on or off, not `{other}`"))),
                Some(("origin", origin)) => {
                    problems.push(wrong(format!("origin is {}, not `{origin}`", ORIGINS.join(" or "))));
                }
                Some((name, _)) => problems.push(
                    wrong(format!("Kuma has no setting `{name}` that is read here"))
                        .suggest_or(nearest(name, NAMES), || format!("settings: {}", NAMES.join(", "))),
                ),
            }
        }
        if read.zone.is_some() && read.origin.as_deref() == Some("global") {
            problems
                .push(wrong("what is created globally belongs to no zone: set `zone` or `origin=global`".to_owned()));
        }
        if problems.is_empty() { Ok(read) } else { Err(problems) }
    }
}

impl Encode for ControlPlane {
    fn encode(&self, encoder: &mut Encoder) {
        let Self { zone, origin, system_namespaces, shadow } = self;
        encoder.option(zone.as_deref(), Encoder::text);
        encoder.option(origin.as_deref(), Encoder::text);
        encoder.list(system_namespaces, |encoder, name| encoder.text(name));
        encoder.word(if *shadow == Shadow::On { "shadow" } else { "" });
    }
}

/// What documents are read with: the settings, and what the documents themselves say.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Stamps {
    zone: Option<String>,
    origin: Option<String>,
    system_namespaces: Vec<String>,
    /// Zones that objects are labelled with.
    zones: BTreeSet<String>,
    source: Source,
    shadow: Shadow,
}

/// Where a zone comes from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum Source {
    /// Somebody set it, or nothing is known.
    #[default]
    Settings,
    /// All objects that have one have the same.
    Objects,
}

impl Stamps {
    /// Given the settings and all zones that objects are labelled with.
    pub(super) fn new(settings: &Companions, zones: BTreeSet<String>) -> Self {
        let ControlPlane { zone, origin, system_namespaces, shadow } = settings.get().cloned().unwrap_or_default();
        let only = zones.first().filter(|_| zones.len() == 1).cloned();
        match (zone, origin, only) {
            (None, None, Some(only)) => Self {
                zone: Some(only),
                origin: Some("zone".to_owned()),
                system_namespaces,
                zones,
                source: Source::Objects,
                shadow,
            },
            (zone, origin, _) => {
                let origin = origin.or_else(|| zone.as_ref().map(|_| "zone".to_owned()));
                Self { zone, origin, system_namespaces, zones, source: Source::Settings, shadow }
            }
        }
    }

    /// Those of a snapshot.
    pub fn of(snapshot: &Snapshot) -> &Self {
        static NONE: LazyLock<Stamps> = LazyLock::new(Stamps::default);
        snapshot.companion().unwrap_or(&NONE)
    }

    /// The zones that objects are labelled with.
    pub(super) fn zones(&self) -> &BTreeSet<String> {
        &self.zones
    }

    /// Labels that the control plane would add to a resource: none if it has been there.
    pub fn labels(&self, resource: Resource<'_>) -> impl Iterator<Item = (&'static str, &str)> {
        let has = |key: &str| resource.labels().is_some_and(|labels| labels.get(key).is_some());
        let is_read_so = match self.source {
            Source::Settings => true,
            // Objects of a cluster say something about manifests for a cluster only.
            Source::Objects => resource.form == Form::Kubernetes && resource.kubernetes_namespace().is_some(),
        };
        let stamped =
            is_read_so && resource.kind.text() != ResourceType::Mesh.name() && !has(label::ZONE) && !has(label::ORIGIN);
        let all = [(label::ZONE, self.zone.as_deref()), (label::ORIGIN, self.origin.as_deref())];
        all.into_iter().filter(move |_| stamped).filter_map(|(key, value)| Some((key, value?)))
    }

    /// Whether a namespace is that of a control plane.
    pub(super) fn is_system(&self, namespace: &str) -> bool {
        match self.system_namespaces.as_slice() {
            [] => SYSTEM_NAMESPACES.contains(&namespace),
            named => named.iter().any(|named| named == namespace),
        }
    }

    /// What becomes of policies that are only tried.
    pub(super) fn shadow(&self) -> Shadow {
        self.shadow
    }

    /// What was taken from the objects, for those who did not set it.
    pub(super) fn assumed(&self) -> Option<String> {
        let zone = self.zone.as_ref().filter(|_| self.source == Source::Objects)?;
        Some(format!(
            "note: manifests without `{}` are taken as applied in zone {zone}, like all objects that have one; set it with \
             `--kuma zone=NAME` or `--kuma origin=global`",
            label::ZONE
        ))
    }
}

/// The zone that an object is labelled with.
pub(super) fn zone_of(resource: Resource<'_>) -> Option<&str> {
    ResourceType::of(resource.kind.text()).filter(|kind| *kind != ResourceType::Mesh)?;
    resource.labels()?.get(label::ZONE).map(Value::text).filter(|zone| !zone.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn settings_are_read_with_all_mistakes() {
        let read = ControlPlane::read(&["zone=east,system-namespace=mesh", "system-namespace=other"]).unwrap();
        assert_eq!(read.zone.as_deref(), Some("east"));
        assert_eq!(read.system_namespaces, ["mesh", "other"]);
        let wrong = ControlPlane::read(&["zon=east", "origin=here", "zone", "zone="]).unwrap_err();
        let messages: Vec<String> = wrong.iter().map(|one| format!("{} {}", one.message, one.help.join(""))).collect();
        assert_eq!(messages.len(), 4, "{messages:?}");
        assert!(messages[0].contains("zone"), "{messages:?}");
        assert!(ControlPlane::read(&["zone=east", "origin=global"]).is_err());
    }

    #[test]
    fn a_zone_is_taken_from_objects_that_agree_unless_somebody_sets_it() {
        let zones = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect::<BTreeSet<String>>();
        let nothing = Companions::default();
        assert_eq!(Stamps::new(&nothing, zones(&["east"])).zone.as_deref(), Some("east"));
        assert!(Stamps::new(&nothing, zones(&["east"])).assumed().is_some());
        assert_eq!(Stamps::new(&nothing, zones(&["east", "west"])).zone, None);
        let set = (SETTINGS.read)(&["origin=global".to_owned()]).unwrap();
        let global = Stamps::new(&set, zones(&["east"]));
        assert_eq!((global.zone.as_deref(), global.origin.as_deref()), (None, Some("global")));
        assert_eq!(global.assumed(), None);
    }
}
