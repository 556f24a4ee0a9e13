//! Changing what holds: policies, definitions, defaults, waivers, and the clock.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_model::Timestamp;
use upheld_model::nearest::nearest;

use super::super::facts::{ObjectId, Standing};
use super::super::lists::NO_VALUES;
use super::super::profile::Rules;
use super::super::refusal::Refusal;
use super::super::rights::Operation;
use super::super::schema::{BadDefinition, Definition, Redefinition};
use super::super::{Actor, Comply, Policy, Tags, Waiver};
use super::judge::Looked;
use super::{Done, Refused, Told, forbidden, invalid};

fn done(action: &'static str, object: &SmolStr) -> Done {
    let cause = Told { action, object: object.clone(), change: None };
    Done { looked: Looked::Nothing, tags: None, cause }
}

fn unknown_definition(subject: &str, key: &str) -> Refused {
    invalid(Refusal::UnknownDefinition { subject: SmolStr::new(subject), key: SmolStr::new(key) })
}

impl Comply {
    /// Whether a policy makes sense here.
    pub fn check_policy(&self, policy: &Policy) -> Result<(), Refusal> {
        let name = |subject| SmolStr::new(self.profile.subject_name(subject));
        if self.profile.pair(policy.a, policy.b).is_none() {
            return Err(Refusal::NoPair { a: name(policy.a), b: name(policy.b) });
        }
        let count = policy.rules.len();
        if count == 0 || (count > 1 && self.profile.rules == Rules::One) {
            return Err(Refusal::RuleCount { count });
        }
        if !self.profile.strategies.contains(&policy.strategy) {
            return Err(Refusal::Strategy { strategy: SmolStr::new_static(policy.strategy.word()) });
        }
        for rule in &policy.rules {
            self.check_key(policy.a, &rule.a)?;
            self.check_key(policy.b, &rule.b)?;
        }
        Ok(())
    }

    pub(super) fn do_create_policy(&mut self, actor: &Actor, policy: &Policy) -> Result<Done, Refused> {
        if self.policy(&policy.id).is_some() {
            return Err(invalid(Refusal::PolicyExists { policy: policy.id.clone() }));
        }
        self.put_checked(actor, policy)
    }

    pub(super) fn do_update_policy(&mut self, actor: &Actor, policy: &Policy) -> Result<Done, Refused> {
        self.known_policy(&policy.id).map_err(invalid)?;
        self.put_checked(actor, policy)
    }

    fn put_checked(&mut self, actor: &Actor, policy: &Policy) -> Result<Done, Refused> {
        self.check_policy(policy).map_err(invalid)?;
        self.may(actor, Operation::Policies, None).map_err(forbidden)?;
        self.put_policy(&policy.id, Some(Arc::new(policy.clone())));
        Ok(done("policy", &policy.id))
    }

    fn known_policy(&self, name: &str) -> Result<(), Refusal> {
        if self.policy(name).is_some() {
            return Ok(());
        }
        let nearest = nearest(name, self.policies().into_iter().map(|policy| policy.id.as_str()));
        Err(Refusal::UnknownPolicy { written: SmolStr::new(name), nearest: nearest.map(SmolStr::new) })
    }

    pub(super) fn do_delete_policy(&mut self, actor: &Actor, policy: &SmolStr) -> Result<Done, Refused> {
        self.known_policy(policy).map_err(invalid)?;
        self.may(actor, Operation::Policies, None).map_err(forbidden)?;
        self.put_policy(policy, None);
        Ok(done("delete-policy", policy))
    }

    /// Whether a definition makes sense beside the others.
    pub fn check_definition(&self, definition: &Definition) -> Result<(), BadDefinition> {
        definition.check()?;
        if self.definition(definition.subject, &definition.key).is_some() {
            return Err(BadDefinition::Twice);
        }
        let alike = self
            .definitions
            .iter()
            .find(|known| known.key != definition.key && known.key.to_lowercase() == definition.key.to_lowercase());
        alike.map_or(Ok(()), |known| Err(BadDefinition::Alike(known.key.clone())))
    }

    pub(super) fn do_define(&mut self, actor: &Actor, definition: &Definition) -> Result<Done, Refused> {
        let key = definition.key.clone();
        let wrong = |bad| invalid(Refusal::Definition { key: key.clone(), bad });
        self.check_definition(definition).map_err(wrong)?;
        self.may(actor, Operation::Definitions, None).map_err(forbidden)?;
        let mut definitions = self.definitions.clone();
        definitions.push(definition.clone());
        self.redefine(definitions);
        // Those who took any tag may have values already.
        for (object, key, list) in self.as_numbers(definition) {
            self.retag(object, &[(key, list)]);
        }
        Ok(done("definition", &definition.key))
    }

    pub(super) fn do_redefine(&mut self, actor: &Actor, change: &Redefinition) -> Result<Done, Refused> {
        let subject = self.profile.subject_name(change.subject);
        let Some(known) = self.definition(change.subject, &change.key) else {
            return Err(unknown_definition(subject, &change.key));
        };
        let changed = Definition {
            options: change.options.clone().unwrap_or_else(|| known.options.clone()),
            regex: change.regex.clone().or_else(|| known.regex.clone()),
            default: change.default.clone().unwrap_or_else(|| known.default.clone()),
            mandatory: change.mandatory.unwrap_or(known.mandatory),
            restricted: change.restricted.unwrap_or(known.restricted),
            immutable: change.immutable.unwrap_or(known.immutable),
            ..known.clone()
        };
        let wrong = |bad| invalid(Refusal::Definition { key: change.key.clone(), bad });
        if change.tag.is_some_and(|tag| tag != known.tag) {
            return Err(wrong(BadDefinition::Type));
        }
        changed.check().map_err(wrong)?;
        self.may(actor, Operation::Definitions, None).map_err(forbidden)?;
        let same = |own: &Definition| own.subject == change.subject && own.key == change.key;
        let definitions =
            self.definitions.iter().map(|own| if same(own) { changed.clone() } else { own.clone() }).collect();
        self.redefine(definitions);
        Ok(done("definition", &change.key))
    }

    pub(super) fn do_undefine(&mut self, actor: &Actor, subject: &str, key: &SmolStr) -> Result<Done, Refused> {
        let known = self.profile.subject(subject).filter(|subject| self.definition(*subject, key).is_some());
        let Some(subject) = known else { return Err(unknown_definition(subject, key)) };
        let uses = |policy: &&Policy| {
            policy
                .rules
                .iter()
                .any(|rule| (policy.a == subject && rule.a == *key) || (policy.b == subject && rule.b == *key))
        };
        if let Some(policy) = self.policies().into_iter().find(uses) {
            return Err(invalid(Refusal::TagInUse { key: key.clone(), policy: policy.id.clone() }));
        }
        self.may(actor, Operation::Definitions, None).map_err(forbidden)?;
        let rest = self.definitions.iter().filter(|own| own.subject != subject || own.key != *key);
        let rest = rest.cloned().collect();
        self.redefine(rest);
        let symbol = self.key(key);
        for place in 0..self.objects.len() {
            let object = ObjectId::new(place);
            if self.values_of(object, key) != NO_VALUES && self.subject_of(object) == Some(subject) {
                self.retag(object, &[(symbol, NO_VALUES)]);
            }
        }
        Ok(done("definition", key))
    }

    pub(super) fn do_set_defaults(&mut self, actor: &Actor, tags: &Tags) -> Result<Done, Refused> {
        self.may(actor, Operation::Definitions, None).map_err(forbidden)?;
        let kinds = self.profile.kinds.iter().filter(|kind| kind.defaults == super::super::Defaults::Given);
        let subjects: Vec<_> = kinds.map(|kind| kind.subject).collect();
        for subject in subjects {
            for (key, values) in tags {
                let Some(definition) = self.check_key(subject, key).map_err(invalid)? else { continue };
                let values: Vec<SmolStr> = values.iter().map(|value| definition.canonical(value)).collect();
                if let Err(bad) = definition.check_values(&values) {
                    let options = definition.options.clone();
                    return Err(invalid(Refusal::Value { key: key.clone(), bad, options }));
                }
            }
        }
        self.set_defaults(tags.clone());
        for place in 0..self.objects.len() {
            let object = ObjectId::new(place);
            if self.described(object).is_some_and(|own| own.standing != Standing::Deleted) {
                self.add_defaults(object);
            }
        }
        Ok(done("defaults", &SmolStr::new_static("default tags")))
    }

    pub(super) fn do_grant(&mut self, actor: &Actor, waiver: &Waiver) -> Result<Done, Refused> {
        self.known_policy(&waiver.policy).map_err(invalid)?;
        if waiver.reason.trim().is_empty() {
            return Err(invalid(Refusal::NoReason { waiver: waiver.id.clone() }));
        }
        let name = self.key(&waiver.id);
        let mut waivers = self.waivers.clone();
        if !waivers.add(waiver.clone(), name) {
            return Err(invalid(Refusal::WaiverExists { waiver: waiver.id.clone() }));
        }
        self.may(actor, Operation::Waivers, None).map_err(forbidden)?;
        self.set_waivers(waivers);
        Ok(done("waiver", &waiver.id))
    }

    pub(super) fn do_revoke(&mut self, actor: &Actor, waiver: &SmolStr) -> Result<Done, Refused> {
        let Some(rest) = self.waivers.without(waiver) else {
            return Err(invalid(Refusal::UnknownWaiver { waiver: waiver.clone() }));
        };
        self.may(actor, Operation::Waivers, None).map_err(forbidden)?;
        self.set_waivers(rest);
        Ok(done("waiver", waiver))
    }

    pub(super) fn do_advance(&mut self, to: Timestamp) -> Result<Done, Refused> {
        if to < self.now {
            return Err(invalid(Refusal::Backwards));
        }
        self.set_now(to);
        Ok(done("clock", &SmolStr::new_static("the clock")))
    }
}
