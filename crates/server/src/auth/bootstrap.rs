//! The token that may do everything: given by an operator, or made by a server that nobody told about any.

use std::fs;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use super::error::SecurityError;
use super::secret::{Hash, PREFIX, Secret};
use crate::config::{GivenSecret, StoreLocation};

/// The file in the data folder that keeps what may be kept of the token.
const FILE: &str = "bootstrap-token.sha256";

/// What is kept of the token, and the token itself if it is new.
#[derive(Debug)]
pub(crate) struct Bootstrap {
    pub(crate) hash: Hash,
    pub(crate) token: Option<NewToken>,
}

/// A token that was made just now. What is kept of it is written once everything else has started: of a start that fails, nobody sees the
/// token.
#[derive(Debug)]
pub(crate) struct NewToken {
    secret: Secret,
    folder: Option<PathBuf>,
}

impl NewToken {
    /// Writes down what is kept of it. Nothing comes back if another server on the same folder was quicker; then its token counts, and what is
    /// kept of that one is the error.
    pub(crate) fn keep(self) -> Result<Secret, KeepError> {
        let Some(folder) = self.folder else { return Ok(self.secret) };
        let path = folder.join(FILE);
        match write(&folder, &path, &self.secret.hash().write()) {
            Ok(()) => Ok(self.secret),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match read(&path) {
                Ok(Some(hash)) => Err(KeepError::Others(hash)),
                Ok(None) => Err(KeepError::Failed(SecurityError::file(&path, error))),
                Err(error) => Err(KeepError::Failed(error)),
            },
            Err(error) => Err(KeepError::Failed(SecurityError::file(&path, error))),
        }
    }
}

/// Why a new token does not count.
#[derive(Debug)]
pub(crate) enum KeepError {
    /// Another server made one meanwhile.
    Others(Hash),
    /// It cannot be kept.
    Failed(SecurityError),
}

/// Letters that a token has at least after its beginning.
const LEAST: usize = 32;

/// The token that an operator gives, as what is kept of it.
pub(crate) fn given(by: &GivenSecret) -> Result<Hash, SecurityError> {
    let token = Secret::given(by)?;
    let random = token.reveal().strip_prefix(PREFIX).unwrap_or_default();
    let is_random = |letter: u8| letter.is_ascii_alphanumeric() || b"-_".contains(&letter);
    if random.len() < LEAST || !random.bytes().all(is_random) {
        return Err(SecurityError::Setting(format!(
            "the bootstrap token must be `{PREFIX}` and at least {LEAST} letters, digits, `-` or `_`; `echo \"{PREFIX}$(openssl rand -hex 32)\"` \
             makes one"
        )));
    }
    Ok(token.hash())
}

impl Bootstrap {
    /// The token of a store, if nobody gives one.
    pub(crate) fn of_store(store: &StoreLocation) -> Result<Self, SecurityError> {
        match store {
            StoreLocation::Folder(folder) => Self::of(folder),
            StoreLocation::Ephemeral | StoreLocation::Given(_) => Self::ephemeral(),
            StoreLocation::Postgres(_) => Err(SecurityError::Setting(format!(
                "several servers may share a database, and nobody says which token they take: give all of them the same, for example \
                 `UPHELD_BOOTSTRAP_TOKEN=\"{PREFIX}$(openssl rand -hex 32)\"`, or tokens of your own (docs/security.md)"
            ))),
        }
    }

    /// A token for this process only.
    fn ephemeral() -> Result<Self, SecurityError> {
        let token = Secret::token().ok_or_else(|| SecurityError::Setting("there is no randomness".to_owned()))?;
        Ok(Self { hash: token.hash(), token: Some(NewToken { secret: token, folder: None }) })
    }

    /// The token of a data folder. Made once; deleting the file makes another one at the next start.
    fn of(folder: &Path) -> Result<Self, SecurityError> {
        let path = folder.join(FILE);
        if let Some(hash) = read(&path)? {
            return Ok(Self { hash, token: None });
        }
        let Self { hash, token } = Self::ephemeral()?;
        Ok(Self { hash, token: token.map(|token| NewToken { folder: Some(folder.to_owned()), ..token }) })
    }
}

fn read(path: &Path) -> Result<Option<Hash>, SecurityError> {
    match fs::read_to_string(path) {
        // Somebody was stopped while it was written, and nobody ever saw the token.
        Ok(text) if text.trim().is_empty() => Ok(None),
        Ok(text) => match Hash::read(text.trim()) {
            Some(hash) => Ok(Some(hash)),
            None => Err(SecurityError::file(path, "expected 64 hexadecimal digits; delete it to get a new token")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SecurityError::file(path, error)),
    }
}

/// Writes what only the owner of a folder may read, into a file that is not there.
pub(super) fn write(folder: &Path, path: &Path, line: &str) -> io::Result<()> {
    let mut builder = fs::DirBuilder::new();
    #[cfg(unix)]
    std::os::unix::fs::DirBuilderExt::mode(&mut builder, 0o700);
    builder.recursive(true).create(folder)?;
    if fs::metadata(path).is_ok_and(|found| found.len() == 0) {
        fs::remove_file(path)?;
    }
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{line}")?;
    file.sync_all()
}
