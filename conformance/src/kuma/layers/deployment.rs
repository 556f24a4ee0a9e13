//! Metas of documents as a deployment would have them: written in a zone or globally, and perhaps synced.

use anyhow::bail;
use serde_json::{Map, Value as Json, json};
use upheld_dialects::document::DEFAULT_MESH;
use upheld_dialects::kuma::meta::label;

/// What is done to the meta of a document.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Block {
    GlobalUni,
    GlobalK8s,
    ZoneUni,
    ZoneK8s,
    SyncToUni,
    SyncToK8s,
    System,
    Producer,
}

use Block::{GlobalK8s, GlobalUni, Producer, SyncToK8s, SyncToUni, System, ZoneK8s, ZoneUni};

/// The blocks of a variant of resource rules, the innermost first.
pub(super) fn of_resources(variant: &str) -> anyhow::Result<Vec<Block>> {
    let written = |name: &str| match name {
        "global-uni" => Ok(GlobalUni),
        "global-k8s" => Ok(GlobalK8s),
        "zone-uni" => Ok(ZoneUni),
        "zone-k8s" => Ok(ZoneK8s),
        _ => bail!("there is no variant `{variant}`"),
    };
    let Some((from, to)) = variant.split_once("-2-") else { return Ok(vec![written(variant)?]) };
    let first = written(from)?;
    let last = if to.ends_with("uni") { SyncToUni } else { SyncToK8s };
    // From zone to zone the way leads over the global control plane.
    let over_global = from.starts_with("zone") && to.starts_with("zone");
    Ok(if over_global { vec![first, SyncToUni, last] } else { vec![first, last] })
}

/// The blocks of proxies and of policies in a variant of matching.
pub(super) fn of_matching(variant: &str) -> anyhow::Result<(Vec<Block>, Vec<Block>)> {
    let (proxies, policies): (&[Block], &[Block]) = match variant {
        "uni-zone" => (&[ZoneUni], &[ZoneUni]),
        "k8s-zone" => (&[ZoneK8s], &[ZoneK8s]),
        // The second names say Kubernetes, but there is none.
        "policy-from-global-uni-zone-uni-on-global" | "policy-global-uni-dpp-k8s-on-global" => {
            (&[ZoneUni, SyncToUni], &[GlobalUni, System])
        }
        "policy-from-global-uni-zone-uni-on-zone" | "policy-global-uni-dpp-k8s-on-zone" => {
            (&[ZoneUni], &[GlobalUni, SyncToUni, System])
        }
        "policy-from-global-uni-zone-k8s-on-zone" => (&[ZoneK8s], &[GlobalUni, SyncToK8s, System]),
        "policy-from-global-uni-zone-k8s-on-global" => (&[ZoneK8s, SyncToUni], &[GlobalUni, System]),
        "policy-from-global-k8s-zone-uni-on-zone" => (&[ZoneUni], &[GlobalK8s, SyncToUni, System]),
        "policy-from-global-k8s-zone-uni-on-global" => (&[ZoneUni, SyncToK8s], &[GlobalK8s, System]),
        "policy-from-global-k8s-zone-k8s-on-zone" => (&[ZoneK8s], &[GlobalK8s, SyncToK8s, System]),
        "policy-from-global-k8s-zone-k8s-on-global" => (&[ZoneK8s, SyncToK8s], &[GlobalK8s, System]),
        "policy-from-k8s-to-uni" => (&[ZoneUni], &[ZoneK8s, SyncToUni, Producer]),
        "policy-from-k8s-to-k8s" => (&[ZoneK8s], &[ZoneK8s, SyncToK8s, Producer]),
        _ => bail!("there is no variant `{variant}`"),
    };
    Ok((proxies.to_vec(), policies.to_vec()))
}

/// The name and labels of a resource, and what Kubernetes adds to its name.
#[derive(Clone)]
pub(super) struct Deployed {
    name: String,
    mesh: String,
    labels: Map<String, Json>,
    extensions: Json,
}

impl Deployed {
    /// The meta of a document after some blocks, the innermost first.
    pub(super) fn of(document: &Json, blocks: &[Block]) -> Self {
        let text = |name: &str| document.get(name).and_then(Json::as_str);
        let mut deployed = Self {
            name: text("name").unwrap_or_default().to_owned(),
            mesh: text("mesh").unwrap_or(DEFAULT_MESH).to_owned(),
            labels: document.get("labels").and_then(Json::as_object).cloned().unwrap_or_default(),
            extensions: Json::Null,
        };
        for block in blocks {
            deployed.apply(*block);
        }
        deployed
    }

    fn apply(&mut self, block: Block) {
        match block {
            GlobalUni => self.written(&[(label::ORIGIN, "global")]),
            ZoneUni => self.written(&[(label::ORIGIN, "zone"), (label::ZONE, "zone-uni")]),
            GlobalK8s => self.written_on_kubernetes(&[(label::ORIGIN, "global")]),
            ZoneK8s => self.written_on_kubernetes(&[(label::ORIGIN, "zone"), (label::ZONE, "zone-k8s")]),
            SyncToUni => {
                self.name = self.hashed();
                self.extensions = Json::Null;
            }
            SyncToK8s => {
                let hashed = self.hashed();
                self.extensions = extensions(SYSTEM_NAMESPACE, &hashed);
                self.name = format!("{hashed}.{SYSTEM_NAMESPACE}");
            }
            System => {
                self.labels.insert(label::ROLE.to_owned(), json!("system"));
                self.labels.insert(label::NAMESPACE.to_owned(), json!(SYSTEM_NAMESPACE));
            }
            Producer => drop(self.labels.insert(label::ROLE.to_owned(), json!("producer"))),
        }
    }

    fn written(&mut self, labels: &[(&str, &str)]) {
        let name = self.name.clone();
        for (key, value) in labels.iter().copied().chain([(label::DISPLAY_NAME, name.as_str())]) {
            self.labels.entry(key).or_insert_with(|| json!(value));
        }
    }

    fn written_on_kubernetes(&mut self, labels: &[(&str, &str)]) {
        let mesh = self.mesh.clone();
        let own = [(label::NAMESPACE, NAMESPACE), ("kuma.io/mesh", mesh.as_str())];
        self.written(&labels.iter().copied().chain(own).collect::<Vec<_>>());
        self.extensions = extensions(NAMESPACE, &self.name);
        self.name = format!("{}.{NAMESPACE}", self.name);
    }

    /// The name of a resource that came from elsewhere.
    fn hashed(&self) -> String {
        let text = |key: &str| self.labels.get(key).and_then(Json::as_str);
        let display_name = text(label::DISPLAY_NAME).filter(|name| !name.is_empty()).unwrap_or(&self.name);
        let parts = [Some(self.mesh.as_str()), Some(display_name), text(label::ZONE), text(label::NAMESPACE)];
        let hash = parts
            .iter()
            .flatten()
            .flat_map(|part| part.bytes())
            .fold(FNV_START, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV_PRIME));
        let letter = |character: u8| LETTERS.get(usize::from(character) % LETTERS.len()).map(|byte| char::from(*byte));
        let letters: String = format!("{hash:016x}").bytes().filter_map(letter).collect();
        let end = (0..=display_name.len().min(236)).rev().find(|end| display_name.is_char_boundary(*end));
        format!("{}-{letters}", end.and_then(|end| display_name.get(..end)).unwrap_or_default())
    }

    /// The document with this meta.
    pub(super) fn document(&self, document: &Json) -> Json {
        let mut document = document.as_object().cloned().unwrap_or_default();
        document.insert("name".to_owned(), json!(self.name));
        document.insert("labels".to_owned(), json!(self.labels));
        Json::Object(document)
    }

    /// The meta as goldens write it.
    pub(super) fn shown(&self) -> Json {
        json!({
            "CreationTime": super::scene::NO_TIME,
            "ModificationTime": super::scene::NO_TIME,
            "Labels": self.labels,
            "Mesh": self.mesh,
            "Name": self.name,
            "NameExtensions": self.extensions,
            "Version": "",
        })
    }
}

fn extensions(namespace: &str, name: &str) -> Json {
    json!({label::NAMESPACE: namespace, "k8s.kuma.io/name": name})
}

const NAMESPACE: &str = "ns-k8s";
const SYSTEM_NAMESPACE: &str = "kuma-system";
const FNV_START: u64 = 0xcbf2_9ce4_8422_2325;
const FNV_PRIME: u64 = 0x0000_0100_0000_01b3;
const LETTERS: &[u8; 27] = b"bcdfghjklmnpqrstvwxz2456789";

#[cfg(test)]
mod tests {
    use super::*;

    fn deployed(blocks: &[Block]) -> Json {
        let document = json!({"type": "MeshService", "name": "cart", "mesh": "m", "labels": {"own": "label"}});
        Deployed::of(&document, blocks).shown()
    }

    #[test]
    fn on_kubernetes_names_have_a_namespace() {
        let shown = deployed(&[ZoneK8s, Producer]);
        assert_eq!(shown["Name"], "cart.ns-k8s");
        assert_eq!(shown["NameExtensions"], json!({"k8s.kuma.io/namespace": "ns-k8s", "k8s.kuma.io/name": "cart"}));
        let labels = json!({
            "own": "label", "kuma.io/origin": "zone", "kuma.io/zone": "zone-k8s", "k8s.kuma.io/namespace": "ns-k8s",
            "kuma.io/mesh": "m", "kuma.io/display-name": "cart", "kuma.io/policy-role": "producer",
        });
        assert_eq!(shown["Labels"], labels);
    }

    #[test]
    fn what_was_synced_keeps_its_labels_and_has_another_name() {
        let (written, synced) = (deployed(&[GlobalUni]), deployed(&[GlobalUni, SyncToK8s]));
        assert_eq!(written["Labels"], synced["Labels"]);
        let name = synced["Name"].as_str().unwrap();
        let hash = name.strip_prefix("cart-").and_then(|name| name.strip_suffix(".kuma-system")).unwrap();
        assert!(hash.len() == 16 && hash.bytes().all(|byte| LETTERS.contains(&byte)), "{name}");
        // The hash is that of where it was written first.
        assert_eq!(deployed(&[GlobalUni, SyncToUni, SyncToK8s])["Name"], synced["Name"]);
        assert_ne!(deployed(&[ZoneUni, SyncToK8s])["Name"], synced["Name"]);
    }

    #[test]
    fn ways_between_zones_lead_over_the_global_control_plane() {
        assert_eq!(of_resources("zone-k8s-2-zone-uni").unwrap(), [ZoneK8s, SyncToUni, SyncToUni]);
        assert_eq!(of_resources("global-uni-2-zone-k8s").unwrap(), [GlobalUni, SyncToK8s]);
        assert_eq!(of_resources("zone-uni").unwrap(), [ZoneUni]);
        assert!(of_resources("zone-moon").is_err());
    }
}
