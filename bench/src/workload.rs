//! Meshes to measure with, as plain maps of strings. The same size gives the same mesh in every run.
//!
//! The proxies of a service share one to four variants of tags, and half of them carry an instance of their own that no
//! policy names. Policies are a mix of catch-alls, one service to another, sources with further tags, wildcards, and
//! ties that only the name decides.

pub(crate) mod documents;
pub(crate) mod random;

use upheld_engine::select::reference::{NaivePolicy, Tags};

use self::random::Random;
use crate::report::grouped;

/// The tag that names a service.
const SERVICE: &str = "kuma.io/service";

const PROTOCOL: &str = "kuma.io/protocol";
const PROTOCOLS: [&str; 4] = ["grpc", "http", "kafka", "tcp"];
const TEAM: &str = "team";
const TEAMS: usize = 20;
/// Tags that differ between the variants of a service, with how many values each has.
const VARYING: [(&str, usize); 3] = [("kuma.io/zone", 6), ("version", 4), ("env", 3)];

/// How large a mesh is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(crate) proxies: usize,
    pub(crate) services: usize,
    pub(crate) policies: usize,
}

impl Size {
    /// How many pairs of a proxy and a service there are.
    pub(crate) fn pairs(self) -> usize {
        self.proxies * self.services
    }

    /// `1 000 x 100 x 500`
    pub(crate) fn words(self) -> String {
        [self.proxies, self.services, self.policies].map(grouped).join(" x ")
    }
}

/// A mesh with its policies.
#[derive(Debug)]
pub(crate) struct Mesh {
    /// The tags of each proxy.
    pub(crate) proxies: Vec<Tags>,
    /// What callers know of each service.
    pub(crate) services: Vec<Tags>,
    pub(crate) policies: Vec<NaivePolicy>,
    random: Random,
}

impl Mesh {
    pub(crate) fn new(size: Size) -> Self {
        let mut random = Random::new(2_026);
        let services: Vec<Tags> = (0..size.services).map(|number| service(number, &mut random)).collect();
        let variants: Vec<Vec<Tags>> = services.iter().map(|service| variants(service, &mut random)).collect();
        let proxies = (variants.iter().cycle().take(size.proxies).enumerate())
            .map(|(number, variants)| proxy(number, variants, &mut random))
            .collect();
        let mut mesh = Self { proxies, services, policies: Vec::new(), random };
        for number in 0..size.policies {
            let policy = mesh.policy(number);
            mesh.policies.push(policy);
        }
        mesh
    }

    /// Adds policies that match nothing: one side of each wants a service that does not exist.
    pub(crate) fn add_idle_policies(&mut self, count: usize) {
        for number in 0..count {
            let mut policy = self.policy(number);
            let side = if number.is_multiple_of(2) { &mut policy.sources } else { &mut policy.destinations };
            for selector in side {
                selector.insert(SERVICE.to_owned(), format!("gone-{number}"));
            }
            policy.name = format!("idle-{}", policy.name);
            self.policies.push(policy);
        }
    }

    /// Some proxy and some service, by their places.
    pub(crate) fn pair(&mut self) -> (usize, usize) {
        (self.random.below(self.proxies.len()), self.random.below(self.services.len()))
    }

    fn policy(&mut self, number: usize) -> NaivePolicy {
        let shape = self.random.below(100);
        let name = format!("log-{:08}-{number}", self.random.digits());
        let earlier = self.random.below(self.policies.len());
        if shape >= 95
            && let Some(policy) = self.policies.get(earlier)
        {
            return NaivePolicy { name, ..policy.clone() };
        }
        let (source, destination) = match shape {
            0 => (Wanted::Anybody, Wanted::Anybody),
            1..45 => (Wanted::Service, Wanted::Service),
            45..55 => (Wanted::Service, Wanted::Anybody),
            55..61 => (Wanted::Anybody, Wanted::Service),
            61..65 => (Wanted::AnyVariant, Wanted::Service),
            65..85 => (Wanted::Variant, Wanted::Service),
            _ => (Wanted::Tags, Wanted::Protocol),
        };
        let sources = self.selectors(source);
        let destinations = self.selectors(destination);
        NaivePolicy { name, created: None, sources, destinations }
    }

    /// One selector, or rarely two.
    fn selectors(&mut self, wanted: Wanted) -> Vec<Tags> {
        let count = if self.random.one_in(8) { 2 } else { 1 };
        (0..count).map(|_| self.selector(wanted)).collect()
    }

    fn selector(&mut self, wanted: Wanted) -> Tags {
        let random = &mut self.random;
        match wanted {
            Wanted::Anybody => tags([(SERVICE, "*".to_owned())]),
            Wanted::Service => tags([(SERVICE, service_name(random.below(self.services.len())))]),
            Wanted::AnyVariant => {
                let varying = VARYING.map(|(tag, _)| tag).into_iter().filter(|_| random.one_in(2));
                [SERVICE].into_iter().chain(varying).map(|tag| (tag.to_owned(), "*".to_owned())).collect()
            }
            Wanted::Variant => {
                let mut varying = VARYING.map(|(tag, values)| (tag, value(tag, random.below(values)))).to_vec();
                varying.retain(|_| random.one_in(2));
                let mut wanted = self.selector(Wanted::Service);
                wanted.extend(varying.into_iter().map(|(tag, value)| (tag.to_owned(), value)));
                wanted
            }
            Wanted::Tags => {
                let (tag, values) = VARYING.get(random.below(VARYING.len())).copied().unwrap_or((TEAM, TEAMS));
                let wanted = if random.one_in(3) { "*".to_owned() } else { value(tag, random.below(values)) };
                tags([(TEAM, value(TEAM, random.below(TEAMS))), (tag, wanted)])
            }
            Wanted::Protocol => {
                let protocol = protocol(random);
                let service = if random.one_in(2) { Wanted::Anybody } else { Wanted::Service };
                let mut wanted = self.selector(service);
                wanted.insert(PROTOCOL.to_owned(), protocol);
                wanted
            }
        }
    }
}

/// What a selector asks for.
#[derive(Clone, Copy, Debug)]
enum Wanted {
    /// Any service.
    Anybody,
    /// One service.
    Service,
    /// Any service, and up to three further tags with any value.
    AnyVariant,
    /// One service, and up to three further tags.
    Variant,
    /// A team, and another tag with one value or any.
    Tags,
    /// Any service or one, with a protocol.
    Protocol,
}

fn service(number: usize, random: &mut Random) -> Tags {
    tags([(SERVICE, service_name(number)), (PROTOCOL, protocol(random)), (TEAM, value(TEAM, random.below(TEAMS)))])
}

fn variants(service: &Tags, random: &mut Random) -> Vec<Tags> {
    let count = 1 + random.below(4);
    let mut variant = || {
        let mut tags = service.clone();
        tags.extend(VARYING.map(|(tag, values)| (tag.to_owned(), value(tag, random.below(values)))));
        tags
    };
    (0..count).map(|_| variant()).collect()
}

fn proxy(number: usize, variants: &[Tags], random: &mut Random) -> Tags {
    let mut tags = variants.get(random.below(variants.len())).cloned().unwrap_or_default();
    if number.is_multiple_of(2) {
        tags.insert("instance".to_owned(), format!("i-{number}"));
    }
    tags
}

fn service_name(number: usize) -> String {
    format!("service-{number:04}")
}

fn protocol(random: &mut Random) -> String {
    PROTOCOLS.get(random.below(PROTOCOLS.len())).copied().unwrap_or_default().to_owned()
}

/// `zone-3`, `version-1`, `team-17`
fn value(tag: &str, number: usize) -> String {
    let word = tag.rsplit_once('/').map_or(tag, |(_, word)| word);
    format!("{word}-{number}")
}

fn tags<const N: usize>(tags: [(&str, String); N]) -> Tags {
    tags.into_iter().map(|(tag, value)| (tag.to_owned(), value)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use upheld_engine::select::reference::matches;

    const SIZE: Size = Size { proxies: 60, services: 20, policies: 100 };

    #[test]
    fn the_same_size_gives_the_same_mesh() {
        let [first, second] = [Mesh::new(SIZE), Mesh::new(SIZE)];
        assert_eq!((first.proxies, first.services, first.policies), (second.proxies, second.services, second.policies));
    }

    #[test]
    fn idle_policies_match_nothing() {
        let mut mesh = Mesh::new(SIZE);
        mesh.policies.clear();
        mesh.add_idle_policies(200);
        let matches_any = |selectors: &[Tags], tags: &[Tags]| {
            selectors.iter().any(|selector| tags.iter().any(|tags| matches(selector, tags)))
        };
        for NaivePolicy { name, sources, destinations, .. } in &mesh.policies {
            let idle = !matches_any(sources, &mesh.proxies) || !matches_any(destinations, &mesh.services);
            assert!(idle, "{name}");
        }
    }
}
