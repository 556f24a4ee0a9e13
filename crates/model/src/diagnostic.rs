//! What is wrong with an input: one value, rendered elsewhere.

use std::fmt::Display;

use crate::nearest::did_you_mean;
use crate::source::SourceId;
use crate::tree::{Span, Value};

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Probably not meant.
    Warning,
    /// The document cannot be used.
    Error,
}

impl Severity {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

/// A marked place with a few words beside it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Label {
    /// The file.
    pub source: SourceId,
    /// The bytes to underline.
    pub span: Span,
    /// What to say there; may be empty.
    pub text: String,
}

/// One problem: a stable code, a headline that stands alone, places, and what to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Diagnostic {
    /// Stable code.
    pub fault: Fault,
    /// How bad it is.
    pub severity: Severity,
    /// Lower-case, no full stop, what users wrote in backticks.
    pub message: String,
    /// Where, if it is about a place in a text.
    pub label: Option<Label>,
    /// Other places that matter.
    pub related: Vec<Label>,
    /// What to do next.
    pub help: Vec<String>,
}

impl Diagnostic {
    /// An error with this headline.
    pub fn error(fault: Fault, message: impl Into<String>) -> Self {
        Self::new(fault, Severity::Error, message)
    }

    /// A warning with this headline.
    pub fn warning(fault: Fault, message: impl Into<String>) -> Self {
        Self::new(fault, Severity::Warning, message)
    }

    /// Something that is worth knowing.
    pub fn note(fault: Fault, message: impl Into<String>) -> Self {
        Self::new(fault, Severity::Note, message)
    }

    fn new(fault: Fault, severity: Severity, message: impl Into<String>) -> Self {
        Self { fault, severity, message: message.into(), label: None, related: Vec::new(), help: Vec::new() }
    }

    /// Says where.
    #[must_use]
    pub fn at(self, source: SourceId, span: Span, text: impl Into<String>) -> Self {
        Self { label: Some(Label { source, span, text: text.into() }), ..self }
    }

    /// Says where, by a value.
    #[must_use]
    pub fn at_value(self, source: SourceId, value: Value<'_>, text: impl Into<String>) -> Self {
        self.at(source, value.span(), text)
    }

    /// Adds another place.
    #[must_use]
    pub fn related(mut self, source: SourceId, span: Span, text: impl Into<String>) -> Self {
        self.related.push(Label { source, span, text: text.into() });
        self
    }

    /// Asks whether a name was meant, if there is one that comes near: see [`nearest`](crate::nearest::nearest).
    #[must_use]
    pub fn suggest(self, meant: Option<impl Display>) -> Self {
        match meant {
            Some(meant) => self.help(did_you_mean(meant)),
            None => self,
        }
    }

    /// Asks whether a name was meant, or else says what to do next.
    #[must_use]
    pub fn suggest_or(self, meant: Option<impl Display>, otherwise: impl FnOnce() -> String) -> Self {
        self.help(meant.map_or_else(otherwise, did_you_mean))
    }

    /// Adds what to do next.
    #[must_use]
    pub fn help(mut self, text: impl Into<String>) -> Self {
        self.help.push(text.into());
        self
    }
}

/// Problems in the order in which they were found.
#[derive(Clone, Debug, Default)]
pub struct Diagnostics {
    found: Vec<Diagnostic>,
}

impl Diagnostics {
    /// Adds one.
    pub fn push(&mut self, diagnostic: Diagnostic) {
        self.found.push(diagnostic);
    }

    /// Adds many.
    pub fn extend(&mut self, more: impl IntoIterator<Item = Diagnostic>) {
        self.found.extend(more);
    }

    /// All of them.
    pub fn as_slice(&self) -> &[Diagnostic] {
        &self.found
    }

    /// Those that were added since there were so many, to say more about them.
    pub fn since(&mut self, count: usize) -> &mut [Diagnostic] {
        self.found.get_mut(count..).unwrap_or_default()
    }

    /// How many errors there are.
    pub fn errors(&self) -> usize {
        self.found.iter().filter(|diagnostic| diagnostic.severity == Severity::Error).count()
    }

    /// Sorts by file and place, so that readers walk through their files once.
    pub fn sort(&mut self) {
        self.found.sort_by(|a, b| {
            let place = |d: &Diagnostic| d.label.as_ref().map(|label| (label.source, label.span));
            place(a).cmp(&place(b)).then_with(|| a.fault.cmp(&b.fault)).then_with(|| a.message.cmp(&b.message))
        });
    }
}

impl IntoIterator for Diagnostics {
    type Item = Diagnostic;
    type IntoIter = std::vec::IntoIter<Diagnostic>;

    fn into_iter(self) -> Self::IntoIter {
        self.found.into_iter()
    }
}

/// Writes the faults down once: the list and the codes cannot differ.
macro_rules! faults {
    ($($(#[doc = $doc:literal])* $name:ident = $code:literal,)*) => {
        /// Everything that can be wrong with an input. The codes are stable: none is ever used for something else.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Fault {
            $($(#[doc = $doc])* $name,)*
        }

        impl Fault {
            /// All of them in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The code that users search for and suppress by.
            pub fn code(self) -> &'static str {
                match self {
                    $(Self::$name => $code,)*
                }
            }
        }
    };
}

faults! {
    /// The text is not YAML, JSON or CSV.
    Syntax = "UP001",
    /// A key stands twice in one map.
    DuplicateKey = "UP002",
    /// The file is not UTF-8.
    NotUtf8 = "UP003",
    /// A limit was passed: size, depth, alias expansion.
    Limit = "UP004",
    /// A file or folder cannot be read.
    Unreadable = "UP005",
    /// A bare `yes`, `no`, `on` or `off`.
    AmbiguousBoolean = "UP006",
    /// A YAML tag that means nothing here.
    UnknownTag = "UP007",
    /// A table, or a page of a list, that lies there and was not read.
    NotRead = "UP008",
    /// A field that the document type does not have.
    UnknownField = "UP010",
    /// A field that must be there is not.
    MissingField = "UP011",
    /// A value of the wrong type.
    WrongType = "UP012",
    /// A value outside what is allowed.
    WrongValue = "UP013",
    /// A document that no dialect knows.
    UnknownDocument = "UP014",
    /// Two documents with one identity.
    DefinedTwice = "UP015",
    /// A `PolicyKind` that cannot work.
    BrokenKind = "UP016",
    /// A reference to something that is not there.
    DanglingReference = "UP020",
    /// Fields of a reference that do not go together, or not with its kind.
    BadReference = "UP021",
    /// A policy of a type that nobody knows, read by the common rules.
    CommonRules = "UP022",
    /// Things that cannot be related, or that no policy can be about.
    NotRelated = "UP023",
    /// An object that lives in two others, or in itself.
    LivesTwice = "UP024",
    /// A change of the past that would have been refused.
    RefusedChange = "UP025",
    /// A policy that has no effect where it is attached.
    NoEffect = "UP030",
    /// Looking a client up in the listing of the system itself would give another answer.
    ListingDiffers = "UP031",
    /// Another edition of the same kind comes to something else.
    OtherEdition = "UP032",
    /// A rule answers by itself, so that no backend is asked.
    AnsweredDirectly = "UP033",
    /// Something is wrong, so that requests are answered with an error.
    BrokenPolicy = "UP034",
    /// Something that the answer depends on was not read, and is taken for granted.
    Assumed = "UP035",
    /// A backend of a rule takes no requests.
    NoBackend = "UP036",
    /// A policy lets more through than its author may think; its edition does so on purpose.
    FailsOpen = "UP040",
    /// The default effect permits whatever no policy matches.
    OpenDefault = "UP041",
    /// A combining algorithm ignores what is not known.
    HiddenDoubt = "UP042",
    /// Policies of equal priority say the opposite, and only their order decides.
    OrderDecides = "UP043",
    /// Another policy goes before wherever this one matches.
    Shadowed = "UP101",
    /// Several others together go before wherever this one matches.
    Covered = "UP102",
    /// Nothing that was read matches it.
    NeverMatches = "UP103",
    /// Nothing can ever match it.
    ImpossibleMatch = "UP104",
    /// Without it every result is the same.
    Redundant = "UP105",
    /// It says what holds by default.
    SameAsDefault = "UP106",
    /// Wildcards beat exact values, because the number of tags is compared first.
    WildcardsOutrank = "UP107",
    /// The winner was chosen by the last, arbitrary rung.
    ArbitraryTie = "UP201",
    /// Two policies that say different things, and the order of names decides.
    ContradictingTie = "UP202",
    /// Two policies of one name, and only where they live tells them apart.
    UnstableTie = "UP203",
    /// When they were made decides.
    AgeTie = "UP204",
    /// A field that counts nowhere.
    DeadField = "UP301",
    /// A field that counts almost nowhere.
    PartlyDead = "UP302",
    /// A policy takes the place of another one as a whole, with less in it.
    SilentReplace = "UP303",
    /// Settings that are lost only because what is nested is not merged.
    ShallowLoss = "UP304",
    /// A list that takes the place of another one.
    ListReplaced = "UP305",
    /// Two levels want opposite sides to go before.
    StrategyConflict = "UP306",
    /// An earlier rule takes every case.
    Unreachable = "UP401",
    /// Others always outweigh it.
    Outweighed = "UP402",
    /// It permits everything to everybody.
    BroadWildcard = "UP403",
    /// Known requests that no policy decides.
    DefaultDecides = "UP404",
    /// Two of equal priority say different things about one request.
    PriorityTie = "UP405",
    /// A star in a field that has no wildcards.
    LiteralStar = "UP406",
    /// It applies to no known request.
    IdlePolicy = "UP407",
    /// A tag or value outside the tag schema.
    OutsideSchema = "UP501",
    /// No pair that there is complies.
    AlwaysViolated = "UP502",
    /// Pairs pass because neither side has the tag.
    VacuousPass = "UP503",
    /// Something that no policy of a required kind reaches.
    Uncovered = "UP602",
    /// A policy of which nobody says whose it is.
    NoOwner = "UP603",
    /// A finding was allowed until a day that is over, or for no reason.
    ExpiredAllowance = "UP604",
    /// A name that nothing has.
    NotFound = "UP901",
    /// A name that several things have.
    Ambiguous = "UP902",
    /// A question that lacks something.
    IncompleteQuestion = "UP903",
    /// A setting that does not exist or cannot have this value.
    BadSetting = "UP904",
    /// Something that the person may not see or do.
    Forbidden = "UP905",
    /// A plan that does not fit any more, because something moved.
    Moved = "UP906",
}
