//! Why nobody can tell what becomes of a request.

use upheld_engine::decide::{BadPath, Decide, MOST_DOUBTS, Request};

/// Why there is no decision.
pub(crate) enum Undecided {
    /// Readers of the path do not agree.
    Readings {
        /// The ways in which they read it.
        readings: Vec<String>,
        /// The policies that may apply.
        policies: Vec<String>,
    },
    /// Nobody can read the path.
    Path {
        /// As a clause: `the path …`.
        problem: String,
        /// The policies that may apply.
        policies: Vec<String>,
    },
    /// Too many policies may be about a path that is not known.
    Doubts {
        /// As a clause: `the path …`.
        problem: String,
    },
    /// Something is not known that policies ask for.
    Facts {
        /// These policies.
        policies: Vec<String>,
    },
    /// The conditions together take more steps than these.
    Steps(usize),
    /// Policies contradict each other.
    Conflict,
}

/// In a sentence that callers get as the reason.
pub(crate) fn sentence(why: &Undecided) -> String {
    match why {
        Undecided::Readings { readings, policies } => {
            let readings: Vec<String> = readings.iter().take(MOST).map(|reading| format!("`{reading}`")).collect();
            let path = format!("the path can be read as {}", readings.join(" and as "));
            format!("undecided: {path}, {}", not_known(policies))
        }
        Undecided::Path { problem, policies } => format!("undecided: the path {problem}, {}", not_known(policies)),
        Undecided::Doubts { problem } => format!("undecided: the path {}", too_many_doubts(problem)),
        Undecided::Facts { policies } => {
            format!("undecided: a fact is missing or of another type, {}", not_known(policies))
        }
        Undecided::Steps(most) => format!("undecided: the {}", too_many_steps(*most)),
        Undecided::Conflict => "undecided: policies contradict each other".to_owned(),
    }
}

/// Why policies that may apply make no difference where the default decides.
pub(crate) fn same_effect(policies: &[String], decision: &str) -> String {
    let verb = match (policies.len(), decision) {
        (1, "deny") => "denies",
        (1, _) => "permits",
        (_, several) => several,
    };
    format!("{} may apply, and {verb} as well", policies.join(", "))
}

/// The same as the reason that callers get.
pub(crate) fn by_default(policies: &[String], decision: &str) -> String {
    format!("{BY_DEFAULT}{}", same_effect(policies, decision))
}

const BY_DEFAULT: &str = "the default effect: ";

/// Whether a reason of a decision names policies that may apply, although none of them decided.
pub fn names_others(reason: &str) -> bool {
    reason.starts_with(BY_DEFAULT)
}

/// Which bound a request has met.
pub(crate) fn too_many_steps(most: usize) -> String {
    format!("conditions of all matching policies take more than {most} steps together")
}

/// The same of a path, as a clause.
pub(crate) fn too_many_doubts(problem: &str) -> String {
    format!("{problem}, and more than {MOST_DOUBTS} policies may apply to it")
}

/// What is wrong with a path that has no reading, as a clause: `the path …`.
pub(crate) fn problem_of_path(decide: &Decide, request: &Request) -> String {
    decide.bad_path(request).map_or("is not known", BadPath::sentence).to_owned()
}

/// Names beyond these are counted.
const MOST: usize = 3;

fn not_known(policies: &[String]) -> String {
    let named: Vec<String> = policies.iter().take(MOST).map(|name| format!("`{name}`")).collect();
    match policies.len() {
        0 => "and that makes a difference".to_owned(),
        1 => format!("so it is not known whether {} applies", named.concat()),
        count if count > MOST => {
            format!("so it is not known whether {} and {} more apply", named.join(", "), count - MOST)
        }
        _ => format!("so it is not known whether {} apply", named.join(", ")),
    }
}
