//! Identifiers of resources as Kuma writes them: `kri_<short name>_<mesh>_<zone>_<namespace>_<name>_<section>`.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

/// The names of types inside identifiers.
pub const SHORT_NAMES: [(&str, &str); 23] = [
    ("Dataplane", "dp"),
    ("Mesh", "m"),
    ("MeshAccessLog", "mal"),
    ("MeshCircuitBreaker", "mcb"),
    ("MeshExternalService", "extsvc"),
    ("MeshFaultInjection", "mfi"),
    ("MeshGateway", "mgw"),
    ("MeshHTTPRoute", "mhttpr"),
    ("MeshHealthCheck", "mhc"),
    ("MeshIdentity", "mid"),
    ("MeshLoadBalancingStrategy", "mlbs"),
    ("MeshMetric", "mm"),
    ("MeshMultiZoneService", "mzsvc"),
    ("MeshPassthrough", "mp"),
    ("MeshProxyPatch", "mpp"),
    ("MeshRateLimit", "mrl"),
    ("MeshRetry", "mr"),
    ("MeshService", "msvc"),
    ("MeshTCPRoute", "mtcpr"),
    ("MeshTLS", "mtls"),
    ("MeshTimeout", "mt"),
    ("MeshTrace", "mtr"),
    ("MeshTrafficPermission", "mtp"),
];

/// Which resource, or which section of it: a port or an inbound. What does not apply is empty.
///
/// They are ordered by their fields; Kuma orders its lists by the text.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Kri {
    /// The type, such as `MeshService`. Identifiers that were read have the short name here if it is none of Kuma's.
    pub kind: String,
    /// The mesh.
    pub mesh: String,
    /// The zone where it came from.
    pub zone: String,
    /// The namespace on Kubernetes.
    pub namespace: String,
    /// The name that users see.
    pub name: String,
    /// A part of the resource.
    pub section: String,
}

impl Kri {
    /// The resource as a whole.
    #[must_use]
    pub fn without_section(&self) -> Self {
        Self { section: String::new(), ..self.clone() }
    }

    /// `orders in namespace shop in zone east`, for sentences.
    pub fn readable(&self) -> String {
        let within =
            |what: &str, value: &str| if value.is_empty() { String::new() } else { format!(" in {what} {value}") };
        format!("{}{}{}", self.name, within("namespace", &self.namespace), within("zone", &self.zone))
    }
}

/// The short name of one of Kuma's types.
pub fn short_name(kind: &str) -> Option<&'static str> {
    SHORT_NAMES.iter().find(|(known, _)| *known == kind).map(|(_, short)| *short)
}

/// The type of one of Kuma's short names.
pub fn kind_of(short: &str) -> Option<&'static str> {
    SHORT_NAMES.iter().find(|(_, known)| *known == short).map(|(kind, _)| *kind)
}

/// The short name of any type. Types of users have a name of their own: its letters, in lower case.
fn short_name_of_any(kind: &str) -> Cow<'static, str> {
    let letters = || kind.chars().filter(|letter| letter.is_alphabetic()).flat_map(char::to_lowercase).collect();
    short_name(kind).map_or_else(|| Cow::Owned(letters()), Cow::Borrowed)
}

impl fmt::Display for Kri {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, mesh, zone, namespace, name, section } = self;
        write!(f, "kri_{}_{mesh}_{zone}_{namespace}_{name}_{section}", short_name_of_any(kind))
    }
}

/// Why a text is not an identifier, with the text.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum KriError {
    /// It has too few parts, or the second part is not a short name of a type.
    NotAnIdentifier(String),
    /// It has the parts, but starts with another word.
    WrongPrefix(String),
}

impl FromStr for Kri {
    type Err = KriError;

    fn from_str(text: &str) -> Result<Self, KriError> {
        // The section comes last, so it is the one part that may have underscores.
        let parts: Vec<&str> = text.splitn(7, '_').collect();
        let [prefix, short, mesh, zone, namespace, name, section] = parts.as_slice() else {
            return Err(KriError::NotAnIdentifier(text.to_owned()));
        };
        if *prefix != "kri" {
            return Err(KriError::WrongPrefix(text.to_owned()));
        }
        let kind = kind_of(short).unwrap_or(short);
        if short.is_empty() || short_name_of_any(kind) != *short {
            return Err(KriError::NotAnIdentifier(text.to_owned()));
        }
        let [kind, mesh, zone, namespace, name, section] =
            [kind, mesh, zone, namespace, name, section].map(str::to_owned);
        Ok(Self { kind, mesh, zone, namespace, name, section })
    }
}

impl fmt::Display for KriError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::NotAnIdentifier(text) => write!(f, "invalid identifier string: {text:?}"),
            Self::WrongPrefix(text) => write!(f, "identifier must start with 'kri': {text:?}"),
        }
    }
}

impl std::error::Error for KriError {}

#[cfg(test)]
mod tests {
    use super::*;

    fn kri(kind: &str, section: &str) -> Kri {
        let [kind, mesh, zone, namespace, name, section] =
            [kind, "default", "east", "shop", "cart", section].map(str::to_owned);
        Kri { kind, mesh, zone, namespace, name, section }
    }

    #[test]
    fn every_type_is_written_and_read_by_its_short_name() {
        for (kind, short) in SHORT_NAMES {
            let written = kri(kind, "http").to_string();
            assert_eq!(written, format!("kri_{short}_default_east_shop_cart_http"));
            assert_eq!(written.parse(), Ok(kri(kind, "http")));
        }
    }

    #[test]
    fn types_of_users_are_written_in_lower_case_letters() {
        let written = kri("Retry-Budget2", "").to_string();
        assert_eq!(written, "kri_retrybudget_default_east_shop_cart_");
        assert_eq!(written.parse(), Ok(kri("retrybudget", "")));
    }

    #[test]
    fn what_does_not_apply_is_empty() {
        let mesh: Kri = "kri_m____default_".parse().unwrap();
        assert_eq!((mesh.kind.as_str(), mesh.mesh.as_str(), mesh.name.as_str()), ("Mesh", "", "default"));
        assert_eq!(kri("MeshService", "http").without_section(), kri("MeshService", ""));
    }

    #[test]
    fn what_is_read_is_written_again() {
        for text in ["kri_dp_default_east__web-1_main-port", "kri_dp_default___web_main_port", "kri_own_default___web_"]
        {
            assert_eq!(text.parse::<Kri>().unwrap().to_string(), text);
        }
    }

    #[test]
    fn other_texts_are_refused_with_the_words_of_kuma() {
        fn check(text: &str, expected: &str) {
            assert_eq!(text.parse::<Kri>().unwrap_err().to_string(), expected);
        }
        check("web-1", "invalid identifier string: \"web-1\"");
        check("", "invalid identifier string: \"\"");
        check("kri_dp_default_east_web-1_http", "invalid identifier string: \"kri_dp_default_east_web-1_http\"");
        check("kri_MeshService_a_b_c_d_e", "invalid identifier string: \"kri_MeshService_a_b_c_d_e\"");
        check("kri__a_b_c_d_e", "invalid identifier string: \"kri__a_b_c_d_e\"");
        check("id_dp_a_b_c_d_e", "identifier must start with 'kri': \"id_dp_a_b_c_d_e\"");
    }
}
