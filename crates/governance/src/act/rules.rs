//! Changing what holds: policies, definitions, defaults and waivers.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::comply::{Defaults, NO_VALUES, ObjectId, ObjectState, Policy, Rule, Rules, Selectors, Tags, Waiver};
use upheld_model::nearest::nearest;

use super::{Done, Refused, forbidden, invalid};
use crate::definition::{BadDefinition, Definition, Redefinition};
use crate::rights::Operation;
use crate::schema::TagSchema;
use crate::{Actor, Keeping, Organisation, Refusal};

fn unknown_definition(subject: &str, key: &str) -> Refused {
    invalid(Refusal::UnknownDefinition { subject: SmolStr::new(subject), key: SmolStr::new(key) })
}

impl Organisation {
    /// Whether a policy makes sense here.
    pub fn check_policy(&self, policy: &Policy) -> Result<(), Refusal> {
        let name = |subject| SmolStr::new(self.profile().subject_name(subject));
        if self.profile().pair(policy.a, policy.b).is_none() {
            return Err(Refusal::NoPair { a: name(policy.a), b: name(policy.b) });
        }
        let count = policy.rules.len();
        if count == 0 || (count > 1 && self.profile().rules == Rules::One) {
            return Err(Refusal::RuleCount { count });
        }
        let alone = policy.a == policy.b;
        if policy.strategy.is_alone() != alone || !(alone || self.profile().strategies.contains(&policy.strategy)) {
            return Err(Refusal::Strategy { strategy: SmolStr::new_static(policy.strategy.word()) });
        }
        let is_cut = policy.only.iter().any(|own| !own.is_everything());
        if is_cut && self.profile().selectors == Selectors::None {
            return Err(Refusal::Selectors { policy: policy.id.clone() });
        }
        for rule in &policy.rules {
            self.schema.check_key(self.profile(), policy.a, &rule.a)?;
            self.schema.check_key(self.profile(), policy.b, &rule.b)?;
        }
        for (subject, only) in [policy.a, policy.b].into_iter().zip(&policy.only) {
            for (key, _) in only.selectors().flat_map(|selector| &selector.tags) {
                self.schema.check_key(self.profile(), subject, key)?;
            }
        }
        Ok(())
    }

    pub(super) fn do_create_policy(&mut self, actor: &Actor, policy: &Policy) -> Result<Done, Refused> {
        if self.comply.policy(&policy.id).is_some() {
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
        self.may(actor, Operation::Policies, || None).map_err(forbidden)?;
        self.steps().put_policy(&policy.id, Some(Arc::new(policy.clone())));
        Ok(Done::nothing_looked_at("policy", &policy.id))
    }

    fn known_policy(&self, name: &str) -> Result<(), Refusal> {
        if self.comply.policy(name).is_some() {
            return Ok(());
        }
        let nearest = nearest(name, self.comply.policies().into_iter().map(|policy| policy.id.as_str()));
        Err(Refusal::UnknownPolicy { written: SmolStr::new(name), nearest: nearest.map(SmolStr::new) })
    }

    pub(super) fn do_delete_policy(&mut self, actor: &Actor, policy: &SmolStr) -> Result<Done, Refused> {
        self.known_policy(policy).map_err(invalid)?;
        let waived = self.comply.waivers().iter().find(|waiver| waiver.policy == *policy);
        if let Some(waiver) = waived.filter(|_| self.keeping == Keeping::Documents) {
            return Err(invalid(Refusal::PolicyWaived { policy: policy.clone(), waiver: waiver.id.clone() }));
        }
        self.may(actor, Operation::Policies, || None).map_err(forbidden)?;
        self.steps().put_policy(policy, None);
        Ok(Done::nothing_looked_at("delete-policy", policy))
    }

    pub(super) fn do_define(&mut self, actor: &Actor, definition: &Definition) -> Result<Done, Refused> {
        let key = definition.key.clone();
        let wrong = |bad| invalid(Refusal::Definition { key: key.clone(), bad });
        self.schema.check(definition).map_err(wrong)?;
        self.may(actor, Operation::Definitions, || None).map_err(forbidden)?;
        Arc::make_mut(&mut self.schema).define(definition.clone());
        // Those who took any tag may have values already.
        for (object, values) in TagSchema::as_numbers(definition, &self.comply) {
            self.set_texts(object, &vec![(definition.key.clone(), values)]);
        }
        Ok(Done::nothing_looked_at("definition", &definition.key))
    }

    pub(super) fn do_redefine(&mut self, actor: &Actor, change: &Redefinition) -> Result<Done, Refused> {
        let subject = self.profile().subject_name(change.subject);
        let Some(known) = self.schema.definition(change.subject, &change.key) else {
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
        self.may(actor, Operation::Definitions, || None).map_err(forbidden)?;
        for own in &mut Arc::make_mut(&mut self.schema).definitions {
            if (own.subject, &own.key) == (changed.subject, &changed.key) {
                own.clone_from(&changed);
            }
        }
        Ok(Done::nothing_looked_at("definition", &change.key))
    }

    pub(super) fn do_undefine(&mut self, actor: &Actor, subject: &str, key: &SmolStr) -> Result<Done, Refused> {
        let known = self.profile().subject(subject).filter(|subject| self.schema.definition(*subject, key).is_some());
        let Some(subject) = known else { return Err(unknown_definition(subject, key)) };
        let uses = |policy: &&Policy| {
            let looked_at =
                |rule: &Rule| (policy.a == subject && rule.a == *key) || (policy.b == subject && rule.b == *key);
            let sides = [policy.a, policy.b].into_iter().zip(&policy.only).filter(|(own, _)| *own == subject);
            let mut selectors = sides.flat_map(|(_, only)| only.selectors());
            policy.rules.iter().any(looked_at)
                || selectors.any(|selector| selector.tags.iter().any(|(own, _)| own == key))
        };
        if let Some(policy) = self.comply.policies().into_iter().find(uses) {
            return Err(invalid(Refusal::TagInUse { key: key.clone(), policy: policy.id.clone() }));
        }
        self.may(actor, Operation::Definitions, || None).map_err(forbidden)?;
        Arc::make_mut(&mut self.schema).definitions.retain(|own| own.subject != subject || own.key != *key);
        let kinds = self.profile().kinds_of_subject(subject);
        let objects = kinds.flat_map(|kind| self.comply.objects_of(kind));
        let tagged: Vec<ObjectId> = objects.filter(|object| self.comply.values_of(*object, key) != NO_VALUES).collect();
        for object in tagged {
            self.set_texts(object, &vec![(key.clone(), Vec::new())]);
        }
        Ok(Done::nothing_looked_at("definition", key))
    }

    pub(super) fn do_set_defaults(&mut self, actor: &Actor, tags: &Tags) -> Result<Done, Refused> {
        self.may(actor, Operation::Definitions, || None).map_err(forbidden)?;
        let kinds = self.profile().kinds.iter().filter(|kind| kind.defaults == Defaults::Given);
        let subjects: Vec<_> = kinds.map(|kind| kind.subject).collect();
        for subject in subjects {
            for (key, values) in tags {
                let Some(definition) = self.schema.check_key(self.profile(), subject, key).map_err(invalid)? else {
                    continue;
                };
                let values: Vec<SmolStr> = values.iter().map(|value| definition.canonical(value)).collect();
                if let Err(bad) = definition.check_values(&values) {
                    let options = definition.options.clone();
                    return Err(invalid(Refusal::Value { key: key.clone(), bad, options }));
                }
            }
        }
        let before = Arc::clone(&self.schema);
        Arc::make_mut(&mut self.schema).defaults.clone_from(tags);
        for object in self.takers() {
            self.change_defaults(object, &before);
        }
        Ok(Done::nothing_looked_at("defaults", "default tags"))
    }

    /// The objects that get default tags.
    fn takers(&self) -> Vec<ObjectId> {
        let kinds = self.profile().kinds_with_defaults();
        let all = kinds.flat_map(|kind| self.comply.objects_of(kind));
        let is_there =
            |object: &ObjectId| self.comply.described(*object).is_some_and(|own| own.standing != ObjectState::Deleted);
        all.filter(is_there).collect()
    }

    pub(super) fn do_grant(&mut self, actor: &Actor, waiver: &Waiver) -> Result<Done, Refused> {
        self.known_policy(&waiver.policy).map_err(invalid)?;
        if waiver.reason.trim().is_empty() {
            return Err(invalid(Refusal::NoReason { waiver: waiver.id.clone() }));
        }
        if self.comply.waiver(&waiver.id).is_some() {
            return Err(invalid(Refusal::WaiverExists { waiver: waiver.id.clone() }));
        }
        self.may(actor, Operation::Waivers, || None).map_err(forbidden)?;
        self.steps().grant(waiver.clone());
        Ok(Done::nothing_looked_at("waiver", &waiver.id))
    }

    pub(super) fn do_revoke(&mut self, actor: &Actor, waiver: &SmolStr) -> Result<Done, Refused> {
        if self.comply.waiver(waiver).is_none() {
            return Err(invalid(Refusal::UnknownWaiver { waiver: waiver.clone() }));
        }
        self.may(actor, Operation::Waivers, || None).map_err(forbidden)?;
        self.steps().revoke(waiver);
        Ok(Done::nothing_looked_at("waiver", waiver))
    }
}
