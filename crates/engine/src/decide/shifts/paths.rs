//! Paths by the patterns that cover them: all patterns are a tree of tokens, walked by one character after the other with all places
//! that are still possible. Two paths that the same patterns cover are one class.
//!
//! Where only some patterns matter, a walk ends as soon as none of those can cover what follows.

use std::collections::BTreeMap;
use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::{FxHashMap, FxHasher};

use crate::decide::glob::Token;
use crate::decide::path::PathReading;
use crate::order::number;

/// Paths that the same patterns cover.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in crate::decide) struct PathClass {
    /// The patterns by their numbers, in order.
    pub(in crate::decide) covered_by: Vec<u32>,
    /// One of the paths, a short one, as policies read it.
    pub(in crate::decide) example: String,
}

/// Which classes are looked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decide) enum Wanted<'w> {
    /// All of them.
    All,
    /// Those that are covered by one of these patterns.
    CoveredBy(&'w [u32]),
}

/// How far to go.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decide) struct PathBounds {
    /// States in which the patterns can be.
    pub(in crate::decide) states: usize,
    /// Places in all states together.
    pub(in crate::decide) places: usize,
}

/// There are more states than a bound allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::decide) struct TooManyStates;

/// The classes of paths that have one reading.
pub(in crate::decide) fn path_classes(
    patterns: &[Vec<Token>],
    wanted: Wanted<'_>,
    reading: PathReading,
    bounds: PathBounds,
) -> Result<Vec<PathClass>, TooManyStates> {
    let tree = Tree::new(patterns, wanted);
    let mut walk = Walk::new(&tree, reading, bounds);
    walk.reach(&[0], Written::Start, None)?;
    let mut next = 0;
    while walk.states.len() > next {
        walk.step(next)?;
        next += 1;
    }
    Ok(walk.classes)
}

/// All patterns; those that begin alike share their beginning. The first place is before all of them.
struct Tree {
    places: Vec<Place>,
}

/// Where a pattern can be.
#[derive(Default)]
struct Place {
    characters: BTreeMap<char, u32>,
    /// After `?`.
    one: Option<u32>,
    /// In `*` and in `**`, which may be empty.
    runs: [Option<u32>; 2],
    takes: Takes,
    /// The patterns that end here.
    ends: Vec<u32>,
    /// Whether a pattern that is wanted ends here or further on.
    is_wanted: bool,
}

/// Which characters leave a place as it is.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
enum Takes {
    #[default]
    None,
    AllButSlashes,
    All,
}

impl Tree {
    fn new(patterns: &[Vec<Token>], wanted: Wanted<'_>) -> Self {
        let mut tree = Self { places: vec![Place::default()] };
        for (own, tokens) in (0..).zip(patterns) {
            let is_wanted = match wanted {
                Wanted::All => true,
                Wanted::CoveredBy(some) => some.contains(&own),
            };
            let mut at = 0;
            tree.mark(at, is_wanted);
            for token in tokens {
                at = tree.lead(at, *token);
                tree.mark(at, is_wanted);
            }
            if let Some(place) = tree.places.get_mut(at as usize) {
                place.ends.push(own);
            }
        }
        if let (Wanted::All, Some(first)) = (wanted, tree.places.first_mut()) {
            first.is_wanted = true;
        }
        tree
    }

    fn mark(&mut self, place: u32, is_wanted: bool) {
        if let Some(place) = self.places.get_mut(place as usize) {
            place.is_wanted |= is_wanted;
        }
    }

    fn lead(&mut self, from: u32, token: Token) -> u32 {
        let own = number(self.places.len());
        let Some(place) = self.places.get_mut(from as usize) else { return from };
        let (known, takes) = match token {
            Token::Character(character) => (*place.characters.entry(character).or_insert(own), Takes::None),
            Token::One => (*place.one.get_or_insert(own), Takes::None),
            Token::Any => (*place.runs[0].get_or_insert(own), Takes::AllButSlashes),
            Token::Many => (*place.runs[1].get_or_insert(own), Takes::All),
        };
        if known == own {
            self.places.push(Place { takes, ..Place::default() });
        }
        known
    }

    fn get(&self, place: u32) -> Option<&Place> {
        self.places.get(place as usize)
    }
}

/// What was written of a path so far, where that matters for how it is read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Written {
    /// Nothing.
    Start,
    /// A slash.
    Slash,
    /// A segment that is `.`.
    Dot,
    /// A segment that is `..`.
    Dots,
    /// Any other.
    Name,
    /// Any other that ends in a blank.
    Blank,
}

impl Written {
    fn may_end(self) -> bool {
        matches!(self, Self::Slash | Self::Name)
    }

    /// Nothing if some read what comes then in one way, and some in another.
    fn after(self, character: char, reading: PathReading) -> Option<Self> {
        match (reading, self, character) {
            (_, Self::Start, '/') => Some(Self::Slash),
            (_, Self::Start, _) | (_, _, '\0') => None,
            (PathReading::Rfc3986 | PathReading::Decoded, ..) => Some(Self::Name),
            (_, _, '\t' | '\n' | '\r' | '\\' | ';' | '?' | '#') | (_, Self::Slash | Self::Dot | Self::Dots, '/') => {
                None
            }
            (_, _, '/') => Some(Self::Slash),
            (_, Self::Slash, '.') => Some(Self::Dot),
            (_, Self::Dot, '.') => Some(Self::Dots),
            (_, _, '\0'..=' ') => Some(Self::Blank),
            _ => Some(Self::Name),
        }
    }
}

/// What was found so far.
struct Walk<'t> {
    tree: &'t Tree,
    reading: PathReading,
    bounds: PathBounds,
    states: Vec<State>,
    /// The places of all states, one after the other.
    places: Vec<u32>,
    known: HashTable<u32>,
    classes: Vec<PathClass>,
    numbers: FxHashMap<Vec<u32>, usize>,
}

/// The places at which the patterns are, and from where that was reached.
#[derive(Clone, Copy)]
struct State {
    start: u32,
    end: u32,
    written: Written,
    from: Option<(u32, char)>,
}

impl<'t> Walk<'t> {
    fn new(tree: &'t Tree, reading: PathReading, bounds: PathBounds) -> Self {
        let (states, places, classes, numbers) = Default::default();
        Self { tree, reading, bounds, states, places, known: HashTable::new(), classes, numbers }
    }

    /// Takes in a state, if it is new and leads to something that is wanted.
    fn reach(&mut self, from: &[u32], written: Written, by: Option<(u32, char)>) -> Result<(), TooManyStates> {
        let start = self.places.len();
        self.places.extend_from_slice(from);
        // A run may be empty, so what is in it is reached with what is before it.
        let mut next = start;
        while let Some(place) = self.places.get(next).copied() {
            let runs = self.tree.get(place).map_or([None; 2], |place| place.runs);
            self.places.extend(runs.into_iter().flatten());
            next += 1;
        }
        let own = self.places.get_mut(start..).unwrap_or_default();
        own.sort_unstable();
        let mut kept = start;
        for at in start..self.places.len() {
            let place = self.places.get(at).copied();
            if at == start || place != self.places.get(kept - 1).copied() {
                if let (Some(place), Some(slot)) = (place, self.places.get_mut(kept)) {
                    *slot = place;
                }
                kept += 1;
            }
        }
        self.places.truncate(kept);
        let (tree, own) = (self.tree, self.places.get(start..).unwrap_or_default());
        let is_wanted = own.iter().any(|place| tree.get(*place).is_some_and(|place| place.is_wanted));
        let (states, places) = (&self.states, &self.places);
        let is_same = |number: &u32| {
            states.get(*number as usize).is_some_and(|state| {
                state.written == written && places.get(state.start as usize..state.end as usize) == Some(own)
            })
        };
        let hash = hash(own, written);
        // Nothing is left to be covered by anything: one such state is enough, and it is not gone on from.
        let leads_on = is_wanted || (own.is_empty() && self.is_all());
        if !leads_on || self.known.find(hash, is_same).is_some() {
            self.places.truncate(start);
            return Ok(());
        }
        if self.states.len() >= self.bounds.states || self.places.len() >= self.bounds.places {
            return Err(TooManyStates);
        }
        let end = number(self.places.len());
        let state = State { start: number(start), end, written, from: by };
        let number = number(self.states.len());
        self.states.push(state);
        let (states, places) = (&self.states, &self.places);
        self.known.insert_unique(hash, number, |number| {
            states.get(*number as usize).map_or(0, |state| {
                self::hash(places.get(state.start as usize..state.end as usize).unwrap_or_default(), state.written)
            })
        });
        if written.may_end() {
            self.class(state);
        }
        Ok(())
    }

    fn is_all(&self) -> bool {
        self.tree.get(0).is_some_and(|first| first.is_wanted)
    }

    /// The class of the path that ends here.
    fn class(&mut self, state: State) {
        let own = self.places.get(state.start as usize..state.end as usize).unwrap_or_default();
        let mut covered_by: Vec<u32> =
            own.iter().filter_map(|place| self.tree.get(*place)).flat_map(|place| &place.ends).copied().collect();
        covered_by.sort_unstable();
        match self.numbers.get(&covered_by).and_then(|known| self.classes.get(*known).map(|class| (*known, class))) {
            // A path to a thing says more than one to a folder.
            Some((known, class)) if class.example.ends_with('/') && state.written == Written::Name => {
                let example = self.example(state);
                if let Some(class) = self.classes.get_mut(known) {
                    class.example = example;
                }
            }
            Some(_) => {}
            None => {
                let example = self.example(state);
                self.numbers.insert(covered_by.clone(), self.classes.len());
                self.classes.push(PathClass { covered_by, example });
            }
        }
    }

    fn example(&self, state: State) -> String {
        let mut characters = Vec::new();
        let mut from = state.from;
        while let Some((before, character)) = from {
            characters.push(character);
            from = self.states.get(before as usize).and_then(|state| state.from);
        }
        characters.into_iter().rev().collect()
    }

    /// All states after one, by every character that makes a difference.
    fn step(&mut self, from: usize) -> Result<(), TooManyStates> {
        let Some(state) = self.states.get(from).copied() else { return Ok(()) };
        let own: Vec<u32> = self.places.get(state.start as usize..state.end as usize).unwrap_or_default().to_vec();
        if own.is_empty() && state.written.may_end() {
            return Ok(());
        }
        let mut named: Vec<(char, u32)> = Vec::new();
        let (mut any, mut slash): (Vec<u32>, Vec<u32>) = Default::default();
        for number in own {
            let Some(place) = self.tree.get(number) else { continue };
            named.extend(place.characters.iter().map(|(character, to)| (*character, *to)));
            any.extend(place.one);
            if place.takes != Takes::None {
                any.push(number);
            }
            if place.takes == Takes::All {
                slash.push(number);
            }
        }
        named.sort_unstable();
        let is_named = |wanted: char| named.iter().any(|(character, _)| *character == wanted);
        let mut candidates = "7x".chars().chain('a'..='z').chain('0'..='9').chain('\u{e000}'..='\u{f8ff}');
        let fresh = candidates.find(|candidate| !is_named(*candidate)).unwrap_or('\u{ffff}');
        let mut alphabet: Vec<char> = named.iter().map(|(character, _)| *character).chain(['/', fresh]).collect();
        alphabet.sort_unstable();
        alphabet.dedup();
        // What nobody names comes first: of paths that are as short as others, those are the plainest.
        alphabet.sort_by_key(|character| *character != fresh);
        for character in alphabet {
            let Some(written) = state.written.after(character, self.reading) else { continue };
            let mut to = if character == '/' { slash.clone() } else { any.clone() };
            let first = named.partition_point(|(known, _)| *known < character);
            let same = named.iter().skip(first).take_while(|(known, _)| *known == character);
            to.extend(same.map(|(_, to)| *to));
            self.reach(&to, written, Some((number(from), character)))?;
        }
        Ok(())
    }
}

fn hash(places: &[u32], written: Written) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write_u8(written as u8);
    for place in places {
        hasher.write_u32(*place);
    }
    // Tables look at the upper bits, too.
    hasher.finish().wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26)
}

/// A path as somebody writes it who means this one.
pub(in crate::decide) fn spelled(path: &str) -> String {
    path.replace('%', "%25").replace('?', "%3F").replace('#', "%23")
}
