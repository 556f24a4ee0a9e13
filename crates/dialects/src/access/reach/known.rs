//! Whether the directory can answer: it lists what is looked for, and has those of whom a question says only the name.

use smol_str::SmolStr;
use upheld_engine::decide::{Maybe, Names};
use upheld_model::nearest::nearest;
use upheld_model::{Diagnostic, Fault};

use super::{Pattern, Sought};
use crate::access::authzen::Directory;

/// What is wrong if it cannot.
pub(super) fn known(directory: &Directory, pattern: &Pattern) -> Result<(), Diagnostic> {
    let sought: Vec<&str> = pattern.sought().map(|(part, _)| part).collect();
    if sought.is_empty() {
        let message = "subject, action and resource are all given, so there is nothing to look for";
        let help = "leave one of them out, or ask `upheld can` about this request";
        return Err(Diagnostic::error(Fault::IncompleteQuestion, message).help(help));
    }
    let has_none = |part: &str| match part {
        "subject" => directory.all_subjects(None, None).next().is_none(),
        "resource" => directory.all_resources(None, None).next().is_none(),
        _ => directory.actions().next().is_none(),
    };
    let missing: Vec<&str> = sought.into_iter().filter(|part| has_none(part)).collect();
    if !missing.is_empty() {
        return Err(without(directory, &missing));
    }
    let (subject, resource) = (&pattern.request.subject, &pattern.request.resource);
    let all_subjects = || directory.all_subjects(None, None).map(|(kind, id, _)| (kind, id)).collect();
    let all_resources = || directory.all_resources(None, None).map(|(kind, id, _)| (kind, id)).collect();
    match (&pattern.subject, &subject.id) {
        (Sought::OfType(kind), _) if directory.all_subjects(Some(kind), None).next().is_none() => {
            return Err(no_type("subject", kind, all_subjects()));
        }
        (Sought::Given, Maybe::Is(id))
            if subject.claims.is_empty() && [&subject.roles, &subject.groups].iter().all(|names| has_no(names)) =>
        {
            let is_known = match &subject.kind {
                Maybe::Is(kind) => directory.subject(kind, id).is_some(),
                Maybe::Absent | Maybe::Unknown => all_subjects().iter().any(|(_, own): &(&str, &str)| *own == id),
            };
            if !is_known {
                return Err(stranger("subject", &subject.kind, id, &all_subjects()));
            }
        }
        _ => {}
    }
    match (&pattern.resource, &resource.id) {
        (Sought::OfType(kind), _) if directory.all_resources(Some(kind), None).next().is_none() => {
            return Err(no_type("resource", kind, all_resources()));
        }
        (Sought::Given, Maybe::Is(id))
            if resource.facts.is_empty()
                && [&resource.path, &resource.app].iter().all(|part| **part == Maybe::Absent) =>
        {
            let is_known = match &resource.kind {
                Maybe::Is(kind) => directory.resource(kind, id).is_some(),
                Maybe::Absent | Maybe::Unknown => false,
            };
            if !is_known {
                return Err(stranger("resource", &resource.kind, id, &all_resources()));
            }
        }
        _ => {}
    }
    Ok(())
}

fn has_no(names: &Names) -> bool {
    *names == Names::default()
}

/// There is nothing to look among.
fn without(directory: &Directory, missing: &[&str]) -> Diagnostic {
    let parts: Vec<String> = missing.iter().map(|part| format!("{part}s")).collect();
    let parts = parts.join(" and ");
    let message = if directory.is_empty() {
        format!("no Directory was read, so it is not known which {parts} there are")
    } else {
        format!("the Directory lists no {parts}")
    };
    Diagnostic::error(Fault::NotFound, message)
        .help("a Directory is a document beside the policies that lists the known subjects, resources and actions:")
        .help(
            "`{kind: Directory, subjects: [{type: user, id: ann}], resources: [{type: document, id: \"7\"}], \
             actions: [{name: read}]}`",
        )
        .help("`upheld schema Directory` prints all fields; see docs/access.md#directory")
}

fn no_type(part: &str, kind: &str, all: Vec<(&str, &str)>) -> Diagnostic {
    let meant = nearest(kind, all.into_iter().map(|(kind, _)| kind)).map(|meant| format!("--{part} type={meant}"));
    let message = format!("the Directory lists no {part}s of type `{kind}`");
    Diagnostic::error(Fault::NotFound, message)
        .suggest_or(meant, || format!("leave `--{part}` out to look among all of them"))
}

/// Somebody of whom only the name is said is not there.
fn stranger(part: &str, kind: &Maybe<SmolStr>, id: &str, all: &[(&str, &str)]) -> Diagnostic {
    let (of, kind) = match kind {
        Maybe::Is(kind) => (format!(" of type `{kind}`"), Some(kind.as_str())),
        Maybe::Absent | Maybe::Unknown => (String::new(), None),
    };
    let same_type = |known: &&(&str, &str)| kind.is_none_or(|kind| kind == known.0);
    let near = nearest(id, all.iter().filter(same_type).map(|(_, own)| *own));
    let meant = all.iter().find(|(_, own)| *own == id);
    let meant = meant.or_else(|| all.iter().filter(same_type).find(|(_, own)| Some(*own) == near));
    let message = format!("the Directory has no {part} `{id}`{of}");
    let help = match part {
        "subject" => "to ask about somebody who is not in it, say more: `--subject id=…,role=…`",
        _ => "to ask about something that is not in it, say more: `--resource /a/path`, or `--resource id=…,owner=…`",
    };
    Diagnostic::error(Fault::NotFound, message)
        .suggest(meant.map(|(kind, id)| format!("--{part} {kind}/{id}")))
        .help(help)
}
