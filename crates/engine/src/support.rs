//! What the tests of several families share.

use upheld_model::{Draft, Files, NodeRef, SourceId, Sym};

use crate::kind::{Choices, PolicyKind};
use crate::snapshot::{Indexed, Snapshot};

/// Where things stand that were written nowhere.
pub(crate) const NOWHERE: NodeRef = NodeRef { source: SourceId::FIRST, node: 0 };

/// A snapshot with one kind of policies.
pub(crate) fn snapshot(draft: Draft, kind: Sym, choices: Choices) -> Snapshot {
    let kind = PolicyKind {
        name: kind,
        governs: kind,
        semantics: None,
        choices,
        payload: None,
        default_name: kind,
        default_means: kind,
        at: NOWHERE,
    };
    Snapshot::build(draft, vec![kind], Indexed::default(), Files::default().into()).expect("small worlds fit")
}
