//! An audit as metrics, in the text format of Prometheus.

use std::time::Duration;

use jiff::Timestamp;

use crate::formats::visible;
use crate::report::compliance::{Audit, CheckState, PolicyLine, Severity, WaiverState};

/// All metrics. What is zero is reported, too: a line that vanishes would leave the old number standing.
pub(super) fn metrics(audit: &Audit, took: Option<Duration>) -> String {
    let mut text = heading("compliance_violations", "Violations by policy, level, severity and state.");
    for policy in &audit.policies {
        let counts = policy.counts;
        let states =
            [(CheckState::Hard, counts.hard), (CheckState::Soft, counts.soft), (CheckState::Waived, counts.waived)];
        for (state, count) in states {
            let severity = policy.severity.map_or("none", Severity::name);
            let (policy, level) = (policy.id.as_str(), policy.level.name());
            let labels = [("policy", policy), ("level", level), ("severity", severity), ("state", state.name())];
            text.push_str(&sample("compliance_violations", &labels, &count.to_string()));
        }
    }
    let mut by_policy = |name: &str, help: &str, count: fn(&PolicyLine) -> usize| {
        text.push_str(&heading(name, help));
        for policy in &audit.policies {
            text.push_str(&sample(name, &[("policy", &policy.id)], &count(policy).to_string()));
        }
    };
    by_policy("compliance_pairs", "Pairs of objects that a policy speaks about.", |policy| policy.pairs);
    by_policy("compliance_vacuous", "Checks that passed because nobody carries the tag.", |policy| {
        policy.counts.vacuous
    });
    text.push_str(&heading("compliance_waivers", "Waivers by state."));
    for state in WaiverState::ALL {
        let count = audit.waivers.iter().filter(|waiver| waiver.state == state).count();
        text.push_str(&sample("compliance_waivers", &[("state", state.name())], &count.to_string()));
    }
    text.push_str(&heading("compliance_gaps", "What the audit could not look at."));
    text.push_str(&sample("compliance_gaps", &[], &audit.gaps.len().to_string()));
    if let Some(compared) = &audit.baseline {
        text.push_str(&heading("compliance_baseline", "Violations beside those of an earlier audit."));
        let counts = [
            ("new", compared.new),
            ("unchanged", compared.unchanged),
            ("updated", compared.updated),
            ("absent", compared.absent.len()),
        ];
        for (state, count) in counts {
            text.push_str(&sample("compliance_baseline", &[("state", state)], &count.to_string()));
        }
    }
    if let Some(took) = took {
        text.push_str(&heading("compliance_audit_seconds", "How long the audit took."));
        text.push_str(&sample("compliance_audit_seconds", &[], &took.as_secs_f64().to_string()));
    }
    if let Ok(now) = audit.now.parse::<Timestamp>() {
        text.push_str(&heading("compliance_audit_end_timestamp", "The moment of the audit, in seconds since 1970."));
        text.push_str(&sample("compliance_audit_end_timestamp", &[], &now.as_second().to_string()));
    }
    text
}

fn heading(name: &str, help: &str) -> String {
    format!("# HELP {name} {help}\n# TYPE {name} gauge\n")
}

fn sample(name: &str, labels: &[(&str, &str)], value: &str) -> String {
    let labels: Vec<String> = labels.iter().map(|(name, value)| format!("{name}=\"{}\"", escaped(value))).collect();
    let labels = if labels.is_empty() { String::new() } else { format!("{{{}}}", labels.join(",")) };
    format!("{name}{labels} {value}\n")
}

/// A label in one line; backslash and quote are all that needs an escape then.
fn escaped(text: &str) -> String {
    visible(text).replace('\\', "\\\\").replace('"', "\\\"")
}
