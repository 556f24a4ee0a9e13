//! Policies that select objects of other namespaces: what is known of these, and who grants it.

use upheld_engine::ObjectId;
use upheld_model::{Code, NamespaceLabels, Object, Param, Policy, Reason, Sym, TargetNamespaces, TargetSelector};

use super::claim::KGATEWAY;
use super::gateways::{GatewayKind, Network};
use super::grants::End;
use super::world::NAMESPACE_NAME;
use crate::document::Resource;

/// Whether a selector of a policy means an object with the labels that it wants.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Meant {
    /// It does.
    Yes,
    /// It does if the namespace of the object has certain labels, which nobody knows.
    IfLabelled,
    /// Nobody in the namespace of the object grants it.
    NotGranted(Reason),
    /// The object is in a namespace in which it selects nothing.
    Elsewhere,
}

impl<'s> Network<'s> {
    /// What is known of the labels of a namespace.
    pub(crate) fn around(self, namespace: Sym) -> NamespaceLabels<'s> {
        let name = self.snapshot.text(namespace);
        let read = self.topology().namespaces.get(name).and_then(|id| self.object(*id));
        // Kubernetes labels every namespace with its name.
        let always = self.snapshot.symbols().get(NAMESPACE_NAME).map(|key| (key, namespace));
        NamespaceLabels { always, others: read.map(|namespace| &namespace.facts) }
    }

    /// Why policies of a kind in a namespace do not count at an object that they select: it is in another one, and nobody there
    /// grants it.
    pub(crate) fn not_granted(self, kind: GatewayKind<'_>, namespace: Sym, object: &Object) -> Option<Reason> {
        if namespace == object.scope {
            return None;
        }
        let snapshot = self.snapshot;
        let text = |symbol: Sym| snapshot.text(symbol);
        let group = snapshot.files().value(object.at).and_then(Resource::of).and_then(Resource::group);
        let from =
            End { group: text(kind.policies.kind().group), kind: text(kind.kind.governs), namespace: text(namespace) };
        let to = End { group: group.unwrap_or_default(), kind: text(object.kind), namespace: text(object.scope) };
        let params = [kind.kind.governs, namespace, object.kind, object.scope].map(Param::Text);
        let granted = self.gateways.grants.permit(from, to, text(object.name));
        (!granted).then(|| Reason::new(Code::OffNotGranted, &params))
    }

    /// Every object whose labels a policy selects, with the selector and whether that is all it takes.
    pub(crate) fn selected(
        self,
        kind: GatewayKind<'s>,
        policy: &'s Policy,
    ) -> impl Iterator<Item = (&'s TargetSelector, ObjectId, Meant)> {
        let selectors = policy.attachments().map_or(&[][..], |attachments| &attachments.selectors);
        selectors.iter().flat_map(move |selector| {
            let objects = self.snapshot.objects().of_kind(selector.kind, self.snapshot.symbols());
            let labelled = objects.filter(|(_, own)| selector.selects(&own.facts));
            labelled.map(move |(id, object)| (selector, id, self.meant(kind, policy, selector, object)))
        })
    }

    fn meant(self, kind: GatewayKind<'_>, policy: &Policy, selector: &TargetSelector, object: &Object) -> Meant {
        if selector.namespaces == TargetNamespaces::Own {
            let is_near = object.scope == policy.scope || self.is_global(kind, policy);
            return if is_near { Meant::Yes } else { Meant::Elsewhere };
        }
        let reached = selector.namespaces.reach(self.around(object.scope));
        match (reached, self.not_granted(kind, policy.scope, object)) {
            (Some(false), _) => Meant::Elsewhere,
            (_, Some(reason)) => Meant::NotGranted(reason),
            (Some(true), None) => Meant::Yes,
            (None, None) => Meant::IfLabelled,
        }
    }

    /// Whether a policy is in the namespace whose policies select everywhere.
    fn is_global(self, kind: GatewayKind<'_>, policy: &Policy) -> bool {
        let global = self.gateways.settings.policies.global_namespace.as_deref();
        self.snapshot.text(kind.policies.kind().group) == KGATEWAY
            && global.is_some_and(|global| global == self.snapshot.text(policy.scope))
    }
}
