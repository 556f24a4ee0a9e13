//! How ranking went.

use super::Sentence;

pub(super) fn text(sentence: &Sentence) -> String {
    match sentence {
        Sentence::Rung { number, of, name, arbitrary, not_needed } => {
            let decided = format!("Decided on rung {number} of {of} ({name})");
            match not_needed {
                _ if *arbitrary => format!("{decided}; renaming a policy would flip it."),
                Some(last) => format!("{decided}. {} was not needed.", capital(last)),
                None => format!("{decided}."),
            }
        }
        Sentence::RankingUndecided => "Undecided: a missing fact could let another policy win.".to_owned(),
        Sentence::RankingAllApply => "All that match apply; ranking only orders them.".to_owned(),
        Sentence::RankingOnlyOne => "Only one policy matches, so no rung was needed.".to_owned(),
        Sentence::RankingLayers { rungs } => format!("Layers are ordered by {}.", rungs.join(", ")),
        Sentence::RankingProfile { profile } => format!("Merged by the profile {profile}."),
        Sentence::RankingWholes { merges: false } => {
            "One policy holds at each target: the oldest that names it.".to_owned()
        }
        Sentence::RankingWholes { merges: true } => {
            "One policy holds at each target: the oldest that names it. Wider ones count only where its mergeType says so."
                .to_owned()
        }
        Sentence::RankingFields => "Merged field by field: of policies that set a field, the first in this order wins.".to_owned(),
        Sentence::RankingLevels { joins } => format!("Levels meet by {}, the nearest parent first.", joins.join(", ")),
        _ => String::new(),
    }
}

fn capital(text: &str) -> String {
    let mut characters = text.chars();
    characters.next().map(|first| first.to_uppercase().chain(characters).collect()).unwrap_or_default()
}
