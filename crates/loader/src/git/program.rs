//! The `git` program: questions and answers.

use std::collections::BTreeMap;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use upheld_model::{Diagnostic, Fault};

use upheld_syntax::text;

/// `git`, run in a folder.
#[derive(Clone, Copy, Debug)]
pub(super) struct Git<'a> {
    pub(super) folder: &'a Path,
}

/// A file of a revision.
#[derive(Debug)]
pub(super) struct Entry {
    /// Its number in git.
    pub(super) object: String,
    /// Its content is the path that it leads to.
    pub(super) is_link: bool,
}

/// The content of a file.
#[derive(Debug)]
pub(super) enum Blob {
    Bytes(Vec<u8>),
    TooLarge,
}

impl Git<'_> {
    /// The current folder from the top of the repository, empty at the top.
    pub(super) fn prefix(&self) -> Result<String, Diagnostic> {
        match self.answer(&["rev-parse", "--show-prefix"])? {
            Ok(prefix) => Ok(first_line(&prefix)),
            Err(said) => Err(Diagnostic::error(Fault::Unreadable, "this is not a git repository")
                .help(format!("git says: {}", first_line(&said)))
                .help("run this inside a repository")),
        }
    }

    /// The top folder of the repository on disk.
    pub(super) fn top(&self) -> Result<PathBuf, Diagnostic> {
        let top = self.answer(&["rev-parse", "--show-toplevel"])?;
        top.map(|top| PathBuf::from(first_line(&top))).map_err(|said| failed(&said))
    }

    /// The number of the tree of files of a revision, if there is such a revision.
    pub(super) fn tree(&self, revision: &str) -> Result<Option<String>, Diagnostic> {
        // No revision begins with `-`; git would take it for an option.
        if revision.starts_with('-') || revision.is_empty() {
            return Ok(None);
        }
        let tree = format!("{revision}^{{tree}}");
        let found = self.answer(&["rev-parse", "--verify", "--quiet", "--end-of-options", &tree])?;
        Ok(found.ok().map(|number| first_line(&number)))
    }

    /// All files of a tree by their paths from the top of the repository.
    pub(super) fn entries(&self, tree: &str) -> Result<BTreeMap<String, Entry>, Diagnostic> {
        let listing = self.answer(&["ls-tree", "-r", "-z", "--full-tree", tree])?.map_err(|said| failed(&said))?;
        // Each is `mode type number TAB path NUL`.
        let entries = listing.split('\0').filter_map(|entry| {
            let (about, path) = entry.split_once('\t')?;
            let mut about = about.split(' ');
            let (mode, kind, object) = (about.next()?, about.next()?, about.next()?);
            let entry = Entry { object: object.to_owned(), is_link: mode == "120000" };
            (kind == "blob").then(|| (path.to_owned(), entry))
        });
        Ok(entries.collect())
    }

    /// The commits of a range, or on the way to what is checked out, that changed some paths, the latest first: a line each, of number, author, time and first line
    /// of the message, with NUL between them.
    pub(super) fn log(&self, range: &[String], paths: &[String], most: usize) -> Result<String, Diagnostic> {
        let most = format!("--max-count={most}");
        let arguments = ["log", "--first-parent", "--format=%H%x00%aN%x00%aI%x00%s", &most];
        let mut command = self.command(&arguments);
        command.args(range).arg("--").args(paths).env("GIT_LITERAL_PATHSPECS", "1").stdin(Stdio::null());
        let output = command.output().map_err(|error| not_started(&error))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        if output.status.success() { Ok(text(&output.stdout)) } else { Err(failed(&text(&output.stderr))) }
    }

    /// Who wrote some lines of a file last, as git tells it to programs; the file as it is on disk where no revision is named.
    pub(super) fn blame(&self, file: &str, lines: &[usize], revision: Option<&str>) -> Result<String, Diagnostic> {
        let ranges: Vec<String> = lines.iter().map(|line| format!("-L{line},{line}")).collect();
        let mut arguments = vec!["blame", "--porcelain"];
        arguments.extend(ranges.iter().map(String::as_str));
        arguments.extend(revision);
        arguments.extend(["--", file]);
        self.answer(&arguments)?.map_err(|said| failed(&said))
    }

    /// All branches and tags.
    pub(super) fn references(&self) -> Vec<String> {
        match self.answer(&["for-each-ref", "--format=%(refname:short)", "refs/heads", "refs/tags", "refs/remotes"]) {
            Ok(Ok(names)) => names.lines().map(str::to_owned).collect(),
            _ => Vec::new(),
        }
    }

    /// A running `git` that hands out contents.
    pub(super) fn blobs(&self) -> Result<Blobs, Diagnostic> {
        let mut command = self.command(&["cat-file", "--batch"]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut child = command.spawn().map_err(|error| not_started(&error))?;
        let pipes = (child.stdin.take(), child.stdout.take());
        match pipes {
            (Some(questions), Some(answers)) => Ok(Blobs { child, questions, answers: BufReader::new(answers) }),
            _ => Err(failed("no pipes")),
        }
    }

    /// What git prints: an answer, or the reason why it has none.
    fn answer(&self, arguments: &[&str]) -> Result<Result<String, String>, Diagnostic> {
        let output = self.command(arguments).stdin(Stdio::null()).output().map_err(|error| not_started(&error))?;
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        Ok(if output.status.success() { Ok(text(&output.stdout)) } else { Err(text(&output.stderr)) })
    }

    fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new("git");
        command.current_dir(self.folder).args(arguments);
        command
    }
}

/// Hands out contents one after the other.
#[derive(Debug)]
pub(super) struct Blobs {
    child: Child,
    questions: ChildStdin,
    answers: BufReader<ChildStdout>,
}

impl Blobs {
    /// The content of a file by its number.
    pub(super) fn read(&mut self, object: &str) -> io::Result<Blob> {
        writeln!(self.questions, "{object}")?;
        self.questions.flush()?;
        // The answer is `number type size LF content LF`, or `number missing LF`.
        let mut about = String::new();
        self.answers.read_line(&mut about)?;
        let size = about.trim_end().rsplit(' ').next().and_then(|size| size.parse::<u64>().ok());
        let size = size.ok_or_else(|| io::Error::other("git does not have its content"))?;
        let mut content = (&mut self.answers).take(size);
        let bytes = text::read_to_limit(&mut content, size)?;
        io::copy(&mut content, &mut io::sink())?;
        let mut line_break = [0];
        self.answers.read_exact(&mut line_break)?;
        Ok(bytes.map_or(Blob::TooLarge, Blob::Bytes))
    }
}

impl Drop for Blobs {
    fn drop(&mut self) {
        // It has nothing left to do; without waiting for it, it would stay as a zombie.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn first_line(answer: &str) -> String {
    answer.lines().next().unwrap_or_default().to_owned()
}

fn not_started(error: &io::Error) -> Diagnostic {
    let problem = Diagnostic::error(Fault::Unreadable, format!("cannot run `git`: {error}"));
    match error.kind() {
        io::ErrorKind::NotFound => problem.help("install git, or name files instead of a revision"),
        _ => problem,
    }
}

fn failed(said: &str) -> Diagnostic {
    Diagnostic::error(Fault::Unreadable, format!("git failed: {}", first_line(said)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_program_is_explained() {
        let problem = not_started(&io::Error::from(io::ErrorKind::NotFound));
        assert!(problem.message.starts_with("cannot run `git`: "), "{}", problem.message);
        assert_eq!(problem.help, ["install git, or name files instead of a revision"]);
    }
}
