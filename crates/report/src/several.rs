//! The sentence over several reports about one thing.

/// What several reports come to together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Several {
    /// What they are about.
    pub about: String,
    /// How many kinds were asked.
    pub asked: usize,
    /// How many kinds have a policy that says something.
    pub applied: usize,
    /// How many reports have one.
    pub speaking: usize,
    /// How many rest on the order of names.
    pub ties: usize,
    /// How many lack a fact.
    pub undecided: usize,
    /// What is counted.
    pub counted: Counted,
}

/// What there is a report for each of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Counted {
    /// Kinds of policy.
    #[default]
    Kinds,
    /// Places, at which kinds say something.
    Places,
}

impl Several {
    /// In words.
    pub fn text(&self) -> String {
        let Self { about, asked, applied, speaking, ties, undecided, counted } = self;
        let verb = if *applied == 1 { "applies" } else { "apply" };
        let kinds = match (applied, asked) {
            (0, _) => "No kind applies".to_owned(),
            (applied, asked) if applied < asked => format!("{applied} of {asked} kinds {verb}"),
            (1, _) => "1 kind applies".to_owned(),
            (applied, _) => format!("{applied} kinds apply"),
        };
        // A kind may say something at several places of one connection: there is a row for each.
        let places = if speaking > applied { format!(" at {speaking} places") } else { String::new() };
        let mut sentence = format!("{kinds} to {about}{places}");
        let of_them = if *counted == Counted::Places { "of the answers" } else { "of them" };
        match ties {
            0 => {}
            1 => sentence.push_str(&format!("; 1 {of_them} rests on an arbitrary tie-break")),
            ties => sentence.push_str(&format!("; {ties} {of_them} rest on arbitrary tie-breaks")),
        }
        if *undecided > 0 {
            sentence.push_str(&format!("; {undecided} undecided because a fact is missing"));
        }
        sentence + "."
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_places_ties_and_what_is_undecided_are_told() {
        let about = "a → b".to_owned();
        let some = Several { about, asked: 3, applied: 2, speaking: 4, ties: 1, ..Several::default() };
        assert_eq!(some.text(), "2 of 3 kinds apply to a → b at 4 places; 1 of them rests on an arbitrary tie-break.");
        let places =
            Several { ties: 2, undecided: 1, counted: Counted::Places, applied: 1, speaking: 1, asked: 1, ..some };
        assert_eq!(
            places.text(),
            "1 kind applies to a → b; 2 of the answers rest on arbitrary tie-breaks; 1 undecided because a fact is missing."
        );
    }
}
