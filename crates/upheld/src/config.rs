//! Settings and where each comes from: flag, then environment, then the project's `upheld.yaml`, then the user's, then the
//! default.

use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::sync::Arc;

use clap::ValueEnum;
use upheld_dialects::default_editions;
use upheld_dialects::dialect::{read_settings, system_settings};
use upheld_dialects::recognise::Surroundings;
use upheld_dialects::shape::{Checker, Shape, list, optional};
use upheld_engine::Companions;
use upheld_loader::Input;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Diagnostics, Fault, Files, SourceId};

use crate::cli::{AnonymousCallers, Color, Common, MaxStale, Output, SchemaChecks};
use crate::remote::Remote;

/// The name of the file that settings are read from.
pub(crate) const FILE: &str = "upheld.yaml";

/// A setting with its origin.
#[derive(Clone, Debug)]
pub(crate) struct Setting<T> {
    pub(crate) value: T,
    pub(crate) origin: String,
}

/// Everything that can be set.
#[derive(Clone, Debug)]
pub(crate) struct Settings {
    pub(crate) files: Setting<Vec<String>>,
    /// What is left out, each with the folder that it is written for.
    pub(crate) exclude: Setting<Vec<(PathBuf, String)>>,
    /// What becomes of files that are not ours.
    pub(crate) reading: Reading,
    /// Whether charts and kustomizations are rendered.
    pub(crate) packages: Packages,
    pub(crate) semantics: Setting<Vec<String>>,
    pub(crate) mesh: Setting<Option<String>>,
    pub(crate) output: Setting<Output>,
    pub(crate) color: Setting<Color>,
    /// What systems were started with, by their names, as `name=value`.
    pub(crate) systems: Vec<(&'static str, Setting<Vec<String>>)>,
    /// Whether fields of known kinds are checked.
    pub(crate) schemas: Setting<SchemaChecks>,
    /// Whom a server believes what proxies pass on, as `name=value`.
    pub(crate) trust: Setting<Vec<String>>,
    /// What those may do at most with a server who do not say who they are.
    pub(crate) anonymous: Setting<AnonymousCallers>,
    /// For how long a server answers that does not hear from its store.
    pub(crate) max_stale: Setting<MaxStale>,
    /// What a server knows, in place of files.
    pub(crate) remote: Option<Remote>,
}

/// What becomes of files that are not ours.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reading {
    /// They are left aside, and counted.
    Lenient,
    /// They are errors.
    Strict,
}

/// What becomes of charts and kustomizations.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Packages {
    /// Their files are read as they lie there.
    AsTheyAre,
    /// What their programs make of them is read.
    Rendered,
}

impl Settings {
    /// What dialects are reported besides documents.
    pub(crate) fn companions(&self) -> Result<Companions, Vec<Diagnostic>> {
        let systems = self.systems.iter().map(|(name, setting)| (*name, setting.value.as_slice()));
        let surroundings = match self.reading {
            Reading::Lenient => Surroundings::Mixed,
            Reading::Strict => Surroundings::Own,
        };
        Ok(read_settings(systems)?.with(Arc::new(self.schemas.value.schemas())).with(Arc::new(surroundings)))
    }
}

/// Settings that cannot be used, with the texts to show where.
#[derive(Debug)]
pub(crate) struct BadSettings {
    pub(crate) files: Files,
    pub(crate) diagnostics: Vec<Diagnostic>,
}

/// What an `upheld.yaml` looks like.
pub(crate) fn shape() -> Shape {
    let texts = || Shape::Either(vec![list(Shape::Text), Shape::Text]);
    let own = vec![
        optional("files", texts(), "files, folders and globs to read, relative to this file"),
        optional("exclude", texts(), "files and folders to leave out, written as in a .gitignore beside this file"),
        optional("semantics", texts(), "editions of the rules, for example kuma/0.4"),
        optional("mesh", Shape::Text, "the mesh to ask about"),
        optional("output", Shape::Choice(&["table", "wide", "json", "yaml", "jsonl", "name"]), "how to print answers"),
        optional("color", Shape::Choice(&["auto", "always", "never"]), "when to use colour"),
        optional(
            "schemas",
            Shape::Choice(&["on", "off"]),
            "whether fields of known kinds are checked by name and type",
        ),
        optional(
            "trust",
            texts(),
            "whom `serve` believes what proxies pass on: peer=NETWORK, hops=COUNT, identity-header=NAME, app-header=NAME, \
             host-header=NAME, headers=all",
        ),
        optional(
            "anonymous",
            Shape::Choice(&["auto", "none", "decide", "read", "rights"]),
            "what those may do at most with `serve` who do not say who they are",
        ),
        optional(
            "max-stale",
            Shape::Text,
            "when `serve` refuses to answer: so long after the store last confirmed that there is nothing newer, for example 30s, or off",
        ),
    ];
    let systems = system_settings().map(|system| optional(system.name, texts(), system.about));
    Shape::Object(own.into_iter().chain(systems).collect())
}

/// Where settings may come from, outermost last.
struct Layers {
    /// Flags and environment, by setting.
    given: Vec<(&'static str, Vec<String>, String)>,
    files: Files,
    /// Base folder of each file, nearest first.
    bases: Vec<PathBuf>,
}

/// The settings in force.
pub(crate) fn settings(flags: &Common, environment: impl Fn(&str) -> Option<String>) -> Result<Settings, BadSettings> {
    let current = std::env::current_dir().unwrap_or_default();
    let paths: Vec<PathBuf> = project_file(&current).into_iter().chain(user_file(&environment)).collect();
    let inputs = paths.iter().map(|path| Input::file(shown(path, &current), path)).collect();
    let (files, mut problems) = upheld_loader::read(inputs);
    let bases = paths.iter().map(|path| path.parent().map(Path::to_path_buf).unwrap_or_default()).collect();
    for (source, file) in files.iter() {
        for document in file.tree.documents() {
            Checker::new(source, &mut problems).check(document, &shape());
        }
    }
    let layers = Layers { given: given(flags, &environment), files, bases };
    let settings = layers.settings(&current, flags, &mut problems);
    if problems.errors() > 0 {
        return Err(BadSettings { files: layers.files, diagnostics: problems.into_iter().collect() });
    }
    Ok(settings)
}

fn given(flags: &Common, environment: &impl Fn(&str) -> Option<String>) -> Vec<(&'static str, Vec<String>, String)> {
    let mut given = Vec::new();
    let mut flag = |name: &'static str, values: Vec<String>, origin: &str| {
        if !values.is_empty() {
            given.push((name, values, origin.to_owned()));
        }
    };
    let named = |value: Option<String>| value.into_iter().collect::<Vec<_>>();
    flag("files", flags.files.clone(), "flag -f");
    flag("exclude", flags.folders.exclude.clone(), "flag --exclude");
    flag("semantics", flags.semantics.clone(), "flag --semantics");
    flag("mesh", named(flags.mesh.clone()), "flag --mesh");
    flag("output", named(flags.output.as_ref().map(name_of)), "flag --output");
    flag("color", named(flags.color.as_ref().map(name_of)), "flag --color");
    for (name, values) in &flags.systems {
        flag(name, values.clone(), &format!("flag --{name}"));
    }
    flag("schemas", named(flags.schemas.as_ref().map(name_of)), "flag --schemas");
    let names =
        ["files", "exclude", "semantics", "mesh", "output", "color", "schemas", "trust", "anonymous", "max-stale"]
            .into_iter();
    for name in names.chain(system_settings().map(|system| system.name)) {
        let variable = format!("UPHELD_{}", name.to_uppercase().replace('-', "_"));
        if let Some(value) = environment(&variable).filter(|value| !value.is_empty()) {
            let values = match name {
                "files" => std::env::split_paths(&value).map(|path| path.display().to_string()).collect(),
                "semantics" | "trust" | "exclude" => value.split(',').map(str::to_owned).collect(),
                _ => vec![value],
            };
            given.push((name, values, format!("environment {variable}")));
        }
    }
    given
}

impl Layers {
    fn settings(&self, current: &Path, flags: &Common, problems: &mut Diagnostics) -> Settings {
        let one = |name: &str, default: &str| {
            let Setting { value, origin } = self.find(name, current).unwrap_or_else(|| default_of(&[default]));
            Setting { value: value.into_iter().next().unwrap_or_default(), origin }
        };
        let mesh = one("mesh", "");
        let output = one("output", "table");
        let color = one("color", "auto");
        let schemas = one("schemas", "on");
        let anonymous = one("anonymous", "auto");
        let max_stale = one("max-stale", "off");
        Settings {
            files: self.find("files", current).unwrap_or_else(|| default_of(&["."])),
            exclude: self.exclude(current),
            reading: if flags.folders.strict { Reading::Strict } else { Reading::Lenient },
            packages: if flags.folders.render { Packages::Rendered } else { Packages::AsTheyAre },
            semantics: self
                .find("semantics", current)
                .unwrap_or_else(|| default_of(&default_editions().collect::<Vec<_>>())),
            mesh: Setting { value: Some(mesh.value).filter(|mesh| !mesh.is_empty()), origin: mesh.origin },
            output: choose(output, "output", problems),
            color: choose(color, "color", problems),
            systems: system_settings()
                .map(|system| (system.name, self.find(system.name, current).unwrap_or_else(|| default_of(&[]))))
                .collect(),
            schemas: choose(schemas, "schemas", problems),
            trust: self.find("trust", current).unwrap_or_else(|| default_of(&[])),
            anonymous: choose(anonymous, "anonymous", problems),
            max_stale: parse(max_stale, "max-stale", problems),
            remote: None,
        }
    }

    /// The first layer that sets it.
    fn find(&self, name: &str, current: &Path) -> Option<Setting<Vec<String>>> {
        if let Some((_, value, origin)) = self.given.iter().find(|(known, ..)| *known == name) {
            return Some(Setting { value: value.clone(), origin: origin.clone() });
        }
        self.files.iter().zip(&self.bases).find_map(|((source, file), base)| {
            let value = file.tree.documents().find_map(|document| document.get(name))?;
            let mut values = texts(value);
            if name == "files" {
                values = values.iter().map(|path| relative(base, current, path)).collect();
            }
            Some(Setting { value: values, origin: self.origin(source, value) })
        })
    }

    /// What all layers exclude together: a flag adds to what a file says.
    fn exclude(&self, current: &Path) -> Setting<Vec<(PathBuf, String)>> {
        let (mut value, mut origins) = (Vec::new(), Vec::new());
        for ((source, file), base) in self.files.iter().zip(&self.bases) {
            if let Some(written) = file.tree.documents().find_map(|document| document.get("exclude")) {
                value.extend(texts(written).into_iter().map(|pattern| (base.clone(), pattern)));
                origins.push(self.origin(source, written));
            }
        }
        for (_, patterns, origin) in self.given.iter().filter(|(name, ..)| *name == "exclude") {
            value.extend(patterns.iter().map(|pattern| (current.to_path_buf(), pattern.clone())));
            origins.push(origin.clone());
        }
        let origin = if origins.is_empty() { "default".to_owned() } else { origins.join(", ") };
        Setting { value, origin }
    }

    fn origin(&self, source: SourceId, value: Value<'_>) -> String {
        let place = self.files.locate_span(source, value.span());
        place.map(|place| format!("{}:{}", place.file, place.line)).unwrap_or_default()
    }
}

fn texts(value: Value<'_>) -> Vec<String> {
    match value.as_text() {
        Some(text) => vec![text.to_owned()],
        None => value.items().map(|item| item.text().to_owned()).collect(),
    }
}

fn default_of(values: &[&str]) -> Setting<Vec<String>> {
    Setting { value: values.iter().map(|value| (*value).to_owned()).collect(), origin: "default".to_owned() }
}

fn choose<T: ValueEnum + Default>(setting: Setting<String>, name: &str, problems: &mut Diagnostics) -> Setting<T> {
    let value = T::from_str(&setting.value, true).unwrap_or_else(|_| {
        let known: Vec<String> = T::value_variants().iter().map(name_of).collect();
        let message = format!("`{name}` cannot be `{}` ({})", setting.value, setting.origin);
        let help = format!("expected one of: {}", known.join(", "));
        problems.push(Diagnostic::error(Fault::BadSetting, message).help(help));
        T::default()
    });
    Setting { value, origin: setting.origin }
}

fn parse<T: FromStr<Err = String> + Default>(
    setting: Setting<String>,
    name: &str,
    problems: &mut Diagnostics,
) -> Setting<T> {
    let value = setting.value.parse().unwrap_or_else(|wrong: String| {
        problems.push(Diagnostic::error(Fault::BadSetting, format!("`{name}`: {wrong} ({})", setting.origin)));
        T::default()
    });
    Setting { value, origin: setting.origin }
}

pub(crate) fn name_of<T: ValueEnum>(value: &T) -> String {
    value.to_possible_value().map(|value| value.get_name().to_owned()).unwrap_or_default()
}

/// The nearest `upheld.yaml` from here upwards.
pub(crate) fn project_file(current: &Path) -> Option<PathBuf> {
    current.ancestors().map(|folder| folder.join(FILE)).find(|path| path.is_file())
}

/// The user's own file; there may be no home at all.
fn user_file(environment: &impl Fn(&str) -> Option<String>) -> Option<PathBuf> {
    let folder = if cfg!(windows) { environment("APPDATA").map(PathBuf::from) } else { None };
    let folder = folder
        .or_else(|| environment("XDG_CONFIG_HOME").map(PathBuf::from))
        .or_else(|| environment("HOME").map(|home| Path::new(&home).join(".config")))?;
    Some(folder.join("upheld").join(FILE)).filter(|path| path.is_file())
}

/// A path of a settings file, as seen from the current folder.
fn relative(base: &Path, current: &Path, path: &str) -> String {
    if path == "-" || Path::new(path).is_absolute() || path.starts_with("builtin:") || base == current {
        return path.to_owned();
    }
    let mut up = PathBuf::new();
    for ancestor in current.ancestors() {
        if let Ok(down) = base.strip_prefix(ancestor) {
            return up.join(down).join(path).display().to_string();
        }
        up.push("..");
    }
    base.join(path).display().to_string()
}

fn shown(path: &Path, current: &Path) -> String {
    path.strip_prefix(current).unwrap_or(path).display().to_string()
}

/// A starting `upheld.yaml`.
pub(crate) fn starter(paths: &[String]) -> String {
    let files: String = paths.iter().map(|path| format!("- {}\n", quoted(path))).collect();
    let semantics: String = default_editions().map(|name| format!("- {name}\n")).collect();
    format!(
        "# What `upheld` reads when no -f is given. All settings: upheld schema upheld.yaml\n\
         files:\n{files}\n\
         # The editions of the rules: kuma/0.3 (tags, exact values, name) or kuma/0.4 (the newest before the name) for policies\n\
         # with sources and destinations; kuma/2, kuma/2-cliques or kuma/3 for policies with target references.\n\
         semantics:\n{semantics}"
    )
}

fn quoted(path: &str) -> String {
    serde_json::to_string(path).unwrap_or_else(|_| path.to_owned())
}

#[cfg(test)]
/// Reads a text as settings, for checks.
pub(crate) fn check_text(text: &str) -> Diagnostics {
    let (file, found) = upheld_syntax::parse(FILE, upheld_loader::Format::Yaml, text.to_owned(), SourceId::new(0));
    let mut problems = Diagnostics::default();
    problems.extend(found);
    for document in file.tree.documents() {
        Checker::new(SourceId::new(0), &mut problems).check(document, &shape());
    }
    problems
}

#[cfg(test)]
mod tests {
    use super::check_text;

    #[test]
    fn settings_are_checked() {
        assert_eq!(check_text("files: [policies]\n").errors(), 0);
        assert_eq!(check_text("flies: [policies]\n").errors(), 1);
    }
}
