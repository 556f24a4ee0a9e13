//! A fingerprint of a history.

use jiff::Timestamp;
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::hex::as_hex;
use crate::{Change, Digest, Revision};

/// The fingerprint of a history up to a revision: the hash of all that the revision says and of the fingerprint before it. Two logs with the
/// same one have the same past, whatever was written into either. It finds damage, losses and disagreement; it is not a signature.
#[derive(Clone, Copy, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Chain([u8; 32]);

/// All that a revision says.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Said<'e> {
    pub(crate) revision: Revision,
    pub(crate) time: Timestamp,
    pub(crate) actor: &'e str,
    pub(crate) message: Option<&'e str>,
    /// The fingerprint of the state after it.
    pub(crate) digest: Digest,
    pub(crate) changes: &'e [Change],
}

impl Chain {
    /// Of a past that nobody knows: before the first revision, or before the oldest one of a program that kept no chain.
    pub const START: Self = Self([0; 32]);

    /// After one more revision.
    #[must_use]
    pub(crate) fn after(self, said: Said<'_>) -> Self {
        let Said { revision, time, actor, message, digest, changes } = said;
        let mut hash = Sha256::new();
        // Lengths before contents, so that no two revisions give the same bytes.
        let mut add = |part: &str| {
            hash.update(part.len().to_le_bytes());
            hash.update(part);
        };
        add(&self.to_string());
        add(&revision.to_string());
        add(&format!("{time:.9}"));
        add(actor);
        add(if message.is_some() { "message" } else { "" });
        add(message.unwrap_or_default());
        add(&digest.to_string());
        for change in changes {
            match change {
                Change::Put { key, text } => [key.as_str(), "put", text].into_iter().for_each(&mut add),
                Change::Delete { key } => [key.as_str(), "delete"].into_iter().for_each(&mut add),
            }
        }
        Self(hash.finalize().into())
    }
}

as_hex!(Chain);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn everything_that_a_revision_says_counts() {
        let put = |key: &str, text: &str| Change::Put { key: key.parse().unwrap(), text: text.into() };
        let changes = [put("K/s/a", "1")];
        let said = Said {
            revision: Revision(1),
            time: "2026-01-01T00:00:00Z".parse().unwrap(),
            actor: "ada",
            message: None,
            digest: Digest::default(),
            changes: &changes,
        };
        let chain = Chain::START.after(said);
        assert_eq!(chain, Chain::START.after(said));
        let (other, gone) = ([put("K/s/a", "2")], [Change::Delete { key: "K/s/a".parse().unwrap() }]);
        for different in [
            Said { revision: Revision(2), ..said },
            Said { time: "2026-01-01T00:00:00.000000001Z".parse().unwrap(), ..said },
            Said { actor: "bob", ..said },
            Said { message: Some(""), ..said },
            Said { digest: Digest::default().with(&"K/s/a".parse().unwrap(), "1"), ..said },
            Said { changes: &other, ..said },
            Said { changes: &gone, ..said },
            Said { changes: &[], ..said },
        ] {
            assert_ne!(Chain::START.after(different), chain, "{different:?}");
        }
        assert_ne!(chain.after(said), chain);
        assert_eq!(chain.to_string().parse(), Ok(chain));
    }
}
