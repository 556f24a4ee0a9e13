//! From inputs to files with trees: in go names with where their bytes are, out come files and all their problems.
//!
//! Inputs are read and parsed in parallel; what comes out is in the order of what went in, so that two runs over the
//! same inputs say the same.

use std::path::{Path, PathBuf};
use std::{fs, io};

use rayon::prelude::*;
use upheld_engine::work;
use upheld_model::{Diagnostic, Diagnostics, Fault, File, Files, SourceId};
use upheld_syntax::text::{self, Decoded};
use upheld_syntax::{Format, csv, limits, parse, without_documents};

use crate::paths;

/// Something to read, with the name that users know it by.
#[derive(Debug)]
pub struct Input {
    name: String,
    /// Unless the name or the text tells.
    format: Option<Format>,
    content: Content,
    origin: Origin,
}

/// How somebody came to read an input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum Origin {
    /// It was asked for by its name.
    #[default]
    Named,
    /// It lies in a folder that was asked for.
    Found,
}

/// Where the content of an input is.
#[derive(Debug)]
pub enum Content {
    /// In a file that was not opened yet.
    File(PathBuf),
    /// In what is piped into this process.
    StandardInput,
    /// In memory, as bytes.
    Bytes(Vec<u8>),
    /// In memory, as text.
    Text(String),
}

impl Input {
    /// A file; its format is told by its name or its text.
    pub fn file(name: impl Into<String>, path: impl Into<PathBuf>) -> Self {
        Self { name: name.into(), format: None, content: Content::File(path.into()), origin: Origin::Named }
    }

    /// Standard input; its format is told by its text.
    pub fn standard_input() -> Self {
        Self {
            name: paths::STANDARD_INPUT.to_owned(),
            format: None,
            content: Content::StandardInput,
            origin: Origin::Named,
        }
    }

    /// Bytes in memory; their format is told by the name or the text.
    pub fn bytes(name: impl Into<String>, bytes: Vec<u8>) -> Self {
        Self { name: name.into(), format: None, content: Content::Bytes(bytes), origin: Origin::Named }
    }

    /// A text in memory, for example a built-in document.
    pub fn text(name: impl Into<String>, format: Format, text: impl Into<String>) -> Self {
        Self { name: name.into(), format: Some(format), content: Content::Text(text.into()), origin: Origin::Named }
    }

    /// The same, come upon in another way.
    #[must_use]
    pub fn of(self, origin: Origin) -> Self {
        Self { origin, ..self }
    }

    /// How somebody came to read it.
    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// How users call it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Where its content is.
    pub fn content(&self) -> &Content {
        &self.content
    }
}

/// Reads all inputs. The [`SourceId`] of a file is the position of its input.
///
/// ```
/// use upheld_loader::{Format, Input, read};
///
/// let (files, problems) = read(vec![Input::text("mesh.yaml", Format::Yaml, "kind: Mesh")]);
/// assert_eq!(problems.errors(), 0);
/// assert_eq!(files.iter().count(), 1);
/// ```
pub fn read(inputs: Vec<Input>) -> (Files, Diagnostics) {
    let work = work::here();
    let read = |(position, input)| {
        work.during(|| {
            work::step();
            read_one(SourceId::new(position), input)
        })
    };
    let results: Vec<(File, Vec<Diagnostic>)> = inputs.into_par_iter().enumerate().map(read).collect();
    let mut problems = Diagnostics::default();
    let files = results.into_iter().map(|(file, found)| {
        problems.extend(found);
        file
    });
    (files.collect(), problems)
}

/// Reads one input.
pub(crate) fn read_one(source: SourceId, input: Input) -> (File, Vec<Diagnostic>) {
    let Input { name, format, content, .. } = input;
    let Decoded { text, problem } = decoded(source, &name, content);
    let format = format.or_else(|| Format::of_name(&name));
    if let Some(problem) = problem {
        // Tables of others have any encoding, and are none of our business.
        let is_foreign = format == Some(Format::Csv) && problem.fault == Fault::NotUtf8 && !csv::seems_ours(&text);
        let problems = if is_foreign { Vec::new() } else { vec![problem] };
        return (File { name, tree: without_documents(text) }, problems);
    }
    let format = format.unwrap_or_else(|| Format::of_text(&text));
    parse(name, format, text, source)
}

fn decoded(source: SourceId, name: &str, content: Content) -> Decoded {
    let bytes = match content {
        Content::Text(text) => return Decoded { text, problem: None },
        Content::Bytes(bytes) => Ok(Some(bytes)),
        Content::StandardInput => text::read_to_limit(io::stdin().lock(), 0),
        Content::File(path) => read_file(&path),
    };
    let problem = match bytes {
        Ok(Some(bytes)) => return text::decode(source, bytes),
        Ok(None) => limits::too_large(name),
        Err(error) => paths::unreadable(name, &error),
    };
    Decoded { text: String::new(), problem: Some(problem) }
}

fn read_file(path: &Path) -> io::Result<Option<Vec<u8>>> {
    let file = fs::File::open(path)?;
    let length = file.metadata()?.len();
    text::read_to_limit(file, length)
}
