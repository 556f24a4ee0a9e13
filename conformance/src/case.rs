//! One case, read with the reader that reads everybody's files.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use serde_json::{Map, Value as Json};
use upheld_loader::Format;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Severity, SourceId};

use crate::corpus::CaseFile;

/// The endings of files that may be a list of cases.
const LISTED: [(&str, Format); 2] = [("yaml", Format::Yaml), ("json", Format::Json)];

/// A case: fields by name if it is one file, or several files. A field that is not there is null.
#[derive(Debug)]
pub(crate) struct Case {
    name: String,
    fields: Json,
    files: Vec<(String, PathBuf)>,
}

impl Case {
    /// Reads a case of one document, or each item of its list `cases` as a case with the other fields, by its name, its id or
    /// its place; of several files, none is read yet.
    pub(crate) fn read(case: &CaseFile) -> anyhow::Result<Vec<Self>> {
        let one = |name: String, fields| Self { name, fields, files: case.files.clone() };
        let [(ending, path)] = case.files.as_slice() else { return Ok(vec![one(case.name.clone(), Json::Null)]) };
        let listed = LISTED.into_iter().find(|(known, _)| known == ending).map(|(_, format)| format);
        let Some(format) = listed.or((ending == CaseFile::ALONE).then_some(Format::Yaml)) else {
            return Ok(vec![one(case.name.clone(), Json::Null)]);
        };
        let mut fields = documents(format, &text(path)?)?.into_iter().next().context("the case file is empty")?;
        let Some(Json::Array(items)) = fields.as_object_mut().and_then(|fields| fields.remove("cases")) else {
            return Ok(vec![one(case.name.clone(), fields)]);
        };
        let item = |(index, item): (usize, Json)| {
            let name = ["name", "id"].iter().find_map(|field| item.get(field).and_then(Json::as_str));
            let name = name.map_or_else(|| index.to_string(), str::to_owned);
            one(format!("{}/{name}", case.name), with_all(&fields, &item))
        };
        Ok(items.into_iter().enumerate().map(item).collect())
    }

    /// Its name.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// The variant that it is, for a case with variants.
    pub(crate) fn variant(&self) -> Option<&str> {
        self.name.split_once('/').map(|(_, variant)| variant)
    }

    /// The text of the file with an ending, for example `input.yaml`.
    pub(crate) fn file(&self, ending: &str) -> anyhow::Result<String> {
        let found = self.files.iter().find(|(known, _)| known == ending);
        let (_, path) = found.with_context(|| format!("the case has no file `{ending}`"))?;
        text(path)
    }

    /// The text of a file that lies beside those of the case.
    pub(crate) fn beside(&self, name: &str) -> anyhow::Result<String> {
        let (_, path) = self.files.first().context("the case has no files")?;
        text(&path.with_file_name(name))
    }

    /// Whether there is a file with an ending.
    pub(crate) fn has_file(&self, ending: &str) -> bool {
        self.files.iter().any(|(known, _)| known == ending)
    }

    /// All YAML documents of the file with an ending.
    pub(crate) fn documents(&self, ending: &str) -> anyhow::Result<Vec<Json>> {
        documents(Format::Yaml, &self.file(ending)?).with_context(|| format!("in `{ending}`"))
    }

    /// The one YAML document of the file with an ending; null if the file is empty.
    pub(crate) fn document(&self, ending: &str) -> anyhow::Result<Json> {
        Ok(self.documents(ending)?.into_iter().next().unwrap_or_default())
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

/// Fields of a file, and over them those of one of its cases.
fn with_all(fields: &Json, item: &Json) -> Json {
    let all = [fields, item].into_iter().filter_map(Json::as_object).flatten();
    Json::Object(all.map(|(key, value)| (key.clone(), value.clone())).collect())
}

fn text(path: &Path) -> anyhow::Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read `{}`", path.display()))
}

fn documents(format: Format, text: &str) -> anyhow::Result<Vec<Json>> {
    let (file, problems) = upheld_syntax::parse("case", format, text.to_owned(), SourceId::new(0));
    if let Some(problem) = problems.iter().find(|problem| problem.severity == Severity::Error) {
        bail!("the case file is broken: {}", problem.message);
    }
    let read = |document| {
        if format == Format::Yaml { json(document) } else { serde_json::to_value(document).unwrap_or_default() }
    };
    Ok(file.tree.documents().map(read).filter(|value| !value.is_null()).collect())
}

/// As the programs that wrote the cases read it: what begins with zeros, or has an exponent without a point, is text.
fn json(value: Value<'_>) -> Json {
    match value.kind() {
        Kind::Integer | Kind::Float if is_text_to_others(value.text()) => Json::String(value.text().to_owned()),
        Kind::List => Json::Array(value.items().map(json).collect()),
        Kind::Map => Json::Object(value.entries().map(|(key, value)| (key.text().to_owned(), json(value))).collect()),
        _ => serde_json::to_value(value).unwrap_or_default(),
    }
}

fn is_text_to_others(number: &str) -> bool {
    let digits = number.trim_start_matches(['+', '-']);
    let zeros =
        digits.len() > 1 && digits.starts_with('0') && digits.contains(['8', '9', 'o']) && !digits.contains('.');
    zeros || (digits.contains(['e', 'E']) && !digits.contains('.') && !digits.starts_with("0x"))
}
