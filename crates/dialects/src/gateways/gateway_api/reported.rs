//! From a question about a place of gateways to its report.

use serde_json::Value as Json;
use upheld_engine::hierarchy::{Effective, Hierarchy, Via};
use upheld_engine::{Place, Ruling};
use upheld_model::Code;
use upheld_report::{AskedPlaces, Candidate, Phrase, Places, Remark, Report, report_places};

use super::attachments::Reader;
use super::places::Asked;
use super::scopes::SCOPES;
use crate::gateways::kgateway::fields::written_name;

/// Asks, and reports what the policies come to.
pub fn report_at(asked: &Asked<'_>, target: &str) -> Report {
    report_of(asked, &asked.ruling(), target)
}

/// Reports what was ruled.
pub fn report_of(asked: &Asked<'_>, ruling: &Ruling<Hierarchy>, target: &str) -> Report {
    let (snapshot, kind, lookup) = (asked.network().snapshot, asked.kind().kind, &asked.lookup);
    let mut report = asked.with(|policies, question| {
        report_places(&AskedPlaces { snapshot, kind, lookup, places: asked, policies, question, ruling }, target)
    });
    let assumed = asked.assumed(&ruling.answer).into_iter();
    report.notes.extend(assumed.map(|(policy, problems)| Remark::TakenToExist { policy, problems }.into()));
    let ungranted: Vec<Phrase> = report.candidates.iter().filter_map(ungranted).map(Into::into).collect();
    report.notes.extend(ungranted);
    report
}

/// That a policy does not count for want of a grant, which may be there all the same.
fn ungranted(candidate: &Candidate) -> Option<Remark> {
    let namespace = candidate.reason.parameters.get("of").and_then(Json::as_str);
    let namespace = namespace.filter(|_| candidate.reason.code == Code::OffNotGranted.text())?.to_owned();
    let (what, policy) = ("ReferenceGrant".to_owned(), candidate.policy.clone());
    Some(Remark::TakenNotToExist { what, policy, namespace })
}

impl Places for Asked<'_> {
    fn scope(&self, place: Place) -> Option<&'static str> {
        let (scope, _) = self.place(place)?;
        SCOPES.get(usize::from(scope)).copied()
    }

    fn own(&self, place: Place) -> String {
        let snapshot = self.network().snapshot;
        let level = self.place(place).map_or(0, |(_, level)| level);
        match self.spot(place).map(|spot| (spot.rule, spot.object)) {
            Some((Some(rule), Some(object))) if level > 0 => {
                let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
                format!("(rule {rule} of {kind} {scope}/{name})")
            }
            _ => "(the rule itself)".to_owned(),
        }
    }

    fn via(&self, place: Place, via: Via) -> String {
        let word = match via {
            Via::Own => return "rule".to_owned(),
            Via::Listed => "extension reference of",
            Via::Named => "target reference to",
            Via::Selected => "target selector for",
        };
        let snapshot = self.network().snapshot;
        let Some((spot, object)) = self.spot(place).and_then(|spot| Some((spot, spot.object?))) else {
            return String::new();
        };
        let [kind, scope, name] = [object.kind, object.scope, object.name].map(|symbol| snapshot.text(symbol));
        let section = spot.section.as_ref().map(|section| format!("#{section}")).unwrap_or_default();
        format!("{word} {kind} {scope}/{name}{section}")
    }

    fn form(&self, place: Place, via: Via) -> String {
        let snapshot = self.network().snapshot;
        let spot = self.spot(place);
        let kind = spot.and_then(|spot| spot.object).map_or("", |object| snapshot.text(object.kind));
        let section = spot.and_then(|spot| spot.section.as_ref()).map(|section| format!("#{section}"));
        let section = section.unwrap_or_default();
        match via {
            Via::Own => "rule".to_owned(),
            Via::Listed => "extensionRef".to_owned(),
            Via::Named => format!("targetRef {kind}{section}"),
            Via::Selected => format!("targetSelector {kind}{section}"),
        }
    }

    fn field(&self, name: &str) -> String {
        match self.reader() {
            Some(Reader::Kgateway(policy)) => written_name(policy, name),
            Some(Reader::EnvoyGateway | Reader::Stanzas | Reader::Whole) | None => name.to_owned(),
        }
    }

    fn problems(&self, answer: &Effective) -> Vec<String> {
        self.broken(answer)
    }

    fn joins(&self) -> Vec<String> {
        Asked::joins(self).map(ToString::to_string).collect()
    }
}
