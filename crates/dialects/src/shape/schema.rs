//! Shapes as JSON Schema, and one shape in place of what another leaves open.

use serde_json::{Map, Value as Json, json};

use super::{Field, Need, Shape};

impl Shape {
    /// As JSON Schema. Rules besides the shape are not part of it.
    pub fn schema(&self) -> Json {
        match self {
            Self::Opaque => json!(true),
            Self::Text => json!({"type": "string"}),
            Self::Name => json!({"type": "string", "minLength": 1}),
            Self::Integer => json!({"type": "integer"}),
            Self::Between(least, i64::MAX) => json!({"type": "integer", "minimum": least}),
            Self::Between(least, most) => json!({"type": "integer", "minimum": least, "maximum": most}),
            Self::Number => json!({"type": "number"}),
            Self::Bool => json!({"type": "boolean"}),
            Self::Choice(choices) => json!({"enum": choices}),
            Self::OneOf(choices) => json!({"enum": choices}),
            Self::Formatted(format) => json!({"type": "string", "pattern": format.pattern()}),
            Self::List(item) => json!({"type": "array", "items": item.schema()}),
            Self::MapOf(item) => json!({"type": "object", "additionalProperties": item.schema()}),
            Self::Either(shapes) => json!({"anyOf": shapes.iter().map(Self::schema).collect::<Vec<_>>()}),
            Self::Object(fields) => object(fields),
            Self::Open(fields) => {
                let mut schema = object(fields);
                if let Some(schema) = schema.as_object_mut() {
                    schema.insert("additionalProperties".to_owned(), json!(true));
                }
                schema
            }
            Self::Ruled(inner, _) => inner.schema(),
            Self::Shared(inner) => inner.schema(),
        }
    }

    /// The shape of a document, with its `spec` as another shape has it where it is open.
    #[must_use]
    pub(crate) fn with_spec(&self, spec: &Self) -> Self {
        let field = Field { name: "spec".to_owned(), shape: spec.clone(), need: Need::Optional, about: "" };
        self.refined(&Self::Object(vec![field]))
    }

    /// This shape, with what it leaves open as the other one has it.
    #[must_use]
    pub(crate) fn refined(&self, by: &Self) -> Self {
        match (self, by) {
            (_, Self::Shared(by)) => self.refined(by),
            (Self::Opaque, by) => by.clone(),
            (Self::MapOf(item), by @ (Self::Object(_) | Self::Open(_) | Self::Ruled(..)))
                if matches!(**item, Self::Opaque) =>
            {
                by.clone()
            }
            (_, Self::Ruled(by, _)) => self.refined(by),
            (Self::List(item), Self::List(by)) => Self::List(Box::new(item.refined(by))),
            (Self::Object(fields), Self::Object(by)) => {
                let refine = |field: &Field| match by.iter().find(|by| by.name == field.name) {
                    Some(by) => Field { shape: field.shape.refined(&by.shape), ..field.clone() },
                    None => field.clone(),
                };
                Self::Object(fields.iter().map(refine).collect())
            }
            _ => self.clone(),
        }
    }
}

fn object(fields: &[Field]) -> Json {
    let mut properties = Map::new();
    for field in fields {
        let mut schema = match &field.shape {
            Shape::Opaque => json!({}),
            shape => shape.schema(),
        };
        if let (Some(schema), false) = (schema.as_object_mut(), field.about.is_empty()) {
            schema.insert("description".to_owned(), json!(field.about));
        }
        properties.insert(field.name.clone(), schema);
    }
    let required: Vec<_> =
        fields.iter().filter(|field| field.need == Need::Required).map(|field| &field.name).collect();
    let mut schema = json!({
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": false,
    });
    let either = fields.iter().filter_map(|field| match field.need {
        Need::Unless(other) => Some(json!({"anyOf": [{"required": [field.name]}, {"required": [other]}]})),
        Need::Required | Need::Optional => None,
    });
    let either: Vec<Json> = either.collect();
    if let Some(schema) = schema.as_object_mut().filter(|_| !either.is_empty()) {
        schema.insert("allOf".to_owned(), json!(either));
    }
    schema
}
