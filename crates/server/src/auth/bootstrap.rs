//! The first token of a server that nobody told about any.

use std::fs;
use std::io::{self, Write as _};
use std::path::Path;

use super::error::SecurityError;
use super::secret::{Hash, Secret};

/// The file in the data folder that keeps what may be kept of the token.
const FILE: &str = "bootstrap-token.sha256";

/// What is kept of the token, and the token itself if it is new.
#[derive(Debug)]
pub(crate) struct Bootstrap {
    pub(crate) hash: Hash,
    pub(crate) token: Option<Secret>,
}

impl Bootstrap {
    /// A token for this process only.
    pub(crate) fn ephemeral() -> Result<Self, SecurityError> {
        let token = Secret::token().ok_or_else(|| SecurityError::Setting("there is no randomness".to_owned()))?;
        Ok(Self { hash: token.hash(), token: Some(token) })
    }

    /// The token of a data folder. Made once; deleting the file makes another one at the next start.
    pub(crate) fn of(folder: &Path) -> Result<Self, SecurityError> {
        let path = folder.join(FILE);
        if let Some(hash) = read(&path)? {
            return Ok(Self { hash, token: None });
        }
        let made = Self::ephemeral()?;
        match write(folder, &path, made.hash) {
            Ok(()) => Ok(made),
            // Another server on the same folder was quicker.
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => match read(&path)? {
                Some(hash) => Ok(Self { hash, token: None }),
                None => Err(SecurityError::file(&path, error)),
            },
            Err(error) => Err(SecurityError::file(&path, error)),
        }
    }
}

fn read(path: &Path) -> Result<Option<Hash>, SecurityError> {
    match fs::read_to_string(path) {
        Ok(text) => match Hash::read(text.trim()) {
            Some(hash) => Ok(Some(hash)),
            None => Err(SecurityError::file(path, "expected 64 hexadecimal digits; delete it to get a new token")),
        },
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(SecurityError::file(path, error)),
    }
}

fn write(folder: &Path, path: &Path, hash: Hash) -> io::Result<()> {
    fs::create_dir_all(folder)?;
    let mut options = fs::OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    writeln!(file, "{}", hash.write())?;
    file.sync_all()
}
