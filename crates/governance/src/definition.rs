//! Tag definitions: which tags objects may carry, and which values.

use regex::Regex;
use smol_str::SmolStr;
use upheld_engine::comply::Subject;
use upheld_model::NodeRef;

use crate::value::{canonical_integer, canonical_number};

/// The type of a tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TagType {
    /// One of the options.
    SingleSelect,
    /// Some of the options.
    MultiSelect,
    /// Any text.
    Text,
    /// An address for mail.
    Email,
    /// A number.
    Number,
    /// A whole number.
    Integer,
    /// `true` or `false`.
    Boolean,
    /// A day.
    Date,
}

impl TagType {
    /// All of them.
    pub const ALL: [Self; 8] = [
        Self::SingleSelect,
        Self::MultiSelect,
        Self::Text,
        Self::Email,
        Self::Number,
        Self::Integer,
        Self::Boolean,
        Self::Date,
    ];

    /// The word that users write.
    pub fn word(self) -> &'static str {
        match self {
            Self::SingleSelect => "singleSelect",
            Self::MultiSelect => "multiSelect",
            Self::Text => "string",
            Self::Email => "email",
            Self::Number => "number",
            Self::Integer => "integer",
            Self::Boolean => "boolean",
            Self::Date => "date",
        }
    }

    /// By its word.
    pub fn of(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|tag| tag.word() == word)
    }

    fn selects(self) -> bool {
        matches!(self, Self::SingleSelect | Self::MultiSelect)
    }
}

/// Who may set a tag.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Restricted {
    /// Administrators only.
    Yes,
    /// Everybody who may change the object.
    #[default]
    No,
}

/// Whether a tag must have a value.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Mandatory {
    /// It must.
    Yes,
    /// It may be left out.
    #[default]
    No,
}

/// Whether a tag can change after it was set.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Immutable {
    /// It cannot.
    Yes,
    /// It can.
    #[default]
    No,
}

/// Whether values of a tag protect what carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Protects {
    /// They do, and the options go from the most open to the most protected.
    Yes,
    /// Nobody says so.
    #[default]
    No,
}

/// What the whole of a value must look like.
#[derive(Clone, Debug)]
pub struct Pattern {
    source: SmolStr,
    whole: Regex,
}

impl Pattern {
    /// By a regular expression.
    pub fn new(source: &str) -> Result<Self, regex::Error> {
        // Alone it has to be right as well, or it could break out of the brackets.
        Regex::new(source)?;
        let whole = Regex::new(&format!(r"\A(?:{source})\z"))?;
        Ok(Self { source: SmolStr::new(source), whole })
    }

    /// As it was written.
    pub(crate) fn source(&self) -> &str {
        &self.source
    }

    fn fits(&self, value: &str) -> bool {
        self.whole.is_match(value)
    }
}

impl PartialEq for Pattern {
    fn eq(&self, other: &Self) -> bool {
        self.source == other.source
    }
}

impl Eq for Pattern {}

/// A tag of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// Whose tag.
    pub subject: Subject,
    /// Its key.
    pub key: SmolStr,
    /// Its type.
    pub tag: TagType,
    /// What can be chosen.
    pub options: Vec<SmolStr>,
    /// What could be chosen once and stays where it is.
    pub withdrawn: Vec<SmolStr>,
    /// What values must look like.
    pub regex: Option<Pattern>,
    /// What is filled in.
    pub default: Vec<SmolStr>,
    /// Whether it must have a value.
    pub mandatory: Mandatory,
    /// Who may set it.
    pub restricted: Restricted,
    /// Whether it can change.
    pub immutable: Immutable,
    /// Whether its values protect what carries it.
    pub protects: Protects,
    /// Where it was written.
    pub at: Option<NodeRef>,
}

impl Definition {
    /// A tag that takes any value of its type, or none.
    pub fn new(subject: Subject, key: SmolStr, tag: TagType) -> Self {
        Self {
            subject,
            key,
            tag,
            options: Vec::new(),
            withdrawn: Vec::new(),
            regex: None,
            default: Vec::new(),
            mandatory: Mandatory::No,
            restricted: Restricted::No,
            immutable: Immutable::No,
            protects: Protects::No,
            at: None,
        }
    }
}

/// What changes of a definition; what is left out stays.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Redefinition {
    /// Whose tag.
    pub subject: Subject,
    /// Its key.
    pub key: SmolStr,
    /// The type, which cannot change.
    pub tag: Option<TagType>,
    /// What can be chosen.
    pub options: Option<Vec<SmolStr>>,
    /// What values must look like.
    pub regex: Option<Pattern>,
    /// What is filled in.
    pub default: Option<Vec<SmolStr>>,
    /// Whether it must have a value.
    pub mandatory: Option<Mandatory>,
    /// Who may set it.
    pub restricted: Option<Restricted>,
    /// Whether it can change.
    pub immutable: Option<Immutable>,
}

impl Redefinition {
    /// From whatever it was to this.
    pub(crate) fn to(definition: &Definition) -> Self {
        let Definition { subject, key, tag, options, regex, default, mandatory, restricted, immutable, .. } =
            definition.clone();
        Self {
            subject,
            key,
            tag: Some(tag),
            options: Some(options),
            regex,
            default: Some(default),
            mandatory: Some(mandatory),
            restricted: Some(restricted),
            immutable: Some(immutable),
        }
    }
}

/// What is wrong with a definition.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadDefinition {
    /// The key has other characters than letters, digits, `-` and `_`.
    Key,
    /// A key that differs only by case exists.
    Alike(SmolStr),
    /// The subject has this key already.
    Twice,
    /// A type that selects has nothing to choose from.
    NoOptions,
    /// A pattern on a type that takes none.
    Regex,
    /// The default would be refused.
    Default(BadValue),
    /// The type cannot change.
    Type,
}

/// What is wrong with the values of a tag.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BadValue {
    /// There are several, and the type takes one.
    Several,
    /// Longer than 255 characters.
    TooLong(SmolStr),
    /// None of the options.
    NoOption(SmolStr),
    /// Not what the type wants.
    Type(SmolStr),
    /// Not what the pattern wants.
    Regex(SmolStr),
}

/// The longest value, in characters.
const LONGEST: usize = 255;

impl Definition {
    /// Whether it makes sense, apart from other definitions.
    pub fn check(&self) -> Result<(), BadDefinition> {
        let fits = |letter: char| letter.is_ascii_alphanumeric() || letter == '-' || letter == '_';
        if self.key.is_empty() || !self.key.chars().all(fits) {
            return Err(BadDefinition::Key);
        }
        if self.tag.selects() && self.options.is_empty() {
            return Err(BadDefinition::NoOptions);
        }
        if self.regex.is_some() && !matches!(self.tag, TagType::Text | TagType::Email) {
            return Err(BadDefinition::Regex);
        }
        self.check_values(&self.filled_in()).map_err(BadDefinition::Default)
    }

    /// The text that a value is kept as: numbers in their shortest form.
    pub fn canonical(&self, value: &str) -> SmolStr {
        match self.tag {
            TagType::Number | TagType::Integer => {
                canonical_number(value).map_or_else(|| SmolStr::new(value), SmolStr::from)
            }
            _ => SmolStr::new(value),
        }
    }

    /// The default as it is kept.
    pub fn filled_in(&self) -> Vec<SmolStr> {
        let mut kept = Vec::with_capacity(self.default.len());
        for value in self.default.iter().map(|value| self.canonical(value)) {
            if !kept.contains(&value) {
                kept.push(value);
            }
        }
        kept
    }

    /// Whether it takes these values, which are canonical.
    pub fn check_values(&self, values: &[SmolStr]) -> Result<(), BadValue> {
        self.check_count(values)?;
        values.iter().try_for_each(|value| self.check_value(value))
    }

    /// Whether it takes so many values.
    pub(crate) fn check_count(&self, values: &[SmolStr]) -> Result<(), BadValue> {
        if values.len() > 1 && self.tag != TagType::MultiSelect { Err(BadValue::Several) } else { Ok(()) }
    }

    fn check_value(&self, value: &SmolStr) -> Result<(), BadValue> {
        if value.chars().count() > LONGEST {
            return Err(BadValue::TooLong(value.clone()));
        }
        let fits = match self.tag {
            TagType::SingleSelect | TagType::MultiSelect => {
                return if self.options.contains(value) { Ok(()) } else { Err(BadValue::NoOption(value.clone())) };
            }
            TagType::Text => true,
            TagType::Email => is_email(value),
            TagType::Number => canonical_number(value).is_some(),
            TagType::Integer => canonical_integer(value).is_some(),
            TagType::Boolean => matches!(value.as_str(), "true" | "false"),
            TagType::Date => is_date(value),
        };
        if !fits {
            return Err(BadValue::Type(value.clone()));
        }
        match &self.regex {
            Some(pattern) if !pattern.fits(value) => Err(BadValue::Regex(value.clone())),
            _ => Ok(()),
        }
    }
}

/// A day as `2026-01-31`, without a time.
fn is_date(value: &str) -> bool {
    value.len() == "2026-01-31".len() && value.parse::<jiff::civil::Date>().is_ok()
}

/// A name, an at sign, and a domain with a dot.
fn is_email(value: &str) -> bool {
    let blank = |letter: char| letter.is_whitespace() || letter.is_control();
    match value.rsplit_once('@') {
        Some((name, domain)) => {
            let labels: Vec<&str> = domain.split('.').collect();
            !name.is_empty()
                && !name.contains('@')
                && labels.len() > 1
                && labels.iter().all(|label| !label.is_empty())
                && !value.chars().any(blank)
        }
        None => false,
    }
}
