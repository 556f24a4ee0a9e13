//! One case file, read with the reader that reads everybody's files.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json};
use upheld_input::Format;
use upheld_model::{Severity, SourceId};

/// A case: fields by name. A field that is not there is null.
#[derive(Debug)]
pub(crate) struct Case {
    fields: Json,
}

impl Case {
    /// Reads a case of one YAML document.
    pub(crate) fn read(path: &Path) -> anyhow::Result<Self> {
        let text = fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))?;
        let (file, problems) = upheld_input::parse("case", Format::Yaml, text, SourceId::new(0));
        if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
            bail!("the case file is broken: {}", problem.message);
        }
        let document = file.tree.documents().next().context("the case file is empty")?;
        Ok(Self { fields: serde_json::to_value(document)? })
    }

    /// A field of the case.
    pub(crate) fn field(&self, name: &str) -> &Json {
        self.fields.get(name).unwrap_or(&Json::Null)
    }

    /// A field of the case that is text.
    pub(crate) fn text(&self, name: &str) -> anyhow::Result<&str> {
        self.field(name).as_str().with_context(|| format!("the case has no text `{name}`"))
    }

    /// Whether a field of the case is there and not false.
    pub(crate) fn says(&self, name: &str) -> bool {
        !matches!(self.field(name), Json::Null | Json::Bool(false))
    }

    /// A part of what goes in.
    pub(crate) fn input(&self, name: &str) -> &Json {
        self.field("input").get(name).unwrap_or(&Json::Null)
    }

    /// A list of what goes in; nothing if the case leaves it out.
    pub(crate) fn input_list(&self, name: &str) -> &[Json] {
        self.input(name).as_array().map_or(&[], Vec::as_slice)
    }

    /// What must come out.
    pub(crate) fn expected(&self) -> &Json {
        self.field("expected")
    }

    /// What must come out, by name.
    pub(crate) fn expected_map(&self) -> anyhow::Result<&Map<String, Json>> {
        self.expected().as_object().context("the case expects something that is no map")
    }
}
