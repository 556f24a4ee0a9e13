//! What is wrong with how routes want policies to meet.

use std::collections::BTreeMap;

use upheld_engine::ObjectId;
use upheld_engine::hierarchy::Prefer;
use upheld_model::tree::Value;
use upheld_model::{Diagnostic, Fault};
use upheld_report::counted;

use super::delegation::{INHERITANCE, inheritance, is_known};
use crate::dialect::Finding;
use crate::gateways::gateway_api::Network;
use crate::gateways::gateway_api::resources::View;

/// Routes of which one delegates to the other, and that want opposite sides to go before.
pub(in crate::gateways) fn findings(network: Network<'_>) -> Vec<Finding> {
    let mut opposite: BTreeMap<(ObjectId, ObjectId), usize> = BTreeMap::new();
    for (_, way) in network.topology().ways() {
        // The last one delegates to nobody.
        let above = way.chain.split_last().map(|(_, above)| above).unwrap_or_default();
        let asking: Vec<(ObjectId, Prefer)> =
            above.iter().filter_map(|step| Some((step.route, Asked::of(network, step.route)?.prefer))).collect();
        for pair in asking.windows(2) {
            if let [(outer, one), (inner, other)] = pair
                && one != other
            {
                *opposite.entry((*outer, *inner)).or_default() += 1;
            }
        }
    }
    let told = opposite.into_iter().filter_map(|((outer, inner), ways)| told(network, outer, inner, ways));
    told.collect()
}

/// What a route asks for.
struct Asked<'s> {
    view: View<'s>,
    annotation: Value<'s>,
    prefer: Prefer,
}

impl<'s> Asked<'s> {
    fn of(network: Network<'s>, route: ObjectId) -> Option<Self> {
        let view = View::of(network.snapshot, route)?;
        let annotation = view.annotation(INHERITANCE).filter(|value| is_known(value.text()))?;
        let (asked, _) = inheritance(Some(annotation.text()));
        Some(Self { view, annotation, prefer: asked.prefer })
    }
}

fn told(network: Network<'_>, outer: ObjectId, inner: ObjectId, ways: usize) -> Option<Finding> {
    let [outer, inner] = [Asked::of(network, outer)?, Asked::of(network, inner)?];
    let [one, other] = [&outer, &inner].map(|asked| (asked.view.title(), asked.annotation.text()));
    let message = format!(
        "{} asks for {}, and {}, which it delegates to, for {}: whose policies go before changes on the way ({})",
        one.0,
        one.1,
        other.0,
        other.1,
        counted(ways, "way of requests", "ways of requests")
    );
    let problem = Diagnostic::warning(Fault::StrategyConflict, message)
        .help("let both prefer the same side, if that was not meant")
        .at_value(inner.view.source, inner.annotation, "prefers another side")
        .related(outer.view.source, outer.annotation.span(), "prefers this side");
    Some(Finding::from(problem).about(format!("{} {}", one.0, other.0)))
}
