//! The settings beside policies: `manifest.yaml`.

use std::sync::Arc;

use smol_str::SmolStr;
use upheld_engine::decide::{Algorithm, Effect, ForeignPattern, Glob, PathPattern, PathReading};
use upheld_model::nearest::nearest;
use upheld_model::tree::{Kind, Value};
use upheld_model::{Diagnostic, Diagnostics, Fault, NodeRef, SourceId};

use super::javascript::JavaScriptRegex;
use super::policy::Standing;
use super::policy::patterns::never_matches;
use super::shapes::unknown_algorithm;
use super::{Edition, OnlyIfEmpty};
use crate::shape::{Checker, Shape, list, optional};

/// What a manifest says.
#[derive(Clone, Debug, Default)]
pub struct Manifest {
    /// How policies are combined, if it says so.
    pub algorithm: Option<Algorithm>,
    /// What stands when no policy applies, if it says so.
    pub default: Option<Effect>,
    /// Requests that are not asked about.
    pub excludes: Vec<Exclude>,
    /// Who reads paths as policies mean them.
    pub paths: PathReading,
    /// Policies that a store begins with.
    pub seed: SeedSettings,
    /// Where the policies are kept, if they are kept in a file.
    pub store: Option<SmolStr>,
    /// Where it was written, if it was.
    pub at: Option<NodeRef>,
}

/// Requests that are not asked about.
#[derive(Clone, Debug)]
pub struct Exclude {
    /// Which paths.
    pub path: PathPattern,
    /// With which methods; none means all.
    pub methods: Vec<SmolStr>,
}

impl Exclude {
    /// Whether it excludes a request.
    pub fn covers(&self, method: &str, path: &str) -> bool {
        let fits = self.methods.is_empty() || self.methods.iter().any(|known| known.eq_ignore_ascii_case(method));
        fits && self.path.covers(path)
    }
}

/// What `policySeed` says, but for the policies in it.
#[derive(Clone, Debug)]
pub struct SeedSettings {
    /// Whether it is used at all.
    pub enabled: bool,
    /// Whether a store that has policies is left alone.
    pub only_if_empty: OnlyIfEmpty,
    /// Where it is used.
    pub environments: Vec<SmolStr>,
    /// The file with policies.
    pub file: Option<SmolStr>,
}

impl SeedSettings {
    /// Whether it is used in an environment.
    pub fn applies(&self, environment: &str) -> bool {
        self.enabled && self.environments.iter().any(|listed| listed == "*" || listed == environment)
    }
}

impl Default for SeedSettings {
    fn default() -> Self {
        let environments = vec![SmolStr::new_static("*")];
        Self { enabled: true, only_if_empty: OnlyIfEmpty::Yes, environments, file: None }
    }
}

/// The keys that only a manifest of ours has.
pub(super) const OWN_KEYS: [&str; 5] =
    ["combiningAlgorithm", "defaultEffect", "excludePaths", "pathReading", "policySeed"];

/// What a manifest looks like.
pub fn shape() -> Shape {
    let policies = || list(Shape::Opaque);
    let exclude = Shape::Object(vec![
        crate::shape::required("path", Shape::Name, "a pattern of paths"),
        optional("methods", list(Shape::Name), "only with these methods"),
    ]);
    let seed = Shape::Object(vec![
        optional("enabled", Shape::Bool, "whether it is used; true when left out"),
        optional("onlyIfEmpty", Shape::Bool, "whether a store that has policies is left alone; true when left out"),
        optional("environments", list(Shape::Text), "where it is used; `*` is everywhere"),
        optional("file", Shape::Name, "a file with policies"),
        optional("policies", policies(), "policies"),
    ]);
    Shape::Object(vec![
        optional("combiningAlgorithm", Shape::Text, "how policies are combined; deny-overrides when left out"),
        optional("defaultEffect", Shape::Text, "the effect when no policy applies; deny when left out"),
        optional("excludePaths", list(Shape::Either(vec![Shape::Name, exclude])), "paths that need no decision"),
        optional(
            "pathReading",
            Shape::Choice(&["every", "rfc3986", "decoded"]),
            "who reads paths as policies mean them; every when left out: all readers must agree",
        ),
        optional("policies", policies(), "policies"),
        optional("policySeed", seed, "policies to seed a store with"),
        optional("store", Shape::Choice(&["memory", "file"]), "where policies are kept"),
        optional("path", Shape::Text, "the file in which policies are kept"),
        optional("name", Shape::Text, "the name of the plug-in"),
        optional("base", Shape::Text, "where it is mounted; /authz when left out"),
        optional("enabled", Shape::Bool, "whether the plug-in is used"),
        optional("injectBase", Shape::Opaque, "for the host"),
        optional("dependencies", Shape::Opaque, "for the host"),
        optional("entrypoint", Shape::Opaque, "for the host"),
        optional("pluginEntry", Shape::Opaque, "for the host"),
        optional("menus", Shape::Opaque, "for the host"),
    ])
}

/// Reads a manifest; every mistake is reported.
pub fn read(
    source: SourceId,
    document: Value<'_>,
    edition: Edition,
    standing: Standing,
    found: &mut Diagnostics,
) -> Option<Manifest> {
    let get = |field: &str| document.get(field).filter(|value| value.kind() != Kind::Null);
    if edition == Edition::Strict && !Checker::new(source, found).check(document, &shape()) {
        return None;
    }
    let before = found.errors();
    let mut reading = Reading { source, edition, standing, found };
    let algorithm = get("combiningAlgorithm").map(|word| reading.algorithm(word));
    let default = get("defaultEffect").map(|word| reading.default(word));
    let mut excludes = Vec::new();
    for item in get("excludePaths").into_iter().flat_map(Value::items) {
        excludes.extend(reading.exclude(item));
    }
    if found.errors() > before {
        return None;
    }
    let at = Some(NodeRef { source, node: document.number() });
    let store = get("path").map(|path| SmolStr::new(path.text()));
    let seed = get("policySeed").map_or_else(SeedSettings::default, seed);
    let paths = get("pathReading").and_then(|word| PathReading::ALL.into_iter().find(|one| one.word() == word.text()));
    let (algorithm, default, paths) = (algorithm.flatten(), default.flatten(), paths.unwrap_or_default());
    Some(Manifest { algorithm, default, excludes, paths, seed, store, at })
}

fn seed(value: Value<'_>) -> SeedSettings {
    let get = |field: &str| value.get(field).filter(|value| value.kind() != Kind::Null);
    let not_false = |field: &str| get(field).and_then(Value::as_bool) != Some(false);
    let environments = get("environments").map(|list| list.items().map(|item| SmolStr::new(item.text())).collect());
    SeedSettings {
        enabled: not_false("enabled"),
        only_if_empty: if not_false("onlyIfEmpty") { OnlyIfEmpty::Yes } else { OnlyIfEmpty::No },
        environments: environments.unwrap_or_else(|| vec![SmolStr::new_static("*")]),
        file: get("file").map(|file| SmolStr::new(file.text())),
    }
}

struct Reading<'f> {
    source: SourceId,
    edition: Edition,
    standing: Standing,
    found: &'f mut Diagnostics,
}

impl Reading<'_> {
    fn algorithm(&mut self, word: Value<'_>) -> Option<Algorithm> {
        let known = Algorithm::of(word.text());
        let original = || known.filter(|known| Algorithm::ALL.iter().take(3).any(|first| first == known));
        match (self.edition, known) {
            (Edition::Strict, None) => {
                self.found.push(unknown_algorithm(self.source, word));
                None
            }
            (Edition::Compat, _) if original().is_none() => {
                let message = format!("the original does not know the algorithm `{}`", word.text());
                let diagnostic = Diagnostic::warning(Fault::FailsOpen, message).at_value(self.source, word, "here");
                self.found.push(diagnostic.help("it takes the first policy that applies, as `first-applicable` does"));
                Some(Algorithm::FirstApplicable)
            }
            (_, known) => known,
        }
    }

    fn default(&mut self, word: Value<'_>) -> Option<Effect> {
        let known = Effect::of(word.text());
        match (self.edition, known) {
            (Edition::Strict, None) => {
                let message = format!("the default effect cannot be `{}`", word.text());
                let diagnostic = Diagnostic::error(Fault::WrongValue, message);
                let diagnostic = diagnostic.at_value(self.source, word, "expected `permit` or `deny`");
                let allow = (word.text() == "allow").then_some("permit");
                self.found.push(diagnostic.suggest(nearest(word.text(), ["permit", "deny"]).or(allow)));
                None
            }
            (Edition::Compat, None) => {
                let message = format!("`{}` is not a valid effect", word.text());
                let diagnostic = Diagnostic::warning(Fault::FailsOpen, message).at_value(self.source, word, "here");
                self.found.push(diagnostic.help("only `deny` stops a request"));
                Some(Effect::Foreign)
            }
            (_, known) => known,
        }
    }

    fn exclude(&mut self, item: Value<'_>) -> Option<Exclude> {
        let path = if item.kind() == Kind::Map { item.get("path")? } else { item };
        let methods = item.get("methods").into_iter().flat_map(Value::items).map(|method| SmolStr::new(method.text()));
        let methods = methods.collect();
        let text = SmolStr::new(path.text());
        if self.edition == Edition::Compat {
            return match JavaScriptRegex::new(path.text()) {
                Ok(regex) => {
                    let message = format!("`{text}` is searched anywhere in a path, and excludes every method");
                    let diagnostic = Diagnostic::warning(Fault::FailsOpen, message).at_value(self.source, path, "here");
                    self.found.push(diagnostic.help("begin it with `^` and end it with `$` to mean the whole path"));
                    let pattern: Arc<dyn ForeignPattern> = Arc::new(regex);
                    Some(Exclude { path: PathPattern::Foreign(text, pattern), methods })
                }
                Err(refused) => {
                    let diagnostic = Diagnostic::error(Fault::WrongValue, refused.to_string());
                    self.found.push(diagnostic.at_value(self.source, path, "here"));
                    None
                }
            };
        }
        let is_expression = ["\\.", "(", "|", "$"].iter().any(|mark| text.contains(mark));
        let never = never_matches(&text);
        if is_expression || never.is_some() {
            let because = never.as_ref().map_or("looks like a regular expression", |never| never.because);
            let message = format!("the pattern `{text}` excludes nothing: it {because}");
            let diagnostic = match self.standing {
                Standing::New => Diagnostic::error(Fault::ImpossibleMatch, message),
                Standing::Stored => Diagnostic::warning(Fault::ImpossibleMatch, message),
            };
            let diagnostic = diagnostic
                .at_value(self.source, path, "here")
                .suggest(never.as_ref().map(|never| never.meant.as_str()));
            self.found.push(diagnostic.help(
                "excludes are whole paths with `*` and `**`: `/public/**`; the semantics `access/compat` reads expressions",
            ));
            // A store's own document goes on to exclude that text alone.
            if self.standing == Standing::New {
                return None;
            }
        }
        match Glob::parse(&text) {
            Ok(glob) => Some(Exclude { path: PathPattern::Glob(glob), methods }),
            Err(bad) => {
                let message = format!("the pattern `{text}` {}", bad.problem.sentence());
                self.found.push(Diagnostic::error(Fault::WrongValue, message).at_value(self.source, path, "here"));
                None
            }
        }
    }
}
