//! The parts of a request of the standard. Fields that nobody knows are passed over.

use serde_json::{Map, Value as Json};

use super::bad_request::{BadRequest, Problem};
use crate::access::decider::method_of;

/// Properties as a request gives them.
pub(super) type Properties<'j> = Option<&'j Map<String, Json>>;

/// A subject or a resource.
#[derive(Clone, Copy)]
pub(super) struct Entity<'j> {
    pub(super) kind: &'j str,
    pub(super) id: &'j str,
    pub(super) properties: Properties<'j>,
}

/// The subjects or resources that a search is for; an id is not looked at.
#[derive(Clone, Copy)]
pub(super) struct Wanted<'j> {
    pub(super) kind: &'j str,
    pub(super) properties: Properties<'j>,
}

/// An action.
#[derive(Clone, Copy)]
pub(super) struct Doing<'j> {
    pub(super) name: &'j str,
    pub(super) properties: Properties<'j>,
}

/// The parts as they came.
#[derive(Clone, Copy, Default)]
pub(super) struct Parts<'j> {
    pub(super) subject: Option<&'j Json>,
    pub(super) action: Option<&'j Json>,
    pub(super) resource: Option<&'j Json>,
    pub(super) context: Option<&'j Json>,
}

impl<'j> Parts<'j> {
    pub(super) fn of(fields: &'j Map<String, Json>) -> Self {
        let part = |name: &str| fields.get(name);
        Self { subject: part("subject"), action: part("action"), resource: part("resource"), context: part("context") }
    }

    /// These parts where there are any, else those: whole parts, never fields of them.
    pub(super) fn or(self, defaults: Self) -> Self {
        Self {
            subject: self.subject.or(defaults.subject),
            action: self.action.or(defaults.action),
            resource: self.resource.or(defaults.resource),
            context: self.context.or(defaults.context),
        }
    }

    /// Whether each part that is there is an object.
    pub(super) fn are_objects(self) -> Result<(), BadRequest> {
        let parts = [("subject", self.subject), ("action", self.action), ("resource", self.resource)];
        for (name, part) in parts.into_iter().chain([("context", self.context)]) {
            optional(part, name, "an object", Json::as_object)?;
        }
        Ok(())
    }

    pub(super) fn subject(self) -> Result<Entity<'j>, BadRequest> {
        entity(self.subject, "subject")
    }

    pub(super) fn resource(self) -> Result<Entity<'j>, BadRequest> {
        entity(self.resource, "resource")
    }

    pub(super) fn any_subject(self) -> Result<Wanted<'j>, BadRequest> {
        wanted(self.subject, "subject")
    }

    pub(super) fn any_resource(self) -> Result<Wanted<'j>, BadRequest> {
        wanted(self.resource, "resource")
    }

    pub(super) fn action(self) -> Result<Doing<'j>, BadRequest> {
        let fields = required(self.action, "action", "an object", Json::as_object)?;
        let name = required(fields.get("name"), "action.name", "text", Json::as_str)?;
        let properties = properties(fields, "action")?;
        let said = properties.and_then(|properties| properties.get("method")).filter(|said| !said.is_null());
        if let (Some(method), Some(said)) = (method_of(name), said)
            && said.as_str().and_then(method_of) != Some(method)
        {
            return Err(BadRequest::new("action.properties.method", Problem::OtherMethod(method)));
        }
        Ok(Doing { name, properties })
    }

    pub(super) fn context(self) -> Result<Properties<'j>, BadRequest> {
        optional(self.context, "context", "an object", Json::as_object)
    }
}

/// The fields of the whole request.
pub(super) fn fields(request: &Json) -> Result<&Map<String, Json>, BadRequest> {
    required(Some(request), "", "an object", Json::as_object)
}

/// A field that must be there.
fn required<'j, T>(
    value: Option<&'j Json>,
    at: &str,
    expected: &'static str,
    read: impl FnOnce(&'j Json) -> Option<T>,
) -> Result<T, BadRequest> {
    let value = value.ok_or_else(|| BadRequest::new(at, Problem::Missing))?;
    read(value).ok_or_else(|| BadRequest::wrong_type(at, expected, value))
}

/// A field that may be left out, or be null.
pub(super) fn optional<'j, T>(
    value: Option<&'j Json>,
    at: &str,
    expected: &'static str,
    read: impl FnOnce(&'j Json) -> Option<T>,
) -> Result<Option<T>, BadRequest> {
    match value.filter(|value| !value.is_null()) {
        Some(value) => required(Some(value), at, expected, read).map(Some),
        None => Ok(None),
    }
}

fn entity<'j>(part: Option<&'j Json>, name: &str) -> Result<Entity<'j>, BadRequest> {
    let fields = required(part, name, "an object", Json::as_object)?;
    let text = |field: &str| required(fields.get(field), &format!("{name}.{field}"), "text", Json::as_str);
    Ok(Entity { kind: text("type")?, id: text("id")?, properties: properties(fields, name)? })
}

fn wanted<'j>(part: Option<&'j Json>, name: &str) -> Result<Wanted<'j>, BadRequest> {
    let fields = required(part, name, "an object", Json::as_object)?;
    let kind = required(fields.get("type"), &format!("{name}.type"), "text", Json::as_str)?;
    Ok(Wanted { kind, properties: properties(fields, name)? })
}

fn properties<'j>(fields: &'j Map<String, Json>, name: &str) -> Result<Properties<'j>, BadRequest> {
    optional(fields.get("properties"), &format!("{name}.properties"), "an object", Json::as_object)
}
