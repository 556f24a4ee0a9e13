//! Routes for streams: nothing in them matches requests, so their policies are those of their rules at each listener.

use upheld_engine::ObjectId;
use upheld_model::Diagnostic;
use upheld_report::Report;

use super::{Query, WAY_SCOPES, holding_for, speaking, together_by_target};
use crate::gateways::gateway_api::GatewayKind;
use crate::gateways::gateway_api::controller::System;
use crate::gateways::gateway_api::reported::report_at;
use crate::gateways::gateway_api::topology::{Parent, Step};

impl<'s> Query<'s> {
    /// Every rule of a route, or one, at every listener that it is at.
    pub(super) fn stream(&self, route: ObjectId, section: Option<&str>) -> Result<Vec<Report>, Diagnostic> {
        let rule = section.map(|section| self.rule_of(route, section)).transpose()?;
        let count = self.topology().facts(route).map_or(0, |facts| facts.rules.len());
        let is_assumed = !self.network.assumptions(route).is_empty();
        let mut reports = Vec::new();
        for number in (0..count).filter(|number| rule.is_none_or(|rule| rule == *number)) {
            let parent = Parent { object: route, section: None };
            let step = Step { route, rule: number, matched: 0, parent };
            for kind in self.stream_kinds() {
                reports.extend(self.stream_at_listeners(kind, &step));
                let is_alone = self.topology().attached_of(route).is_empty();
                if is_alone && is_assumed {
                    let asked = self.network.under(kind).route(std::slice::from_ref(&step));
                    reports.push(report_at(&asked, &self.step_title(&step)));
                }
            }
        }
        if reports.is_empty() {
            return Err(self.unreached(route, section));
        }
        let mut reports = speaking(reports.into_iter().fold(Vec::new(), together_by_target));
        for report in &mut reports {
            self.tell_parents(route, report);
        }
        Ok(reports)
    }

    /// The kinds that are about streams: those of kgateway are about requests.
    fn stream_kinds(&self) -> Vec<GatewayKind<'s>> {
        let mut kinds = self.kinds(&WAY_SCOPES);
        if kinds.iter().all(|kind| self.network.system(*kind) == Some(System::Kgateway)) {
            return kinds;
        }
        kinds.retain(|kind| self.network.system(*kind) != Some(System::Kgateway));
        kinds
    }

    fn stream_at_listeners(&self, kind: GatewayKind<'s>, step: &Step) -> Vec<Report> {
        let attached = self.topology().attached_of(step.route).iter();
        let places = attached.filter_map(|at| {
            let gateway = self.topology().gateways.get(at.gateway)?;
            Some((gateway, gateway.listeners.get(at.listener)?))
        });
        let report = |(gateway, listener)| {
            let asked = self.network.stream(kind, gateway, listener, step);
            let mut report = report_at(&asked, &self.step_title(step));
            self.rest_on(gateway.object);
            self.tell_controller(kind, gateway, &mut report);
            let place = format!("{} listener {}", self.network.title(listener.owner), listener.name);
            holding_for(report, place)
        };
        places.map(report).collect()
    }
}
