//! Files and folders that are read and watched, and never written.

use std::borrow::Cow;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tokio::sync::watch;
use upheld_loader::load::Broken;
use upheld_loader::{Content, Input, discover};
use upheld_model::{Diagnostic, Diagnostics, Fault, Files};

/// What files said when they were read. Cheap to copy.
#[derive(Clone, Debug, Default)]
pub(crate) struct Contents(Arc<Vec<(String, Vec<u8>)>>);

impl Contents {
    #[cfg(test)]
    pub(crate) fn of(files: Vec<(String, Vec<u8>)>) -> Self {
        Self(Arc::new(files))
    }

    /// Names and bytes.
    pub(crate) fn all(&self) -> &[(String, Vec<u8>)] {
        &self.0
    }

    /// As inputs of a snapshot.
    pub(crate) fn inputs(&self) -> impl ExactSizeIterator<Item = Input> + '_ {
        self.0.iter().map(|(name, bytes)| Input::bytes(name.clone(), bytes.clone()))
    }

    /// Names and texts; what is not text is shown as well as can be.
    pub(crate) fn texts(&self) -> impl Iterator<Item = (&str, Cow<'_, str>)> {
        self.0.iter().map(|(name, bytes)| (name.as_str(), String::from_utf8_lossy(bytes)))
    }

    /// Some of them, by their places.
    pub(crate) fn part(&self, keep: impl Fn(usize) -> bool) -> Self {
        let kept = self.0.iter().enumerate().filter(|(place, _)| keep(*place)).map(|(_, file)| file.clone());
        Self(Arc::new(kept.collect()))
    }

    /// Whether these are the very same.
    pub(crate) fn are(&self, others: &Self) -> bool {
        Arc::ptr_eq(&self.0, &others.0)
    }

    /// Whether two readings are the same.
    pub(crate) fn same_as(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

/// The folders, and what is wrong with them now.
#[derive(Debug, Default)]
pub(crate) struct Folders {
    paths: Vec<PathBuf>,
    problem: watch::Sender<Option<Arc<Broken>>>,
}

impl Folders {
    /// Of paths that users named.
    pub(crate) fn new(paths: Vec<PathBuf>) -> Self {
        Self { paths, problem: watch::Sender::default() }
    }

    /// What is watched.
    pub(crate) fn paths(&self) -> &[PathBuf] {
        &self.paths
    }

    /// Reads everything. Takes a while: not for threads that answer.
    pub(crate) fn read(&self) -> Result<Contents, Box<Broken>> {
        if self.paths.is_empty() {
            return Ok(Contents::default());
        }
        let (mut inputs, mut problems) = (Vec::new(), Vec::new());
        for path in &self.paths {
            let (found, wrong) = discover(&[path]);
            // Whoever takes the last file out of a folder means it.
            let emptied = found.is_empty() && path.is_dir() && std::fs::read_dir(path).is_ok();
            problems.extend(wrong.into_iter().filter(|_| !emptied));
            inputs.extend(found.into_iter().filter(|input| !is_settings(path, input)));
        }
        let mut contents = Vec::with_capacity(inputs.len());
        for input in inputs {
            let name = input.name().to_owned();
            let read = match input.content() {
                Content::File(path) => within(&self.paths, path).and_then(|()| std::fs::read(path)),
                Content::Bytes(bytes) => Ok(bytes.clone()),
                Content::Text(text) => Ok(text.clone().into_bytes()),
                Content::StandardInput => continue,
            };
            match read {
                Ok(bytes) => contents.push((name, bytes)),
                Err(error) => {
                    problems.push(Diagnostic::error(Fault::Unreadable, format!("cannot read `{name}`: {error}")));
                }
            }
        }
        if problems.is_empty() {
            return Ok(Contents(Arc::new(contents)));
        }
        let mut diagnostics = Diagnostics::default();
        diagnostics.extend(problems);
        Err(Box::new(Broken { files: Files::default(), diagnostics }))
    }

    /// What keeps the last change out of the snapshot, if anything does.
    pub(crate) fn problem(&self) -> Option<Arc<Broken>> {
        self.problem.borrow().clone()
    }

    /// Notes what is wrong, or that nothing is any more.
    pub(crate) fn note(&self, problem: Option<Box<Broken>>) {
        self.problem.send_replace(problem.map(Arc::from));
    }

    /// Told whenever files were broken or mended.
    pub(crate) fn follow(&self) -> watch::Receiver<Option<Arc<Broken>>> {
        self.problem.subscribe()
    }
}

/// Settings of the command line lie beside documents, and are none.
fn is_settings(watched: &Path, input: &Input) -> bool {
    let name = Path::new(input.name());
    name != watched && name.file_name().is_some_and(|file| file == "upheld.yaml")
}

/// Whoever may put a link into a watched folder must not make the server read what lies elsewhere. Links inside of the folder are how
/// configuration is mounted.
fn within(watched: &[PathBuf], path: &Path) -> io::Result<()> {
    let real = path.canonicalize()?;
    let root = watched.iter().find(|root| path.starts_with(root));
    // A file that is named by itself may be a link: whoever named it chose it.
    if root.is_none_or(|root| root == path || root.canonicalize().is_ok_and(|root| real.starts_with(root))) {
        return Ok(());
    }
    let message = "it is a link that leads out of the watched folder";
    Err(io::Error::new(io::ErrorKind::PermissionDenied, message))
}
