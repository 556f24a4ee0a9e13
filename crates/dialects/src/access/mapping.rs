//! The last step of every request before it is decided, wherever it came from: what is written in many ways is written in one, and what is
//! known of subjects, resources and actions is filled in.
//!
//! | fact | becomes |
//! |---|---|
//! | the time, where nobody says when | now |
//! | hosts | lower case, without port and final dot |
//! | names of headers | lower case; several values of one name are not known |
//! | subjects, resources, actions | with what the directory has of them; what the request says wins |
//! | roles and groups | with those that contain them |

use smol_str::SmolStr;
use upheld_engine::decide::{Fact, Facts, Maybe, Names, Request};
use upheld_model::Timestamp;

use super::Edition;
use super::authzen::directory::names_of;
use super::decider::Decider;

impl Decider<'_> {
    /// A request with all that is known of it.
    pub fn complete(&self, request: &mut Request, now: Option<Timestamp>) {
        if request.environment.time == Maybe::Absent {
            request.environment.time = now.into();
        }
        // The original takes requests as they are.
        if self.edition == Edition::Compat {
            return;
        }
        in_one_way(&mut request.resource.facts);
        self.fill(request);
    }

    fn fill(&self, request: &mut Request) {
        let directory = self.directory;
        if directory.is_empty() {
            return;
        }
        let Request { subject, action, resource, .. } = request;
        if let (Maybe::Is(id), kind) = (&subject.id, &subject.kind) {
            let known = match kind {
                Maybe::Is(kind) => directory.subject(kind, id).map(|facts| (None, facts)),
                Maybe::Absent | Maybe::Unknown => {
                    directory.subject_of_any_type(id).map(|(kind, facts)| (Some(kind), facts))
                }
            };
            if let Some((kind, facts)) = known {
                if let Some(kind) = kind {
                    subject.kind = Maybe::Is(SmolStr::new(kind));
                }
                // Whoever lists none says nothing about them, unless they say so.
                for (names, fields) in
                    [(&mut subject.roles, ["roles", "role"]), (&mut subject.groups, ["groups", "group"])]
                {
                    let is_said = fields.iter().any(|field| subject.claims.get(field).is_some());
                    if *names == Names::default() && !is_said {
                        *names = names_of(facts, fields);
                    }
                }
                fill(&mut subject.claims, facts);
            }
        }
        directory.contain(&mut subject.roles, &mut subject.groups);
        if let (Maybe::Is(kind), Maybe::Is(id)) = (&resource.kind, &resource.id)
            && let Some(facts) = directory.resource(kind, id)
        {
            fill(&mut resource.facts, facts);
            for (place, name) in [(&mut resource.app, "app"), (&mut resource.path, "path")] {
                if *place == Maybe::Absent {
                    *place = text_of(resource.facts.get(name));
                }
            }
        }
        if let Maybe::Is(name) = &action.operation
            && let Some(known) = directory.action(name)
        {
            fill(&mut action.facts, &known.properties());
            if action.method == Maybe::Absent {
                action.method = text_of(action.facts.get("method"));
            }
        }
    }
}

fn fill(given: &mut Facts, stored: &Facts) {
    for (name, fact) in stored {
        if given.iter().all(|(known, _)| known != name) {
            given.set(name, fact.clone());
        }
    }
}

/// A text, if it is one; anything else is not known, which is something else than absent.
pub(super) fn text_of(fact: Option<&Fact>) -> Maybe<SmolStr> {
    match fact {
        Some(Fact::Text(text)) => Maybe::Is(text.clone()),
        None | Some(Fact::Null) => Maybe::Absent,
        Some(_) => Maybe::Unknown,
    }
}

/// Hosts and headers are the same in capital and small letters.
fn in_one_way(facts: &mut Facts) {
    if let Some(host) = facts.get("host").filter(|fact| **fact != Fact::Null) {
        let host = match host {
            Fact::Text(host) => Fact::Text(host_name(host)),
            _ => Fact::Unknown,
        };
        facts.set("host", host);
    }
    let Some(headers) = facts.get("headers").filter(|fact| **fact != Fact::Null) else { return };
    let headers = match headers {
        Fact::Map(headers) => Fact::Map(headers_of(headers)),
        _ => Fact::Unknown,
    };
    facts.set("headers", headers);
}

/// Headers by their names in lower case; of one that is there twice, nobody knows which counts.
pub(super) fn headers_of(given: &Facts) -> Facts {
    let mut headers = if given.are_all_listed() { Facts::default() } else { Facts::unknown() };
    for (name, fact) in given {
        let name = name.to_lowercase();
        let is_new = headers.iter().all(|(known, _)| *known != name);
        let value = match fact {
            Fact::List(values) => match values.as_slice() {
                [only] => only.clone(),
                _ => Fact::Unknown,
            },
            other => other.clone(),
        };
        headers.set(&name, if is_new { value } else { Fact::Unknown });
    }
    headers
}

/// The host that is meant, of the many ways in which it can be written.
pub fn host_name(written: &str) -> SmolStr {
    let is_port = |text: &str| text.bytes().all(|byte| byte.is_ascii_digit());
    let host = written.trim();
    let host = host.rsplit_once(':').filter(|(_, port)| is_port(port)).map_or(host, |(host, _)| host);
    host.trim_end_matches('.').to_lowercase().into()
}

/// The methods of HTTP.
pub(super) const METHODS: [&str; 9] = ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "CONNECT"];

/// The method of HTTP that a word names, in any case.
pub(super) fn method_of(word: &str) -> Option<&'static str> {
    METHODS.into_iter().find(|method| method.eq_ignore_ascii_case(word))
}
