//! Reads a pattern from left to right: escapes and classes.

use super::Refused;
use super::units::{Units, unit};

/// The part of a pattern that is not read yet.
#[derive(Clone, Copy, Debug)]
pub(super) struct Reader<'p> {
    /// One character for each code unit.
    pub(super) rest: &'p str,
    /// Whether any group has a name, which gives `\k` a meaning.
    pub(super) named_groups: bool,
}

/// What one item of a class, or one escape, stands for.
#[derive(Clone, Debug)]
pub(super) enum Item {
    /// A code unit; may be the end of a range.
    One(u16),
    /// Several.
    Set(Units),
}

/// Where an escape is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Place {
    /// Between brackets.
    Class,
    /// Anywhere else.
    Outside,
}

impl Reader<'_> {
    /// Takes one character.
    pub(super) fn next(&mut self) -> Option<char> {
        let mut letters = self.rest.chars();
        let letter = letters.next();
        self.rest = letters.as_str();
        letter
    }

    /// Takes this if it comes next.
    pub(super) fn eat(&mut self, expected: &str) -> bool {
        let behind = self.rest.strip_prefix(expected);
        self.rest = behind.unwrap_or(self.rest);
        behind.is_some()
    }

    /// What stands behind an opening bracket, and the closing one.
    pub(super) fn class(&mut self) -> Result<Units, Refused> {
        let except = self.eat("^");
        let mut units = Units::default();
        while !self.eat("]") {
            let item = self.class_item()?;
            let begins_range = self.rest.starts_with('-') && !self.rest.starts_with("-]");
            if !begins_range {
                units.add_all(&item.units());
                continue;
            }
            self.eat("-");
            match (item, self.class_item()?) {
                (Item::One(first), Item::One(last)) if first > last => {
                    return Err(Refused::Invalid("a range of a class ends before it begins"));
                }
                (Item::One(first), Item::One(last)) => units.add(first, last),
                // A range from or to a whole set is none: the dash is meant.
                (first, last) => {
                    for item in [first, Item::One(unit('-')), last] {
                        units.add_all(&item.units());
                    }
                }
            }
        }
        Ok(if except { units.complement() } else { units })
    }

    fn class_item(&mut self) -> Result<Item, Refused> {
        match self.next() {
            None => Err(Refused::Invalid("a class is not closed")),
            Some('\\') if self.eat("b") => Ok(Item::One(unit('\u{8}'))),
            Some('\\') => self.escape(Place::Class),
            Some(letter) => Ok(Item::One(unit(letter))),
        }
    }

    /// What stands behind a backslash, except what is special to its place.
    pub(super) fn escape(&mut self, place: Place) -> Result<Item, Refused> {
        let before = *self;
        let letter = self.next().ok_or(Refused::Invalid("it ends with a backslash"))?;
        Ok(match letter {
            'd' => Item::Set(Units::digits()),
            'D' => Item::Set(Units::digits().complement()),
            'w' => Item::Set(Units::words()),
            'W' => Item::Set(Units::words().complement()),
            's' => Item::Set(Units::spaces()),
            'S' => Item::Set(Units::spaces().complement()),
            'k' if self.named_groups => return Err(Refused::Invalid("`\\k` is not followed by the name of a group")),
            'c' => Item::One(self.control(place).unwrap_or_else(|| {
                // The backslash stands for itself, and the letter is yet to be read.
                *self = before;
                unit('\\')
            })),
            'x' => Item::One(self.hexadecimal(2).unwrap_or(unit('x'))),
            'u' => Item::One(self.hexadecimal(4).unwrap_or(unit('u'))),
            't' => Item::One(unit('\t')),
            'n' => Item::One(unit('\n')),
            'v' => Item::One(unit('\u{B}')),
            'f' => Item::One(unit('\u{C}')),
            'r' => Item::One(unit('\r')),
            '0'..='7' => Item::One(self.octal(letter)),
            other => Item::One(unit(other)),
        })
    }

    /// The character that `\c` makes of what follows, if it does.
    fn control(&mut self, place: Place) -> Option<u16> {
        let letter = self.rest.chars().next().filter(|letter| {
            letter.is_ascii_alphabetic() || place == Place::Class && (letter.is_ascii_digit() || *letter == '_')
        })?;
        self.next();
        Some(unit(letter) % 32)
    }

    /// A number of so many hexadecimal digits, if they are there.
    pub(super) fn hexadecimal(&mut self, digits: usize) -> Option<u16> {
        let (digits, behind) = self.rest.split_at_checked(digits)?;
        // Asked first, because a sign would be read as well.
        let number = digits.bytes().all(|digit| digit.is_ascii_hexdigit()).then_some(digits)?;
        let number = u16::from_str_radix(number, 16).ok()?;
        self.rest = behind;
        Some(number)
    }

    /// Up to three octal digits, the first of which is taken already; never more than a byte.
    fn octal(&mut self, first: char) -> u16 {
        let mut number = unit(first) - unit('0');
        for _ in 0..2 {
            let digit = self.rest.chars().next().filter(|letter| ('0'..='7').contains(letter));
            let longer = digit.map(|digit| number * 8 + unit(digit) - unit('0')).filter(|longer| *longer <= 0xFF);
            let Some(longer) = longer else { break };
            self.next();
            number = longer;
        }
        number
    }
}

impl Item {
    /// What it stands for.
    pub(super) fn units(self) -> Units {
        match self {
            Self::One(unit) => Units::one(unit),
            Self::Set(units) => units,
        }
    }
}
