//! Texts by the patterns that cover them: all patterns are walked at once, one character after the other, and a class is a set
//! of patterns that cover some text together. The first text that is met is the shortest.

use std::collections::BTreeMap;

use rustc_hash::{FxHashMap, FxHashSet};

use crate::decide::glob::Token;

/// Which texts there are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decide) enum Text {
    /// Names: a slash is a character like all others.
    Name,
    /// Paths as they are given.
    Path,
    /// Paths that everybody reads alike.
    PlainPath,
}

impl Text {
    /// Whether people would rather write it than another one.
    fn is_good(self, example: &str) -> bool {
        match self {
            Self::Name => !example.is_empty(),
            Self::Path | Self::PlainPath => example.starts_with('/'),
        }
    }
}

/// Texts that the same patterns cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::decide) struct Class {
    /// The patterns by their numbers, in order.
    pub(in crate::decide) covered_by: Vec<u32>,
    /// One of the texts, a short one.
    pub(in crate::decide) example: String,
}

/// The classes of texts, the one that no pattern covers included, and whether these are all of them: the walk ends after so many
/// states.
pub(in crate::decide) fn classes(patterns: &[Vec<Token>], text: Text, most_states: usize) -> (Vec<Class>, bool) {
    let automaton = Automaton::new(patterns, text);
    let mut states: Vec<Reached> = Vec::new();
    let mut known: FxHashSet<State> = FxHashSet::default();
    let (mut found, mut numbers): (Vec<Class>, FxHashMap<Vec<u32>, usize>) = Default::default();
    let mut waiting = vec![(automaton.start(), None)];
    let mut next = 0;
    loop {
        for (state, from) in waiting.drain(..) {
            if known.contains(&state) {
                continue;
            }
            if states.len() == most_states {
                return (found, false);
            }
            known.insert(state.clone());
            if state.dots.may_end() {
                let covered_by = automaton.covered_by(&state);
                let place = *numbers.entry(covered_by.clone()).or_insert(found.len());
                match found.get_mut(place) {
                    Some(class) if text.is_good(&class.example) => {}
                    Some(class) => {
                        let other = example(&states, from);
                        if text.is_good(&other) {
                            class.example = other;
                        }
                    }
                    None => found.push(Class { covered_by, example: example(&states, from) }),
                }
            }
            states.push(Reached { state, from });
        }
        let Some(Reached { state, .. }) = states.get(next) else { return (found, true) };
        waiting.extend(automaton.steps(state).into_iter().map(|(character, state)| (state, Some((next, character)))));
        next += 1;
    }
}

/// A state, and from where and by which character it was reached first.
struct Reached {
    state: State,
    from: Option<(usize, char)>,
}

/// The text by which a state is reached, given the last step to it.
fn example(states: &[Reached], mut from: Option<(usize, char)>) -> String {
    let mut characters = Vec::new();
    while let Some((before, character)) = from {
        characters.push(character);
        from = states.get(before).and_then(|reached| reached.from);
    }
    characters.into_iter().rev().collect()
}

/// All patterns, token after token; the end of each is a place, too.
struct Automaton {
    tokens: Vec<Option<Token>>,
    /// The pattern of each place.
    owners: Vec<u32>,
    text: Text,
    /// A character that no pattern names.
    fresh: char,
}

/// The places at which patterns may be, in order.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct State {
    places: Vec<u32>,
    dots: Dots,
}

/// What a segment is so far, where that matters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
enum Dots {
    /// There is no segment yet.
    Start,
    /// Nothing.
    None,
    /// `.`
    One,
    /// `..`
    Two,
    /// Something that is not a dot segment.
    Other,
}

impl Dots {
    fn may_end(self) -> bool {
        matches!(self, Self::None | Self::Other)
    }

    fn after(self, character: char, text: Text) -> Option<Self> {
        if text != Text::PlainPath {
            return Some(Self::Other);
        }
        match (self, character) {
            (Self::Start | Self::Other, '/') => Some(Self::None),
            (Self::Start, _) | (_, '\0' | '\\' | ';' | '%') | (Self::None | Self::One | Self::Two, '/') => None,
            (Self::None, '.') => Some(Self::One),
            (Self::One, '.') => Some(Self::Two),
            _ => Some(Self::Other),
        }
    }
}

impl Automaton {
    fn new(patterns: &[Vec<Token>], text: Text) -> Self {
        let (mut tokens, mut owners) = (Vec::new(), Vec::new());
        for (number, pattern) in (0..).zip(patterns) {
            tokens.extend(pattern.iter().copied().map(Some).chain([None]));
            owners.resize(tokens.len(), number);
        }
        let named = |wanted: char| tokens.contains(&Some(Token::Character(wanted)));
        let mut candidates = "7x".chars().chain('a'..='z').chain('\u{e000}'..='\u{f8ff}');
        let fresh = candidates.find(|candidate| !named(*candidate)).unwrap_or('\u{ffff}');
        Self { tokens, owners, text, fresh }
    }

    fn start(&self) -> State {
        let ends = (0..).zip(&self.tokens).filter(|(_, token)| token.is_none()).map(|(place, _)| place + 1);
        let firsts = std::iter::once(0).chain(ends).filter(|place| (*place as usize) < self.tokens.len());
        self.state(firsts.collect(), if self.text == Text::PlainPath { Dots::Start } else { Dots::None })
    }

    /// A run may be empty, so what follows it is reached with it.
    fn state(&self, mut places: Vec<u32>, dots: Dots) -> State {
        let mut next = 0;
        while let Some(place) = places.get(next).copied() {
            if matches!(self.token(place), Some(Token::Any | Token::Many)) {
                places.push(place + 1);
            }
            next += 1;
        }
        places.sort_unstable();
        places.dedup();
        State { places, dots }
    }

    fn token(&self, place: u32) -> Option<Token> {
        self.tokens.get(place as usize).copied().flatten()
    }

    /// The states after each character that makes a difference. Once no pattern is left, none does.
    fn steps(&self, state: &State) -> Vec<(char, State)> {
        if state.places.is_empty() && state.dots.may_end() {
            return Vec::new();
        }
        let mut after: BTreeMap<char, Vec<u32>> = BTreeMap::from([(self.fresh, Vec::new())]);
        if self.text != Text::Name {
            after.insert('/', Vec::new());
        }
        let mut others = Vec::new();
        for place in state.places.iter().copied() {
            match self.token(place) {
                Some(Token::Character(character)) => after.entry(character).or_default().push(place + 1),
                Some(token) => others.push((place, token)),
                None => {}
            }
        }
        let step = |(character, mut places): (char, Vec<u32>)| {
            let dots = state.dots.after(character, self.text)?;
            places.extend(others.iter().filter_map(|(place, token)| match token {
                Token::One => (character != '/').then_some(place + 1),
                Token::Any => (character != '/').then_some(*place),
                Token::Many => Some(*place),
                Token::Character(_) => None,
            }));
            Some((character, self.state(places, dots)))
        };
        after.into_iter().filter_map(step).collect()
    }

    fn covered_by(&self, state: &State) -> Vec<u32> {
        let ends = state.places.iter().filter(|place| matches!(self.tokens.get(**place as usize), Some(None)));
        let mut owners: Vec<u32> = ends.filter_map(|place| self.owners.get(*place as usize)).copied().collect();
        owners.dedup();
        owners
    }
}
