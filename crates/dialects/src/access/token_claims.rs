//! Subjects out of verified tokens: which claim says what.

use serde_json::{Map, Value as Json};
use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts, Maybe, Names, Subject};

use super::facts::{fact_of_json, facts_of_json};

/// Claims of a token, which is verified before they are read.
pub type Payload = Map<String, Json>;

/// A claim by its name; dots lead into maps, as in `realm_access.roles`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ClaimPath(SmolStr);

impl ClaimPath {
    /// Of a text; nothing if it is empty.
    pub fn read(text: &str) -> Option<Self> {
        Some(text.trim()).filter(|text| !text.is_empty()).map(|text| Self(SmolStr::new(text)))
    }

    /// As it is written.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What a token says there. A path that leads through something other than a map leads to nothing known.
    pub fn find<'p>(&self, payload: &'p Payload) -> Maybe<&'p Json> {
        find(payload, &self.0)
    }
}

/// Names of claims may have dots in them, `https://example.org/roles`: a whole name goes before its parts.
fn find<'p>(map: &'p Payload, path: &str) -> Maybe<&'p Json> {
    let mut ways = path.match_indices('.').filter_map(|(at, _)| Some((map.get(path.get(..at)?)?, path.get(at + 1..)?)));
    match (map.get(path), ways.next()) {
        (None | Some(Json::Null), None | Some((Json::Null, _))) | (Some(Json::Null), Some(_)) => Maybe::Absent,
        (Some(value), _) => Maybe::Is(value),
        (None, Some((Json::Object(inner), rest))) => find(inner, rest),
        (None, Some(_)) => Maybe::Unknown,
    }
}

/// The texts of a claim: a list of them, or one text with spaces between, as `scope` is. Nothing if it is neither.
pub fn texts(claim: &Json) -> Option<Vec<SmolStr>> {
    match claim {
        Json::Array(items) => items.iter().map(|item| item.as_str().map(SmolStr::new)).collect(),
        Json::String(text) => Some(text.split_whitespace().map(SmolStr::new).collect()),
        _ => None,
    }
}

/// Which claims say who a caller is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TokenClaims {
    /// The id: the first of these that a token has.
    pub id: Vec<ClaimPath>,
    /// The type.
    pub kind: Option<ClaimPath>,
    /// The roles of all of these together.
    pub roles: Vec<ClaimPath>,
    /// The groups of all of these together.
    pub groups: Vec<ClaimPath>,
    /// What else is claimed.
    pub attributes: Attributes,
}

/// What policies see of a token as `subject.claims`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Attributes {
    /// All claims, as they are.
    All,
    /// Some claims, by names of their own.
    Named(Vec<(SmolStr, ClaimPath)>),
}

impl Default for TokenClaims {
    fn default() -> Self {
        let one = |name: &'static str| vec![ClaimPath(SmolStr::new_static(name))];
        Self { id: one("sub"), kind: None, roles: one("roles"), groups: one("groups"), attributes: Attributes::All }
    }
}

impl TokenClaims {
    /// Whom a verified token names. A missing claim is absent; one of another type than it must have is unknown, never empty.
    pub fn subject(&self, payload: &Payload) -> Subject {
        let id = self.id.iter().map(|path| path.find(payload)).find(|found| *found != Maybe::Absent);
        Subject {
            kind: self.kind.as_ref().map_or(Maybe::Absent, |path| word(path.find(payload))),
            id: id.map_or(Maybe::Absent, word),
            roles: names(&self.roles, payload),
            groups: names(&self.groups, payload),
            claims: self.attributes.facts(payload),
        }
    }
}

impl Attributes {
    fn facts(&self, payload: &Payload) -> Facts {
        let Self::Named(named) = self else { return facts_of_json(payload) };
        let fact = |path: &ClaimPath| match path.find(payload) {
            Maybe::Is(value) => Some(fact_of_json(value)),
            Maybe::Absent => None,
            Maybe::Unknown => Some(Fact::Unknown),
        };
        named.iter().filter_map(|(name, path)| Some((name.clone(), fact(path)?))).collect()
    }
}

/// One text with something in it.
fn word(claim: Maybe<&Json>) -> Maybe<SmolStr> {
    match claim {
        Maybe::Is(Json::String(text)) if !text.trim().is_empty() => Maybe::Is(SmolStr::new(text)),
        Maybe::Is(_) | Maybe::Unknown => Maybe::Unknown,
        Maybe::Absent => Maybe::Absent,
    }
}

/// The names in all these claims; unknown as soon as one of them is.
fn names(paths: &[ClaimPath], payload: &Payload) -> Names {
    let mut all: Vec<SmolStr> = Vec::new();
    for path in paths {
        match path.find(payload) {
            Maybe::Absent => {}
            Maybe::Unknown => return Names::Unknown,
            Maybe::Is(claim) => match texts(claim) {
                Some(found) => all.extend(found),
                None => return Names::Unknown,
            },
        }
    }
    let mut once: Vec<SmolStr> = Vec::with_capacity(all.len());
    for name in all {
        if !once.contains(&name) {
            once.push(name);
        }
    }
    Names::Known(once)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn payload(claims: &Json) -> Payload {
        claims.as_object().unwrap().clone()
    }

    fn paths(all: &[&str]) -> Vec<ClaimPath> {
        all.iter().map(|path| ClaimPath::read(path).unwrap()).collect()
    }

    fn roles(of: &[&str], claims: &Json) -> Names {
        TokenClaims { roles: paths(of), ..TokenClaims::default() }.subject(&payload(claims)).roles
    }

    #[test]
    fn paths_lead_into_maps_and_names_may_have_dots() {
        let keycloak =
            || json!({"realm_access": {"roles": ["a", "b"]}, "resource_access": {"shop.web": {"roles": ["b", "c"]}}});
        assert_eq!(roles(&["realm_access.roles"], &keycloak()), Names::of(&["a", "b"]));
        let both = ["realm_access.roles", "resource_access.shop.web.roles"];
        assert_eq!(roles(&both, &keycloak()), Names::of(&["a", "b", "c"]));
        let named = json!({"https://example.org/roles": ["a"]});
        assert_eq!(roles(&["https://example.org/roles"], &named), Names::of(&["a"]));
        assert_eq!(roles(&["scope"], &json!({"scope": "read  write"})), Names::of(&["read", "write"]));
    }

    #[test]
    fn a_missing_claim_is_absent_and_one_of_the_wrong_type_is_unknown() {
        let path = "realm_access.roles";
        for missing in [json!({}), json!({"realm_access": {}}), json!({"realm_access": null}), json!({path: null})] {
            assert_eq!(roles(&[path], &missing), Names::default(), "{missing}");
        }
        for wrong in [
            json!({"realm_access": "roles"}),
            json!({"realm_access": ["roles"]}),
            json!({"realm_access": {"roles": 7}}),
            json!({"realm_access": {"roles": {"a": true}}}),
            json!({"realm_access": {"roles": ["a", 7]}}),
            json!({"realm_access": {"roles": [["a"]]}}),
            json!({path: false}),
        ] {
            assert_eq!(roles(&["other", path], &wrong), Names::Unknown, "{wrong}");
        }
    }

    #[test]
    fn the_id_is_the_first_that_is_there_and_attributes_are_those_that_are_named() {
        let named = [("department", "org.dept"), ("level", "level"), ("none", "none"), ("odd", "level.deep")];
        let named = named.map(|(name, path)| (SmolStr::new(name), ClaimPath::read(path).unwrap()));
        let claims = TokenClaims {
            id: paths(&["preferred_username", "sub"]),
            kind: ClaimPath::read("typ"),
            attributes: Attributes::Named(named.into()),
            ..TokenClaims::default()
        };
        let ann = json!({"sub": "7", "typ": "user", "org": {"dept": "sales"}, "level": 3, "secret": "x"});
        let subject = claims.subject(&payload(&ann));
        assert_eq!((subject.id, subject.kind), (Maybe::Is("7".into()), Maybe::Is("user".into())));
        let expected =
            [("department", Fact::Text("sales".into())), ("level", Fact::Number(3_i64.into())), ("odd", Fact::Unknown)];
        assert_eq!(subject.claims, expected.into_iter().map(|(name, fact)| (name.into(), fact)).collect());
        for (odd, expected) in
            [(json!(7), Maybe::Unknown), (json!(" "), Maybe::Unknown), (json!(null), Maybe::Is("7".into()))]
        {
            let id = claims.subject(&payload(&json!({"sub": "7", "preferred_username": odd}))).id;
            assert_eq!(id, expected);
        }
        assert_eq!(claims.subject(&payload(&json!({}))).id, Maybe::Absent);
    }
}
