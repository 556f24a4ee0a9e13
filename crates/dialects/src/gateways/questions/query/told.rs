//! What is worth knowing beside what policies come to.

use upheld_engine::ObjectId;
use upheld_model::Value;
use upheld_report::{Remark, Report, broken, each_once};

use super::{Query, Spot, forwards, is_traffic};
use crate::gateways::gateway_api::assumed::{Assumption, Unusable};
use crate::gateways::gateway_api::attachments::Reader;
use crate::gateways::gateway_api::controller::System;
use crate::gateways::gateway_api::facts::Reference;
use crate::gateways::gateway_api::reported::report_at;
use crate::gateways::gateway_api::topology::{Gateway, Outcome, Step, Way};
use crate::gateways::gateway_api::{GatewayKind, Network};
use crate::gateways::kgateway::PolicyType;

/// What clients get where no backend takes their requests.
const FAILED: u16 = 500;

impl<'s> Query<'s> {
    /// What becomes of requests on a way, whatever policies say.
    pub(super) fn tell(&self, kind: GatewayKind<'s>, spot: Spot<'s, '_>, mut report: Report) -> Report {
        let way = spot.way;
        let by_kgateway = self.is_of_kgateway(kind);
        if let Some(step) = way.chain.last().filter(|_| forwards(&way.outcome)) {
            let system = spot.served.and_then(|(gateway, _)| gateway.controller).map(|controller| controller.system);
            let unusable = self.network.unusable_backends(step, system).into_iter().map(|one| remark(one).into());
            report.notes.extend(unusable);
            let unknown = self.network.unknown_backends(step, system).into_iter();
            report.notes.extend(unknown.map(|backend| Remark::BackendNotKnown { backend }.into()));
            if let (Outcome::Unserved(why), false) =
                (&way.outcome, report.notes.iter().any(|note| note.code == upheld_model::Fault::NoBackend.code()))
            {
                let problem = why.clone();
                report
                    .notes
                    .push(Remark::NoBackend { problem, weight: 1, of: 1, may_exist: true, status: FAILED }.into());
            }
            if is_traffic(self.network, kind) {
                report.notes.extend(backend_timeout(self.network, step).map(Into::into));
            }
        }
        if let Some((gateway, _)) = spot.served {
            self.tell_controller(kind, gateway, &mut report);
        }
        report.notes.extend(self.unknown_filters(spot).map(|filter| Remark::FilterNotKnown { filter }.into()));
        if let Some(root) = way.chain.first().filter(|_| spot.served.is_none()) {
            self.tell_parents(root.route, &mut report);
        }
        match &way.outcome {
            // Kinds that nobody uses here have nothing to say about it.
            Outcome::Replaced(_) if report.candidates.is_empty() && !is_traffic(self.network, kind) => report,
            Outcome::Replaced(why) if by_kgateway => broken(report, why, &self.network.snapshot.lookup()),
            Outcome::Answered if is_traffic(self.network, kind) => self.answered(report, way),
            _ => report,
        }
    }

    /// Who runs a gateway, where that is not known or is not known here.
    pub(super) fn tell_controller(&self, kind: GatewayKind<'s>, gateway: &Gateway, report: &mut Report) {
        let title = || self.network.title(gateway.object);
        let Some(system) = self.network.system(kind) else { return };
        let class = self.network.unread_class(gateway, system).filter(|_| !report.policies.is_empty());
        let unread = class.map(|class| {
            let (class, kind) = (class.to_owned(), report.kind.clone());
            Remark::ClassNotRead { class, gateway: title(), kind }
        });
        let other = gateway.controller.filter(|controller| controller.system == System::Other).map(|controller| {
            let controller = self.network.snapshot.text(controller.name).to_owned();
            Remark::OtherController { gateway: title(), controller }
        });
        report.notes.extend(unread.or(other).map(Into::into));
    }

    /// Filters on a way that refer to something of a group that whoever runs the gateway may know, and nobody here.
    fn unknown_filters(&self, spot: Spot<'s, '_>) -> impl Iterator<Item = String> {
        let runs = spot.served.and_then(|(gateway, _)| gateway.controller).map(|controller| controller.system);
        let steps = spot.way.chain.iter().filter(move |_| runs != Some(System::Kgateway));
        let rules = steps.filter_map(|step| self.topology().facts(step.route)?.rules.get(step.rule));
        let is_known = |group: &str| {
            let mut groups = self.network.kinds().map(|kind| self.network.snapshot.text(kind.policies.kind().group));
            groups.any(|known| known == group)
        };
        let unknown = rules.flat_map(|rule| &rule.refers).filter(move |reference| !is_known(&reference.group));
        unknown.map(|Reference { group, kind, name, .. }| format!("{group}/{kind} {name}"))
    }

    fn is_of_kgateway(&self, kind: GatewayKind<'_>) -> bool {
        matches!(Reader::of(self.network.snapshot.text(kind.policies.kind().reads)), Some(Reader::Kgateway(_)))
    }

    /// Which parents of a route were not read.
    pub(super) fn tell_parents(&self, route: ObjectId, report: &mut Report) {
        let of = self.network.title(route);
        let reached = self.topology().ways_through(route).next().is_some();
        for assumption in self.network.assumptions(route) {
            let of = of.clone();
            let remark = match assumption {
                Assumption::Parent(parent) => Remark::ParentNotRead { parent, of },
                Assumption::Mesh(parent) => Remark::MeshParent { parent, of },
                Assumption::NoParent if reached || self.network.is_led_to(route) => continue,
                Assumption::NoParent => Remark::NothingLeadsTo { what: of },
            };
            let note = remark.into();
            if !report.notes.contains(&note) {
                report.notes.push(note);
            }
        }
    }

    /// A rule that a `DirectResponse` answers.
    fn answered(&self, mut report: Report, way: &Way) -> Report {
        let Some(kind) = self.network.kind(PolicyType::DirectResponse.name()) else { return report };
        let direct = report_at(&self.network.under(kind).route(&way.chain), &report.about.what);
        let answers = direct.fields.iter().flat_map(|field| &field.from).map(|source| source.policy.clone());
        report.notes.push(Remark::AnsweredDirectly { by: each_once(answers) }.into());
        report
    }
}

fn remark(Unusable { problem, may_exist, weight, of }: Unusable) -> Remark {
    Remark::NoBackend { problem, weight, of, may_exist, status: FAILED }
}

/// Both timeouts of a rule without retries: the proxy knows only one.
fn backend_timeout(network: Network<'_>, step: &Step) -> Option<Remark> {
    let (_, rule) = network.rule(step)?;
    let text = |path: &[&str]| rule.at_path(path).map(Value::text).map(str::to_owned);
    let (request, backend) = (text(&["timeouts", "request"])?, text(&["timeouts", "backendRequest"])?);
    (rule.get("retry").is_none() && request != backend).then_some(Remark::BackendTimeout { request, backend })
}
