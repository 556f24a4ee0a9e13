//! What somebody does to a path before it is looked at, one thing at a time.

/// A change that some reader makes to the whole of a path. Readers differ in which of these they make, and in which order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Every escape is decoded.
    DecodesAll,
    /// Every escape is decoded but those of this one character.
    DecodesAllBut(char),
    /// Escapes of this one character are decoded.
    Decodes(char),
    /// A backslash is a slash.
    TakesBackslashesForSlashes,
    /// What follows a `;` in a segment is left out.
    CutsParameters,
    /// The same, in the last segment only.
    CutsLastParameters,
    /// The path ends at the first of these.
    EndsAt(char),
    /// Dot segments are removed.
    RemovesDots(Dots),
    /// Several slashes are one.
    MergesSlashes,
    /// What follows `//` at the beginning is a host, up to the next slash.
    CutsHost(Slashes),
    /// Tabs and ends of lines are left out, and blanks at the end.
    DropsBlanks,
}

/// Which segments are dot segments, and what is left of the last one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Dots {
    /// `.` and `..`.
    Plain,
    /// Escaped ones, too.
    Escaped,
    /// `.` and `..`; at the end they leave no slash.
    WithoutSlash,
}

/// How many slashes stand before a host.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Slashes {
    /// Two; a third one begins the path.
    Two,
    /// All that there are.
    All,
}

/// What there is in a path that steps change, so that steps with nothing to do cost nothing. A bit for each.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Contents(u32);

impl Contents {
    pub(super) const BACKSLASH: Self = Self(1);
    pub(super) const QUESTION: Self = Self(1 << 1);
    pub(super) const HASH: Self = Self(1 << 2);
    pub(super) const BLANK: Self = Self(1 << 3);
    pub(super) const PERCENT: Self = Self(1 << 4);
    pub(super) const SEMICOLON: Self = Self(1 << 5);
    /// Several semicolons, or one that is not in the last segment.
    pub(super) const MORE_PARAMETERS: Self = Self(1 << 6);
    /// A first byte of a character that others may be written as, too long.
    pub(super) const LEAD: Self = Self(1 << 7);
    /// Two slashes after each other.
    pub(super) const SLASHES: Self = Self(1 << 8);
    /// A segment of dots.
    pub(super) const DOTS: Self = Self(1 << 9);
    /// A segment of dots, some of which are escaped.
    pub(super) const ESCAPED_DOTS: Self = Self(1 << 10);
    /// The last segment is dots alone.
    pub(super) const LAST_DOTS: Self = Self(1 << 11);
    /// Two slashes at the beginning.
    pub(super) const HOST: Self = Self(1 << 12);
    /// Three slashes at the beginning.
    pub(super) const FAR_HOST: Self = Self(1 << 13);
    /// A segment of nothing.
    pub(super) const EMPTY: Self = Self(1 << 14);
    /// Segments that no step changes.
    pub(super) const PLAIN: Self = Self(1 << 15);
    /// Two dots, plain or escaped: the folder above.
    pub(super) const PARENT: Self = Self(1 << 24);
    /// The first bit for escapes.
    const ESCAPES: u32 = 16;
    pub(super) const ALL_ESCAPES: Self = Self(0xff << Self::ESCAPES);

    /// An escape: each of the characters that some step decodes alone has a bit, all others share one.
    pub(super) const fn escape(byte: u8) -> Self {
        let place = match byte {
            b'%' => 0,
            b'/' => 1,
            b'\\' => 2,
            b';' => 3,
            b'.' => 4,
            _ => 7,
        };
        Self(1 << Self::ESCAPES << place)
    }

    /// What the bytes of a segment are. In numbers, because they compile to a few wide instructions without a branch.
    pub(super) fn of_bytes(bytes: &[u8]) -> Self {
        let found = bytes.iter().fold(0_u8, |found, byte| {
            let is = |one: u8| u8::from(*byte == one);
            let named = is(b'\\')
                | is(b'?') << 1
                | is(b'#') << 2
                | u8::from(*byte <= b' ') << 3
                | is(b'%') << 4
                | is(b';') << 5;
            found | named | (is(0xe0) | is(0xf0)) << 7
        });
        Self(found.into())
    }

    /// What a character is.
    pub(super) const fn of(character: u8) -> Self {
        match character {
            b';' => Self::SEMICOLON,
            b'?' => Self::QUESTION,
            b'#' => Self::HASH,
            _ => Self(0),
        }
    }

    pub(super) fn with(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    pub(super) const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Whether there is nothing but these.
    pub(super) fn has_only(self, other: Self) -> bool {
        self.0 & !other.0 == 0
    }

    pub(super) const fn without(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    pub(super) fn escapes(self) -> Self {
        Self(self.0 & Self::ALL_ESCAPES.0)
    }
}

impl Step {
    /// All steps. Those that explain most readings come first.
    pub(super) const ALL: [Self; 20] = [
        Self::RemovesDots(Dots::Plain),
        Self::RemovesDots(Dots::Escaped),
        Self::DecodesAll,
        Self::MergesSlashes,
        Self::TakesBackslashesForSlashes,
        Self::CutsParameters,
        Self::CutsLastParameters,
        Self::EndsAt(';'),
        Self::EndsAt('?'),
        Self::EndsAt('#'),
        Self::RemovesDots(Dots::WithoutSlash),
        Self::CutsHost(Slashes::Two),
        Self::CutsHost(Slashes::All),
        // What is decoded once, and looked at before it is decoded again.
        Self::DecodesAllBut('%'),
        Self::DecodesAllBut('/'),
        Self::Decodes('/'),
        Self::Decodes('\\'),
        Self::Decodes(';'),
        Self::Decodes('.'),
        Self::DropsBlanks,
    ];

    /// What there must be in a path so that this step does something that no step before it does, too: one of each.
    const fn needs(self) -> [Contents; 2] {
        let one = match self {
            Self::DecodesAll => Contents::ALL_ESCAPES,
            Self::DecodesAllBut(one) | Self::Decodes(one) => {
                let one = Contents::escape(ascii(one));
                return [one, Contents::ALL_ESCAPES.without(one)];
            }
            Self::TakesBackslashesForSlashes => Contents::BACKSLASH,
            Self::CutsParameters => Contents::SEMICOLON,
            Self::CutsLastParameters | Self::EndsAt(';') => Contents::MORE_PARAMETERS,
            Self::EndsAt(end) => Contents::of(ascii(end)),
            Self::RemovesDots(Dots::Plain) => Contents::DOTS,
            Self::RemovesDots(Dots::Escaped) => Contents::ESCAPED_DOTS,
            Self::RemovesDots(Dots::WithoutSlash) => Contents::LAST_DOTS,
            Self::MergesSlashes => Contents::SLASHES,
            Self::CutsHost(Slashes::Two) => Contents::HOST,
            Self::CutsHost(Slashes::All) => Contents::FAR_HOST,
            Self::DropsBlanks => Contents::BLANK,
        };
        [one, one]
    }

    /// Whether all that this step makes of what another has made is known, once all steps were done to what the other was given: it does
    /// what the other did as well, or comes to the same before it.
    pub(super) fn is_known_after(self, other: Self) -> bool {
        matches!(
            (other, self),
            (Self::Decodes(_), Self::DecodesAll | Self::DecodesAllBut(_) | Self::EndsAt('?' | '#'))
                | (Self::Decodes('/' | ';' | '.'), Self::TakesBackslashesForSlashes)
                | (Self::Decodes('\\' | ';' | '.'), Self::MergesSlashes | Self::CutsHost(_) | Self::Decodes('/'))
                | (Self::Decodes(';' | '.'), Self::Decodes('\\'))
                | (Self::Decodes('.'), Self::Decodes(';'))
                | (Self::Decodes('\\' | '.'), Self::CutsParameters | Self::CutsLastParameters)
                | (Self::Decodes('/' | '\\' | '.'), Self::EndsAt(';'))
                | (Self::Decodes('\\' | ';'), Self::RemovesDots(_))
                | (Self::EndsAt(_), Self::TakesBackslashesForSlashes | Self::MergesSlashes)
                | (Self::EndsAt('#'), Self::EndsAt('?'))
                | (Self::CutsLastParameters, Self::CutsParameters | Self::EndsAt(';') | Self::MergesSlashes)
        )
    }

    /// The steps that may do something to a path of such contents.
    pub(super) fn worth_it(contents: Contents) -> impl Iterator<Item = Self> {
        #[expect(clippy::indexing_slicing, reason = "a place that is not there is an error of the compiler")]
        static NEEDS: [(Step, [Contents; 2]); 20] = {
            let mut all = [(Step::DecodesAll, Step::DecodesAll.needs()); 20];
            let mut place = 0;
            while place < all.len() {
                all[place] = (Step::ALL[place], Step::ALL[place].needs());
                place += 1;
            }
            all
        };
        /// By what there is: a bit for each step that needs it first.
        #[expect(clippy::indexing_slicing, reason = "a place that is not there is an error of the compiler")]
        static STEPS: [u32; 32] = {
            let mut all = [0; 32];
            let mut place = 0;
            while place < 20 {
                let mut bits = Step::ALL[place].needs()[0].0;
                while bits != 0 {
                    all[bits.trailing_zeros() as usize] |= 1 << place;
                    bits &= bits - 1;
                }
                place += 1;
            }
            all
        };
        let steps = |bit: u32| STEPS.get(bit as usize).copied().unwrap_or_default();
        let all = ones(contents.0).fold(0, |all, bit| all | steps(bit));
        let step = move |place: u32| {
            let (step, [_, also]) = NEEDS.get(place as usize)?;
            contents.has(*also).then_some(*step)
        };
        ones(all).filter_map(step)
    }
}

/// The places of the ones, from the lowest on.
fn ones(bits: u32) -> impl Iterator<Item = u32> {
    let next = |bits: &u32| Some(bits & bits.wrapping_sub(1)).filter(|bits| *bits != 0);
    std::iter::successors(Some(bits).filter(|bits| *bits != 0), next).map(u32::trailing_zeros)
}

/// The byte of a character that steps name.
pub(super) const fn ascii(character: char) -> u8 {
    if character.is_ascii() { character as u8 } else { 0 }
}

/// The byte that an escape at the beginning stands for.
pub(super) fn escaped(text: &[u8]) -> Option<u8> {
    let digit = |byte: &u8| char::from(*byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    match text {
        [b'%', high, low, ..] => Some(digit(high)? * 16 + digit(low)?),
        _ => None,
    }
}

impl Dots {
    /// How many dots a dot segment has.
    pub(super) fn count(self, segment: &str) -> Option<usize> {
        match (self, segment.as_bytes()) {
            (Self::Escaped, [b'%' | b'.', ..]) | (_, [b'.', ..]) => {}
            _ => return None,
        }
        let (mut rest, mut count) = (segment, 0);
        while !rest.is_empty() && count < 3 {
            let escape = rest.get(..3).filter(|escape| self == Self::Escaped && escape.eq_ignore_ascii_case("%2e"));
            rest = rest.get(escape.map_or(1, str::len)..).filter(|_| escape.is_some() || rest.starts_with('.'))?;
            count += 1;
        }
        matches!(count, 1 | 2).then_some(count)
    }
}
