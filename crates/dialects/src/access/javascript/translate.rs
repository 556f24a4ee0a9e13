//! From a JavaScript pattern to the syntax of the `regex` crate.

use super::Refused;
use super::names;
use super::reader::{Place, Reader};
use super::units::Units;

/// How many groups may be open at once; the compiler of the `regex` crate calls itself for each.
pub(super) const DEPTH_LIMIT: usize = 64;

const NOTHING_TO_REPEAT: Refused = Refused::Invalid("there is nothing to repeat");

/// Translates a pattern with one character for each code unit.
pub(super) fn translate(pattern: &str) -> Result<String, Refused> {
    let (groups, named_groups) = count_groups(pattern);
    let mut translator = Translator {
        reader: Reader { rest: pattern, named_groups },
        groups,
        open: Vec::new(),
        names: Vec::new(),
        referred: Vec::new(),
        unsupported: None,
        regex: String::new(),
    };
    translator.terms()?;
    translator.finish()
}

struct Translator<'p> {
    reader: Reader<'p>,
    /// How many groups capture something; higher numbers are not backreferences.
    groups: usize,
    open: Vec<Group>,
    names: Vec<String>,
    /// Names in backreferences; the groups may come later.
    referred: Vec<String>,
    /// What is not supported, kept until it is known that JavaScript itself takes the pattern.
    unsupported: Option<&'static str>,
    regex: String,
}

/// An open group.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Group {
    /// May be repeated.
    Repeatable,
    /// May not.
    Once,
}

impl Translator<'_> {
    fn terms(&mut self) -> Result<(), Refused> {
        loop {
            let at = self.reader;
            let Some(letter) = self.reader.next() else { return Ok(()) };
            match letter {
                '^' => self.regex.push_str(r"\A"),
                '$' => self.regex.push_str(r"\z"),
                '|' => self.regex.push('|'),
                '(' => self.open_group()?,
                ')' => self.close_group()?,
                '*' | '+' | '?' => return Err(NOTHING_TO_REPEAT),
                '{' if bounds(at.rest).is_some() => return Err(NOTHING_TO_REPEAT),
                '.' => self.atom(&Units::dot())?,
                '[' => {
                    let class = self.reader.class()?;
                    self.atom(&class)?;
                }
                '\\' => self.escape()?,
                letter => self.atom(&Units::of(&[(letter, letter)]))?,
            }
        }
    }

    fn finish(self) -> Result<String, Refused> {
        if !self.open.is_empty() {
            return Err(Refused::Invalid("a group is not closed"));
        }
        if self.referred.iter().any(|name| !self.names.contains(name)) {
            return Err(Refused::Invalid("`\\k` names a group that does not exist"));
        }
        self.unsupported.map_or(Ok(self.regex), |what| Err(Refused::Unsupported(what)))
    }

    fn atom(&mut self, units: &Units) -> Result<(), Refused> {
        units.write(&mut self.regex);
        self.repetition()
    }

    fn escape(&mut self) -> Result<(), Refused> {
        if self.reader.eat("b") {
            self.regex.push_str(r"(?-u:\b)");
            return Ok(());
        }
        if self.reader.eat("B") {
            self.regex.push_str(r"(?-u:\B)");
            return Ok(());
        }
        if self.backreference()? {
            self.unsupported.get_or_insert("a backreference");
            // Something must be there to be repeated, so that the rest is read as JavaScript does.
            self.regex.push_str("(?:)");
            return self.repetition();
        }
        let item = self.reader.escape(Place::Outside)?;
        self.atom(&item.units())
    }

    /// Takes the number or name of a group, if that is what follows the backslash.
    fn backreference(&mut self) -> Result<bool, Refused> {
        if self.reader.named_groups && self.reader.eat("k<") {
            self.referred.push(names::read(&mut self.reader)?);
            return Ok(true);
        }
        let rest = self.reader.rest;
        let behind = rest.trim_start_matches(|letter: char| letter.is_ascii_digit());
        let number = rest.strip_suffix(behind).unwrap_or_default();
        let refers = !number.starts_with('0') && number.parse().is_ok_and(|number: usize| number <= self.groups);
        if refers {
            self.reader.rest = behind;
        }
        Ok(refers)
    }

    fn open_group(&mut self) -> Result<(), Refused> {
        let group = if self.reader.eat("?") { self.special_group()? } else { Group::Repeatable };
        self.open.push(group);
        if self.open.len() > DEPTH_LIMIT {
            self.unsupported.get_or_insert("more than 64 groups inside each other");
        }
        self.regex.push_str("(?:");
        Ok(())
    }

    fn special_group(&mut self) -> Result<Group, Refused> {
        let reader = &mut self.reader;
        if reader.eat(":") {
            Ok(Group::Repeatable)
        } else if reader.eat("=") || reader.eat("!") {
            self.unsupported.get_or_insert("lookahead");
            Ok(Group::Repeatable)
        } else if reader.eat("<=") || reader.eat("<!") {
            self.unsupported.get_or_insert("lookbehind");
            Ok(Group::Once)
        } else if reader.eat("<") {
            let name = names::read(reader)?;
            if self.names.contains(&name) {
                // An error to older editions; newer ones allow it where only one of the groups can take part.
                self.unsupported.get_or_insert("one name for two groups");
            }
            self.names.push(name);
            Ok(Group::Repeatable)
        } else if reader.rest.trim_start_matches(['i', 'm', 's', '-']).starts_with(':') {
            // An error to older editions as well.
            self.unsupported.get_or_insert("flags inside");
            reader.rest = reader.rest.trim_start_matches(|letter| letter != ':');
            reader.eat(":");
            Ok(Group::Repeatable)
        } else {
            Err(Refused::Invalid("`(?` does not begin a valid group"))
        }
    }

    fn close_group(&mut self) -> Result<(), Refused> {
        let group = self.open.pop().ok_or(Refused::Invalid("a group is closed that was not opened"))?;
        self.regex.push(')');
        match group {
            Group::Repeatable => self.repetition(),
            Group::Once => Ok(()),
        }
    }

    /// Takes how often the last item may come, if that follows.
    fn repetition(&mut self) -> Result<(), Refused> {
        if let Some(sign) = ["*", "+", "?"].into_iter().find(|sign| self.reader.eat(sign)) {
            self.regex.push_str(sign);
        } else if let Some((least, most, behind)) = bounds(self.reader.rest) {
            if most.is_some_and(|most| most < least) {
                return Err(Refused::Invalid("a repetition has an upper bound below its lower one"));
            }
            let most = most.map(|most| most.to_string()).unwrap_or_default();
            self.regex.push_str(&format!("{{{least},{most}}}"));
            self.reader.rest = behind;
        } else {
            return Ok(());
        }
        // Laziness changes what is found, not whether.
        self.reader.eat("?");
        Ok(())
    }
}

/// How many groups capture something, and whether any has a name.
fn count_groups(pattern: &str) -> (usize, bool) {
    let (mut groups, mut named, mut in_class) = (0, false, false);
    let mut letters = pattern.chars();
    while let Some(letter) = letters.next() {
        match letter {
            '\\' => drop(letters.next()),
            '[' => in_class = true,
            ']' => in_class = false,
            '(' if !in_class => {
                let rest = letters.as_str();
                let has_name = rest.starts_with("?<") && !rest.starts_with("?<=") && !rest.starts_with("?<!");
                named |= has_name;
                groups += usize::from(has_name || !rest.starts_with('?'));
            }
            _ => {}
        }
    }
    (groups, named)
}

/// The bounds in braces and what follows; none if the brace is a letter.
fn bounds(rest: &str) -> Option<(u32, Option<u32>, &str)> {
    let (inside, behind) = rest.strip_prefix('{')?.split_once('}')?;
    let Some((least, most)) = inside.split_once(',') else {
        let exactly = number(inside)?;
        return Some((exactly, Some(exactly), behind));
    };
    let most = if most.is_empty() { None } else { Some(number(most)?) };
    Some((number(least)?, most, behind))
}

/// A number in digits; a larger one than can be is the largest.
fn number(text: &str) -> Option<u32> {
    let digits = !text.is_empty() && text.bytes().all(|digit| digit.is_ascii_digit());
    digits.then(|| text.parse().unwrap_or(u32::MAX))
}
