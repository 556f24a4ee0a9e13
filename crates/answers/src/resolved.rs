//! Just the result of a question.

use serde_json::{Map, Value as Json, json};
use upheld_engine::Snapshot;
use upheld_model::nearest::{did_you_mean, nearest};
use upheld_model::{Diagnostic, Fault};

use upheld_dialects::access::questions::short;
use upheld_dialects::question::Question;
use upheld_report::{Answer, Family, Outcome, Refused, Report, Stamp, Verdict};

/// Just a result, and which rules gave it.
#[derive(Clone, Debug, PartialEq)]
pub struct Resolution {
    /// The result: a configuration, the field that was asked for, a decision; none if the field is not set.
    pub value: Option<Json>,
    /// Remarks on it, for people.
    pub notes: Vec<String>,
    /// What scripts want to know of it.
    pub verdict: Resolved,
    /// Where it comes from.
    pub stamp: Stamp,
}

impl Resolution {
    /// The result, for callers who need one.
    pub fn result(self) -> Result<(Json, Stamp), Refused> {
        let Self { value, notes, stamp, .. } = self;
        let value = value.ok_or_else(|| Diagnostic::error(Fault::NotFound, notes.join("; ")))?;
        Ok((value, stamp))
    }
}

/// What a result comes to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resolved {
    /// There is one.
    Yes,
    /// It is denied or violated, or the field is not set.
    No,
    /// A fact is missing.
    Undecided,
}

/// What scripts want to know of some reports: no for one denial, undecided for one that nobody can tell, else yes.
pub fn verdict_of<'r>(reports: impl IntoIterator<Item = &'r Report>) -> Resolved {
    let mut undecided = false;
    for report in reports {
        match report.verdict {
            Verdict::Deny | Verdict::Foreign | Verdict::Hard | Verdict::Error => return Resolved::No,
            Verdict::Undecided => undecided = true,
            Verdict::Set | Verdict::Unset | Verdict::Permit | Verdict::Pass | Verdict::Soft | Verdict::Waived => {}
        }
    }
    if undecided { Resolved::Undecided } else { Resolved::Yes }
}

/// The result that everything has in common that was asked about.
pub(crate) fn resolution(snapshot: &Snapshot, answer: &Answer, question: &Question) -> Result<Resolution, Diagnostic> {
    let stamp = answer.stamp(snapshot);
    let reports: Vec<&Report> = answer.reports.iter().collect();
    if reports.iter().all(|report| report.family == Family::Decide) && !reports.is_empty() {
        if reports.iter().all(|report| report.about.place.is_some()) {
            return Ok(decided_at_places(snapshot, answer, question));
        }
        let value = match reports.as_slice() {
            [one] => short(snapshot, one),
            several => several.iter().map(|report| short(snapshot, report)).collect(),
        };
        let verdict = verdict_of(reports);
        return Ok(Resolution { value: Some(value), notes: Vec::new(), verdict, stamp });
    }
    if answer.groups().len() > 1 && reports.iter().any(|report| matches!(report.family, Family::Select | Family::Merge))
    {
        return Err(several(answer));
    }
    let undecided = reports.iter().find(|report| report.outcome == Outcome::Undecided);
    if let Some(undecided) = undecided.filter(|_| question.field.is_some()) {
        let notes = vec![format!("note: {}", undecided.headline.text)];
        return Ok(Resolution { value: Some(Json::Null), notes, verdict: Resolved::Undecided, stamp });
    }
    let mut missing = Vec::new();
    let mut value_of = |report: &Report| {
        let whole = result(report);
        match &question.field {
            None => whole,
            Some(path) => field_of(report, &whole, path).unwrap_or_else(|| {
                missing.push(not_set(report, path));
                Json::Null
            }),
        }
    };
    let value = match (reports.as_slice(), &question.kind) {
        ([one], Some(_)) => value_of(one),
        ([one], _) if one.family == Family::Comply => value_of(one),
        (several, _) => {
            let names = names_of(several);
            let map: Map<String, Json> =
                several.iter().zip(names).map(|(report, name)| (name, value_of(report))).collect();
            Json::Object(map)
        }
    };
    // Under all kinds, most have no such field; it is missing only if none has it.
    if !missing.is_empty() && missing.len() == reports.len() {
        return Ok(Resolution { value: None, notes: missing, verdict: Resolved::No, stamp });
    }
    let silent = reports.iter().filter(|report| report.policies.is_empty() || report.is_unenforced());
    let notes = silent.map(|report| format!("note: {}", report.headline.text)).collect();
    // Of several kinds, a denial of one says nothing about the others.
    let verdict = match reports.as_slice() {
        [_] => verdict_of(reports),
        several if several.iter().any(|report| report.verdict == Verdict::Undecided) => Resolved::Undecided,
        _ => Resolved::Yes,
    };
    Ok(Resolution { value: Some(value), notes, verdict, stamp })
}

/// What is decided at several places, all of which must agree: whether it is allowed comes first, then each place.
fn decided_at_places(snapshot: &Snapshot, answer: &Answer, question: &Question) -> Resolution {
    let mut things: Vec<(&str, Vec<&Report>)> = Vec::new();
    for report in &answer.reports {
        match things.iter_mut().find(|(what, _)| *what == report.about.what) {
            Some((_, own)) => own.push(report),
            None => things.push((&report.about.what, vec![report])),
        }
    }
    let decision = |report: &Report| {
        let mut short = short(snapshot, report);
        // These are the same for all, and stand beside the result.
        if let Some(short) = short.as_object_mut() {
            short.retain(|name, _| !["semantics", "snapshot"].contains(&name.as_str()));
        }
        short
    };
    let value_of = |(what, own): &(&str, Vec<&Report>)| {
        let allowed = match verdict_of(own.iter().copied()) {
            Resolved::Yes => Json::Bool(true),
            Resolved::No => Json::Bool(false),
            Resolved::Undecided => Json::Null,
        };
        let mut places = Map::new();
        for report in own {
            let place = report.about.place.clone().unwrap_or_default();
            // Several kinds may decide at one place.
            let name = if places.contains_key(&place) { format!("{place} by {}", report.kind) } else { place };
            places.insert(name, decision(report));
        }
        json!({"allowed": allowed, "about": what, "decisions": places})
    };
    let whole = match things.as_slice() {
        [one] => value_of(one),
        several => several.iter().map(value_of).collect(),
    };
    let (stamp, verdict) = (answer.stamp(snapshot), verdict_of(&answer.reports));
    let mut notes = answer.notes.clone();
    let value = match &question.field {
        None => Some(whole),
        Some(path) => at_path(&whole, path),
    };
    let Some(value) = value else {
        notes.push(format!("{} is not part of the result", question.field.as_deref().unwrap_or_default()));
        return Resolution { value: None, notes, verdict: Resolved::No, stamp };
    };
    Resolution { value: Some(value), notes, verdict, stamp }
}

fn several(answer: &Answer) -> Diagnostic {
    let groups = answer.groups();
    let example = groups.iter().find_map(|(pairs, _)| pairs.first()).map_or("", String::as_str);
    let message = format!("{} has {} different results", answer.about, groups.len());
    Diagnostic::error(Fault::Ambiguous, message)
        .help(format!("ask for one pair, for example `{}`", pasteable(example)))
        .help("`upheld explain` shows all of them")
}

/// The kind; where one has several results, with what each is about.
fn names_of(reports: &[&Report]) -> Vec<String> {
    let alone = |kind: &str| reports.iter().filter(|other| other.kind == kind).count() == 1;
    let mut names: Vec<String> = Vec::new();
    for Report { kind, about, family, .. } in reports {
        let what = Some(&about.what).filter(|_| *family == Family::Hierarchy);
        let words = [Some(kind), about.place.as_ref(), about.from.as_ref(), about.to.as_ref(), what];
        let words = words.into_iter().flatten().cloned();
        let mut name = if alone(kind) { kind.clone() } else { words.collect::<Vec<_>>().join(" ") };
        while names.contains(&name) {
            name.push('\'');
        }
        names.push(name);
    }
    names
}

/// A pair as flags.
fn pasteable(pair: &str) -> String {
    let quoted = |name: &str| if name.contains('#') { format!("'{name}'") } else { name.to_owned() };
    match pair.split_once(" → ") {
        Some((from, to)) => format!("--from {} --to {}", quoted(from), quoted(to)),
        None => pair.to_owned(),
    }
}

/// The configuration; for kinds that grant, whether it is granted and by whom; for related objects, what rules come to.
fn result(report: &Report) -> Json {
    match (report.family, report.verdict.granted()) {
        (Family::Comply, _) => json!({"verdict": report.verdict, "policies": report.policies}),
        (_, Some(granted)) => json!({"allowed": granted, "by": report.policies}),
        // What nothing enforces refuses nobody, and no policy is to thank for it.
        (_, None) if report.is_unenforced() => json!({"allowed": true, "by": []}),
        // Who grants, where it was not asked whom.
        (_, None) if report.fields.is_empty() && !report.policies.is_empty() => json!({"by": report.policies}),
        (_, None) => report.result.clone(),
    }
}

/// A leaf by its path as `explain` shows it, or whatever a path leads to.
fn field_of(report: &Report, whole: &Json, path: &str) -> Option<Json> {
    let leaf = report.fields.iter().find(|field| field.path == path);
    leaf.and_then(|leaf| leaf.value.clone()).or_else(|| at_path(whole, path))
}

/// Follows `a.b[0].c`.
fn at_path(value: &Json, path: &str) -> Option<Json> {
    let mut value = value;
    for step in path.split('.') {
        let (key, indexes) = step.split_once('[').map_or((step, ""), |(key, rest)| (key, rest));
        if !key.is_empty() {
            value = value.get(key)?;
        }
        for index in indexes.split('[').filter(|index| !index.is_empty()) {
            value = value.get(index.trim_end_matches(']').parse::<usize>().ok()?)?;
        }
    }
    Some(value.clone())
}

fn not_set(report: &Report, path: &str) -> String {
    let known = report.fields.iter().map(|field| field.path.as_str());
    let hint = nearest(path, known).map(|name| format!("; {}", did_you_mean(name))).unwrap_or_default();
    format!("{}: `{path}` is not set{hint}", report.kind)
}
