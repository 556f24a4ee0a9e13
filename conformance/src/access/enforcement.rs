//! `buntime-pep/pep`: which requests an enforcement point lets through, as the original does it.

use anyhow::{Context, bail};
use serde_json::{Value as Json, json};
use upheld_dialects::access::Edition;
use upheld_dialects::access::enforce::{Enforced, EnforcementPoint, HttpRequest, Identity, Judged, Why};
use upheld_engine::decide::{Fact, Maybe, Outcome as Decision};
use upheld_model::Timestamp;

use super::judged::mentioned;
use super::world::World;
use crate::case::Case;
use crate::difference::differences;
use crate::outcome::Outcome;
use crate::served::{Server, both};

/// What the original assumes where its settings say nothing.
const DEFAULTS: [(&str, &str); 2] = [("combiningAlgorithm", "deny-overrides"), ("defaultEffect", "deny")];

pub(super) fn run(case: &Case) -> anyhow::Result<Outcome> {
    let http = case.field("http");
    let identity = identity_text(http);
    let identity = identity.map_or(Identity::Absent, |text| Identity::read(&text));
    let reported = matches!(identity, Identity::Unreadable(_));
    let path = http.get("path").and_then(Json::as_str).context("the request has no path")?;
    let agent = header(http, "User-Agent").map(|agent| ("user-agent".into(), Fact::Text(agent.into())));
    let request = HttpRequest {
        method: http.get("method").and_then(Json::as_str).context("the request has no method")?.to_owned(),
        path: path.split('?').next().unwrap_or_default().to_owned(),
        host: Maybe::Absent,
        app: http.get("app").and_then(Json::as_str).map(Into::into).into(),
        identity,
        headers: agent.into_iter().collect(),
        address: Maybe::Unknown,
        forwarded_for: header(http, "X-Forwarded-For").map(str::to_owned),
        real_ip: header(http, "X-Real-IP").map(str::to_owned),
        time: Maybe::Is(now()?),
    };
    let in_library = judge(case, &enforced(case, &request)?, reported);
    Ok(both(in_library, served(case, path)))
}

fn judge(case: &Case, became: &Became, reported: bool) -> Outcome {
    let expected = case.field("expect");
    let mut lines = compare(expected, became);
    if let Some(log) = expected.get("log").filter(|_| !reported) {
        lines.push(format!("log: expected something like {log}, but the identity was read"));
    }
    if lines.is_empty() { Outcome::Passed } else { Outcome::Failed(lines) }
}

/// The same request as a proxy asks about it.
fn served(case: &Case, path: &str) -> anyhow::Result<Outcome> {
    let server = Server::behind_proxy(&[Edition::Compat.name()])?;
    if server.put(&[settings(case)])?.is_err() {
        return Ok(judge(case, &Became::Stopped, true));
    }
    let http = case.field("http");
    let identity = identity_text(http);
    let given = http.get("headers").and_then(Json::as_object).into_iter().flatten();
    let mut headers: Vec<(&str, &str)> =
        given.filter_map(|(name, value)| Some((name.as_str(), value.as_str()?))).collect();
    headers.retain(|(name, _)| !name.eq_ignore_ascii_case("X-Identity"));
    headers.extend(identity.as_deref().map(|identity| ("X-Identity", identity)));
    headers.extend(http.get("app").and_then(Json::as_str).map(|app| ("X-App", app)));
    let method = http.get("method").and_then(Json::as_str).context("the request has no method")?;
    let answer = server.ask(method, &format!("/forward-auth{path}"), &headers, "")?;
    let became = match (answer.status, answer.header("x-policy-decision")) {
        (200, _) => Became::Decided(Enforced::Continue(Why::Permitted)),
        (403, Some("undecided")) => Became::Stopped,
        (403, _) => Became::Decided(Enforced::Forbidden(answer.json())),
        (status, _) => bail!("status {status}: {}", answer.text),
    };
    Ok(judge(case, &became, answer.header("x-policy-identity").is_some()))
}

/// The settings of a case with what the original assumes.
fn settings(case: &Case) -> Json {
    let mut settings = case.field("config").as_object().cloned().unwrap_or_default();
    for (key, value) in DEFAULTS {
        settings.entry(key).or_insert_with(|| json!(value));
    }
    Json::Object(settings)
}

/// What becomes of a request.
enum Became {
    /// An enforcement point decides.
    Decided(Enforced),
    /// Nothing can be decided, so that it is stopped; where the original throws, it lets it through.
    Stopped,
}

fn enforced(case: &Case, request: &HttpRequest) -> anyhow::Result<Became> {
    let Ok(world) = World::read(Edition::Compat, &settings(case)) else { return Ok(Became::Stopped) };
    let point = EnforcementPoint { decider: world.decider()?, understood: &[] };
    let Judged { enforced, decision, .. } = point.judge(request, None);
    let stopped = decision.is_some_and(|decision| decision.outcome == Decision::Undecided);
    Ok(if stopped { Became::Stopped } else { Became::Decided(enforced) })
}

fn compare(expected: &Json, became: &Became) -> Vec<String> {
    let outcome = expected.get("outcome").unwrap_or(&Json::Null);
    match became {
        Became::Stopped if outcome == "continue" => Vec::new(),
        Became::Stopped => vec![format!("outcome: expected {outcome}, but nothing can be decided")],
        Became::Decided(Enforced::Continue(_)) => differences(outcome, &json!("continue")),
        Became::Decided(Enforced::Forbidden(body)) => {
            let answer = json!({"outcome": "respond", "status": 403});
            let mut lines = differences(&mentioned(&answer, expected), &mentioned(expected, &answer));
            let fields = expected.get("fields").cloned().unwrap_or_else(|| json!({}));
            lines.extend(differences(&fields, &mentioned(&fields, body)));
            let absent = expected.get("absent").and_then(Json::as_array).into_iter().flatten();
            for key in absent.filter_map(Json::as_str) {
                lines.extend(body.get(key).map(|value| format!("{key}: expected nothing, got {value}")));
            }
            lines
        }
    }
}

/// What the header with the identity says.
fn identity_text(http: &Json) -> Option<String> {
    match http.get("identity") {
        Some(identity) => Some(identity.to_string()),
        None => header(http, "X-Identity").filter(|text| !text.is_empty()).map(str::to_owned),
    }
}

fn header<'j>(http: &'j Json, name: &str) -> Option<&'j str> {
    let headers = http.get("headers").and_then(Json::as_object).into_iter().flatten();
    headers.into_iter().find(|(key, _)| key.eq_ignore_ascii_case(name)).and_then(|(_, value)| value.as_str())
}

/// Any moment will do: the cases do not depend on it.
fn now() -> anyhow::Result<Timestamp> {
    let Ok(moment) = "2024-06-15T10:00:00Z".parse() else { bail!("no moment can be read") };
    Ok(moment)
}
