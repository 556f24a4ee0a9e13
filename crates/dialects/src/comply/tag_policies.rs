//! Policies about the tags of single objects: `of`, `tag`, `required`, `allowed`.

use smol_str::SmolStr;
use upheld_engine::comply::{Rule, Strategy, Subject};
use upheld_model::Fault;
use upheld_model::tree::Value;

use super::kind::or_nearest;
use super::reader::{Reader, title};
use super::tagged::Schema;

/// What such a policy asks for.
#[derive(Debug)]
pub(super) struct Asked {
    pub(super) rules: Vec<Rule>,
    pub(super) strategy: Option<Strategy>,
    pub(super) values: Vec<SmolStr>,
}

impl Reader<'_> {
    /// Whether a document is such a policy: it says of which objects, or its kind has no others.
    pub(super) fn is_about_single_objects(&self, written: Value<'_>) -> bool {
        self.profile.has_single_objects() && (!self.profile.has_two_objects() || written.get("of").is_some())
    }

    /// The subject that `of` names, if policies can be about single objects of it.
    pub(super) fn single_subject(&mut self, written: Value<'_>) -> Option<Subject> {
        let of = written.get("of")?;
        let subject = self.subject(of)?;
        if self.profile.alone(subject).is_none() {
            let single = self.profile.pairs.iter().filter(|(a, b)| a == b);
            let known = single.map(|(a, _)| self.profile.subject_name(*a));
            let message = format!("no policy can be about {} alone", title(self.profile, subject));
            let help = or_nearest(of.text(), known);
            self.wrong(Fault::NotRelated, of, message, "only together with another", &help);
            return None;
        }
        Some(subject)
    }

    /// What it asks for.
    pub(super) fn asked_of_tags(&mut self, written: Value<'_>, subject: Subject, schema: Option<&Schema>) -> Asked {
        let (one, several) = (written.get("tag"), written.get("tags"));
        if let (Some(_), Some(several)) = (one, several) {
            let message = "a policy has `tag` or `tags`, but not both".to_owned();
            self.wrong(Fault::WrongValue, several, message, "tags are named twice", "");
        }
        let mut rules: Vec<Rule> = Vec::new();
        for at in one.into_iter().chain(several.into_iter().flat_map(Value::items)) {
            let tag = SmolStr::new(at.text());
            if let Some(schema) = schema {
                schema.allows_key(self, subject, &tag, at);
            }
            if rules.iter().any(|known| known.a == tag) {
                self.wrong(Fault::DefinedTwice, at, format!("`{tag}` is listed twice"), "already listed", "");
            }
            rules.push(Rule { a: tag.clone(), b: tag });
        }
        if rules.is_empty() {
            let message = "a policy about tags names at least one".to_owned();
            self.wrong(Fault::MissingField, several.unwrap_or(written), message, "no tag", "add `tag:`");
        }
        let values = written.get("allowed").map_or_else(Vec::new, |allowed| self.values(allowed));
        let required = written.get("required").and_then(Value::as_bool) == Some(true);
        let strategy = match (required, written.get("allowed")) {
            (_, Some(allowed)) if values.is_empty() => {
                let message = "`allowed` lists no value, so nothing would be".to_owned();
                self.wrong(Fault::WrongValue, allowed, message, "no values", "for example `[dev, qa, prod]`");
                None
            }
            (true, None) => Some(Strategy::Present),
            (false, Some(_)) => Some(Strategy::Among),
            (true, Some(_)) => Some(Strategy::PresentAmong),
            (false, None) => {
                let message = "a policy about tags asks for something".to_owned();
                let at = written.get("required").unwrap_or(written);
                let help = "add `required: true`, or `allowed:` with the values that the tag may have";
                self.wrong(Fault::MissingField, at, message, "asks for nothing", help);
                None
            }
        };
        Asked { rules, strategy, values }
    }
}
