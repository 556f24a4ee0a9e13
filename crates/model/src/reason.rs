//! Why something happened: a stable code with parameters. Sentences are made from it elsewhere, in one place.

use crate::symbols::Sym;
use crate::time::Timestamp;

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Supplies the whole result.
    Won,
    /// Supplies part of the result.
    Kept,
    /// Matched and was beaten.
    Lost,
    /// Could match, but a fact is missing.
    Unknown,
    /// Does not match.
    Skip,
    /// Does not count now: disabled, or in shadow mode.
    Off,
}

impl State {
    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Won => "WON",
            Self::Kept => "KEPT",
            Self::Lost => "LOST",
            Self::Unknown => "UNKNOWN",
            Self::Skip => "SKIP",
            Self::Off => "OFF",
        }
    }
}

/// An end of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Side {
    /// Who calls.
    Source,
    /// Who is called.
    Destination,
}

impl Side {
    /// Both ends.
    pub const BOTH: [Self; 2] = [Self::Source, Self::Destination];

    /// The word that users see and write.
    pub fn word(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Destination => "destination",
        }
    }
}

/// A parameter of a reason.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Param {
    /// A count or a number of a document.
    Number(i64),
    /// A name or a value.
    Text(Sym),
    /// A name or value that nobody wrote in the snapshot, so only its absence is known.
    Nothing,
    /// An end of a connection.
    Side(Side),
    /// A moment; `None` is unknown, hence before all others.
    Time(Option<Timestamp>),
}

/// A code with its parameters, in the order of [`Code::parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reason {
    /// What happened.
    pub code: Code,
    /// With which values.
    pub params: [Param; 4],
}

impl Reason {
    /// A reason with up to four parameters; the rest is nothing.
    pub fn new(code: Code, given: &[Param]) -> Self {
        let mut params = [Param::Nothing; 4];
        for (slot, param) in params.iter_mut().zip(given) {
            *slot = *param;
        }
        Self { code, params }
    }
}

/// Every reason there is. Codes are stable; what is added never changes what was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Code {
    /// More (or fewer) tags than the other.
    SelectMoreTags,
    /// More (or fewer) exact values than the other.
    SelectMoreExact,
    /// Fewer (or more) wildcards than the other.
    SelectFewerWildcards,
    /// Its audience is described by more (or fewer) tags.
    SelectAudienceTags,
    /// Its audience is described by more (or fewer) exact values.
    SelectAudienceExact,
    /// Created later (or earlier) than the other.
    SelectNewer,
    /// Created earlier (or later) than the other.
    SelectOlder,
    /// A number of the document is higher (or lower).
    SelectHigherField,
    /// A number of the document is lower (or higher).
    SelectLowerField,
    /// First (or later) by name; arbitrary.
    SelectNameOrder,
    /// First (or later) by identity; arbitrary.
    SelectIdentity,
    /// The only one that matches.
    SelectOnly,
    /// The best of those that certainly match; a missing fact could let another win.
    SelectCertain,
    /// All that match apply.
    SelectAggregate,
    /// A tag has another value.
    SkipTag,
    /// A tag is not there.
    SkipTagAbsent,
    /// It has no selector for this side, so it can match nothing.
    SkipNoSelector,
    /// It was chosen, but speaks about other clients.
    SkipAudience,
    /// The value of a tag is not known.
    UnknownTag,
    /// Nothing matched, so the default stands.
    DefaultStands,
    /// Something matched, so the default was not needed.
    DefaultNotReached,
}

impl Code {
    /// All codes in order.
    pub const ALL: [Self; 21] = [
        Self::SelectMoreTags,
        Self::SelectMoreExact,
        Self::SelectFewerWildcards,
        Self::SelectAudienceTags,
        Self::SelectAudienceExact,
        Self::SelectNewer,
        Self::SelectOlder,
        Self::SelectHigherField,
        Self::SelectLowerField,
        Self::SelectNameOrder,
        Self::SelectIdentity,
        Self::SelectOnly,
        Self::SelectCertain,
        Self::SelectAggregate,
        Self::SkipTag,
        Self::SkipTagAbsent,
        Self::SkipNoSelector,
        Self::SkipAudience,
        Self::UnknownTag,
        Self::DefaultStands,
        Self::DefaultNotReached,
    ];

    /// The stable text of the code.
    pub fn text(self) -> &'static str {
        match self {
            Self::SelectMoreTags => "select.more-tags",
            Self::SelectMoreExact => "select.more-exact",
            Self::SelectFewerWildcards => "select.fewer-wildcards",
            Self::SelectAudienceTags => "select.audience-tags",
            Self::SelectAudienceExact => "select.audience-exact",
            Self::SelectNewer => "select.newer",
            Self::SelectOlder => "select.older",
            Self::SelectHigherField => "select.higher-field",
            Self::SelectLowerField => "select.lower-field",
            Self::SelectNameOrder => "select.name-order",
            Self::SelectIdentity => "select.identity",
            Self::SelectOnly => "select.only",
            Self::SelectCertain => "select.certain",
            Self::SelectAggregate => "select.aggregate",
            Self::SkipTag => "skip.tag",
            Self::SkipTagAbsent => "skip.tag-absent",
            Self::SkipNoSelector => "skip.no-selector",
            Self::SkipAudience => "skip.audience",
            Self::UnknownTag => "unknown.tag",
            Self::DefaultStands => "default.stands",
            Self::DefaultNotReached => "default.not-reached",
        }
    }

    /// Names of the parameters, in order.
    pub fn parameters(self) -> &'static [&'static str] {
        match self {
            Self::SelectMoreTags
            | Self::SelectMoreExact
            | Self::SelectFewerWildcards
            | Self::SelectAudienceTags
            | Self::SelectAudienceExact
            | Self::SelectNewer
            | Self::SelectOlder => &["mine", "theirs"],
            Self::SelectHigherField | Self::SelectLowerField => &["mine", "theirs", "field"],
            Self::SelectNameOrder | Self::SelectIdentity => &["other"],
            Self::SkipTag => &["side", "key", "want", "have"],
            Self::SkipTagAbsent | Self::UnknownTag => &["side", "key", "want"],
            Self::SkipNoSelector => &["side"],
            Self::SkipAudience => &["field"],
            Self::SelectOnly
            | Self::SelectCertain
            | Self::SelectAggregate
            | Self::DefaultStands
            | Self::DefaultNotReached => &[],
        }
    }
}
