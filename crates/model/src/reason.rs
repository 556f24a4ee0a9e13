//! Why something happened: a stable code with parameters. Sentences are made from it elsewhere, in one place.

use crate::id::Id;
use crate::symbols::Sym;
use crate::time::Timestamp;

/// What became of a candidate.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum State {
    /// Supplies the whole result.
    Won,
    /// Supplies part of the result.
    Kept,
    /// Does not hold, and refuses.
    Hard,
    /// Does not hold, and is accepted.
    Soft,
    /// Holds.
    Pass,
    /// Matched and was beaten.
    Lost,
    /// Could match, but a fact is missing.
    Unknown,
    /// Does not match.
    Skip,
    /// Does not count now: disabled, waived, or in shadow mode.
    Off,
}

impl State {
    /// All of them, those that matter most first.
    pub const ALL: [Self; 9] =
        [Self::Won, Self::Kept, Self::Hard, Self::Soft, Self::Pass, Self::Lost, Self::Unknown, Self::Skip, Self::Off];

    /// Whether it matches, as far as is known.
    pub fn matched(self) -> bool {
        !matches!(self, Self::Skip | Self::Off)
    }

    /// The word that users see.
    pub fn word(self) -> &'static str {
        match self {
            Self::Won => "WON",
            Self::Kept => "KEPT",
            Self::Hard => "HARD",
            Self::Soft => "SOFT",
            Self::Pass => "PASS",
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

/// A list of values, kept once by whoever was asked.
#[derive(Clone, Copy, Debug)]
pub enum AnyValues {}

/// Which list of values; whoever was asked knows its texts.
pub type ValuesId = Id<AnyValues>;

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
    /// The values of a tag.
    Values(ValuesId),
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

/// Writes the codes down once: the list, the texts and the parameters cannot differ.
macro_rules! codes {
    ($($(#[doc = $doc:literal])* $name:ident = $text:literal $parameters:tt,)*) => {
        /// Every reason there is. Codes are stable; what is added never changes what was.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code {
            $($(#[doc = $doc])* $name,)*
        }

        impl Code {
            /// All codes in order.
            pub const ALL: &'static [Self] = &[$(Self::$name,)*];

            /// The stable text of the code.
            pub fn text(self) -> &'static str {
                match self {
                    $(Self::$name => $text,)*
                }
            }

            /// Names of the parameters, in order.
            pub fn parameters(self) -> &'static [&'static str] {
                match self {
                    $(Self::$name => &$parameters,)*
                }
            }
        }
    };
}

codes! {
    /// More (or fewer) tags than the other.
    SelectMoreTags = "select.more-tags" ["mine", "theirs"],
    /// More (or fewer) exact values than the other.
    SelectMoreExact = "select.more-exact" ["mine", "theirs"],
    /// Fewer (or more) wildcards than the other.
    SelectFewerWildcards = "select.fewer-wildcards" ["mine", "theirs"],
    /// Its audience is described by more (or fewer) tags.
    SelectAudienceTags = "select.audience-tags" ["mine", "theirs"],
    /// Its audience is described by more (or fewer) exact values.
    SelectAudienceExact = "select.audience-exact" ["mine", "theirs"],
    /// Created later (or earlier) than the other.
    SelectNewer = "select.newer" ["mine", "theirs"],
    /// Created earlier (or later) than the other.
    SelectOlder = "select.older" ["mine", "theirs"],
    /// A number of the document is higher (or lower).
    SelectHigherField = "select.higher-field" ["mine", "theirs", "field"],
    /// A number of the document is lower (or higher).
    SelectLowerField = "select.lower-field" ["mine", "theirs", "field"],
    /// First (or later) by name; arbitrary.
    SelectNameOrder = "select.name-order" ["other"],
    /// First (or later) by identity; arbitrary.
    SelectIdentity = "select.identity" ["other"],
    /// The only one that matches.
    SelectOnly = "select.only" [],
    /// The best of those that certainly match; a missing fact could let another win.
    SelectCertain = "select.certain" [],
    /// All that match apply.
    SelectAggregate = "select.aggregate" [],
    /// It stands higher (or lower) on a rung of its ladder.
    MergeRung = "merge.rung" ["mine", "theirs", "rung", "by"],
    /// First (or later) by name; arbitrary.
    MergeNameOrder = "merge.name-order" ["other"],
    /// It stands later (or earlier) in the same list.
    MergeLaterItem = "merge.later-item" ["mine", "theirs"],
    /// First (or later) by identity; arbitrary.
    MergeIdentity = "merge.identity" ["other", "namespace"],
    /// Last (or earlier) by identity; arbitrary.
    MergeLastIdentity = "merge.last-identity" ["other", "namespace"],
    /// It is attached nearer to the target or further up, and that side is preferred (or the other one).
    MergeLevel = "merge.level" ["mine", "theirs", "by"],
    /// It is attached nearer to the target or further up; a deep merge leaves fields that cannot be combined to one side.
    MergePlainField = "merge.plain-field" ["mine", "theirs", "by"],
    /// The target refers to it (or to the other one).
    MergeAttachment = "merge.attachment" [],
    /// The reference to it stands earlier (or later).
    MergePosition = "merge.position" ["mine", "theirs"],
    /// The reference to it stands later (or earlier), and the last one counts.
    MergeLastPosition = "merge.last-position" ["mine", "theirs"],
    /// It names the part, the other the whole (or the other way round).
    MergeSection = "merge.section" [],
    /// It overrides, the other gives defaults (or the other way round).
    MergeOverrides = "merge.overrides" [],
    /// It overrides what is nearer (or is overridden from above).
    MergeFromAbove = "merge.from-above" ["mine", "theirs"],
    /// It is heavier (or lighter).
    MergeWeight = "merge.weight" ["mine", "theirs"],
    /// A number of the document is higher (or lower).
    MergeHigherNumber = "merge.higher-number" ["mine", "theirs", "number"],
    /// A number of the document is lower (or higher).
    MergeLowerNumber = "merge.lower-number" ["mine", "theirs", "number"],
    /// It is older (or newer).
    MergeOlder = "merge.older" ["mine", "theirs"],
    /// It is newer (or older).
    MergeNewer = "merge.newer" ["mine", "theirs"],
    /// Its scope is nearer (or wider).
    MergeScope = "merge.scope" ["mine", "theirs"],
    /// What a target says itself goes before any policy.
    MergeBuiltIn = "merge.built-in" [],
    /// One side turns everything off.
    MergeSwitchedOff = "merge.switched-off" [],
    /// The same thing is configured already.
    MergeKnown = "merge.known" [],
    /// The field is about passing requests on, and this target does not.
    MergeNotPassedOn = "merge.not-passed-on" [],
    /// It is a matter of the rule, not of a reference to one of its backends.
    MergeNotAtReference = "merge.not-at-reference" [],
    /// No other policy sets the field.
    MergeUncontested = "merge.uncontested" [],
    /// Several policies are in the field.
    MergeCombined = "merge.combined" ["policies"],
    /// It sets nothing.
    MergeSilent = "merge.silent" [],
    /// The only layer.
    MergeOnly = "merge.only" [],
    /// It sets some fields of the result.
    MergeSets = "merge.sets" ["fields"],
    /// A fact of the object has another value.
    SkipFact = "skip.fact" ["fact", "want", "have"],
    /// The object has no part that it could be attached to.
    SkipNoPart = "skip.no-part" [],
    /// It is attached to other parts of the object.
    SkipOtherPart = "skip.other-part" [],
    /// No part of the object has this name.
    SkipSection = "skip.section" ["section"],
    /// It is about other objects.
    SkipOtherTarget = "skip.other-target" ["kind"],
    /// It is about another object.
    SkipOtherObject = "skip.other-object" ["kind", "name"],
    /// A label of the object is not as it must be.
    SkipLabel = "skip.label" ["label", "want", "have"],
    /// It selects no objects of this namespace.
    SkipNamespace = "skip.namespace" ["namespace"],
    /// It is attached to nothing at all.
    SkipUnattached = "skip.unattached" [],
    /// Its reference means nothing.
    SkipDangling = "skip.dangling" ["kind", "section"],
    /// It is only tried, so it does not count.
    SkipShadow = "skip.shadow" [],
    /// It is about another port of the same object.
    SkipOtherSection = "skip.other-section" ["section"],
    /// It is about other callers.
    SkipOtherCaller = "skip.other-caller" ["fact"],
    /// It is about some callers only, and nothing is known of this one.
    SkipSomeCallers = "skip.some-callers" ["fact"],
    /// A tag has another value.
    SkipTag = "skip.tag" ["side", "key", "want", "have"],
    /// A tag is not there.
    SkipTagAbsent = "skip.tag-absent" ["side", "key", "want"],
    /// All tags are there, but in different parts.
    SkipTagsApart = "skip.tags-apart" ["side", "tags"],
    /// It has no selector for this side, so it can match nothing.
    SkipNoSelector = "skip.no-selector" ["side"],
    /// The value of a tag is not known.
    UnknownTag = "unknown.tag" ["side", "key", "want"],
    /// One deny outweighs every permit.
    DecideDenyOverrides = "decide.deny-overrides" ["by"],
    /// One permit outweighs every deny.
    DecidePermitOverrides = "decide.permit-overrides" ["by"],
    /// The first that applies, by priority and position.
    DecideFirstApplicable = "decide.first-applicable" ["by"],
    /// The only one that is about the request.
    DecideOnlyOne = "decide.only-one-applicable" ["by"],
    /// Somebody permits, or it is denied.
    DecideUnlessPermit = "decide.deny-unless-permit" ["by"],
    /// Somebody denies, or it is permitted.
    DecideUnlessDeny = "decide.permit-unless-deny" ["by"],
    /// All that apply agree.
    DecideUnanimous = "decide.unanimous" ["by"],
    /// The highest priority that applies.
    DecidePriority = "decide.priority-deny-overrides" ["by"],
    /// No matching policy denies it.
    DecideUnopposed = "decide.unopposed" ["by"],
    /// It says the same as the one that decided, and comes later.
    DecideSame = "decide.same-effect" ["by"],
    /// It says otherwise and is outweighed.
    DecideOutweighed = "decide.outweighed" ["by"],
    /// Evaluation stopped before it.
    DecideNotReached = "decide.not-reached" ["by"],
    /// It decides its own set, not the whole.
    DecideInSet = "decide.in-set" ["by"],
    /// It applies, but the answer is not known.
    DecideClash = "decide.clash" [],
    /// No policy says anything.
    DecideDefault = "decide.default" ["effect"],
    /// No policy of a set says anything, and the set has a default.
    DecideSetDefault = "decide.set-default" ["set"],
    /// It was switched off.
    DecideOff = "off.disabled" [],
    /// Something is wrong with it, so that nothing holds where it is attached.
    OffBroken = "off.broken" [],
    /// Something is wrong with another policy at the same place.
    OffDiscarded = "off.discarded" [],
    /// It names only some of the plain listeners that share a port.
    OffSharedPort = "off.shared-port" [],
    /// It names one plain listener, and speaks about what all of a port share.
    OffPlainListener = "off.plain-listener" [],
    /// The rule answers with an error, whatever policies say.
    OffReplaced = "off.replaced" [],
    /// The gateway is run by a controller that does not know such policies.
    OffOtherController = "off.other-controller" ["controller"],
    /// It selects an object of another namespace, and nobody there grants that.
    OffNotGranted = "off.not-granted" ["kind", "namespace", "target", "of"],
    /// It is about other subjects.
    SkipSubject = "skip.subject" ["field", "want", "have"],
    /// It is about other resources.
    SkipResource = "skip.resource" ["field", "want", "have"],
    /// It is about other actions.
    SkipAction = "skip.action" ["field", "want", "have"],
    /// Its set is about something else.
    SkipSet = "skip.set" [],
    /// A condition does not hold.
    SkipCondition = "skip.condition" ["field", "want", "have"],
    /// A fact that is needed is missing, or makes no sense.
    UnknownFact = "unknown.fact" ["field", "want", "have"],
    /// Both sides carry a value.
    ComplyCommon = "comply.common" ["left", "right"],
    /// All values of the second side are among those of the first.
    ComplyWithin = "comply.within" ["left", "right"],
    /// Neither side carries the tag, which passes.
    ComplyBothEmpty = "comply.both-empty" [],
    /// Nothing in common.
    ComplyDisjoint = "comply.disjoint" ["left", "right"],
    /// Only one side carries the tag.
    ComplyOneEmpty = "comply.one-empty" ["left", "right"],
    /// Some values are outside the allowed set.
    ComplyNotSubset = "comply.not-subset" ["left", "right"],
    /// The object has a value.
    ComplyPresent = "comply.present" ["values"],
    /// All values of the object are among those that the policy names.
    ComplyAllowed = "comply.allowed" ["values", "allowed"],
    /// The object has no value, which passes.
    ComplyUntagged = "comply.untagged" [],
    /// The object has no value, and must have one.
    ComplyAbsent = "comply.absent" ["values", "allowed"],
    /// The object has values that the policy does not name.
    ComplyNotAllowed = "comply.not-allowed" ["values", "allowed"],
    /// A waiver covers the violation.
    ComplyWaived = "off.waived" ["waiver"],
    /// Policies leave the scope alone, with all that lives in it.
    ComplyExempt = "off.exempt" [],
    /// The policy is cut to other objects.
    SkipNotSelected = "skip.not-selected" ["subject"],
    /// The policy leaves the object out.
    SkipExcepted = "skip.excepted" ["subject"],
    /// The policy is about other pairs.
    SkipPair = "skip.pair" ["left", "right"],
    /// Nothing matched, so the default stands.
    DefaultStands = "default.stands" [],
    /// Something matched, so the default was not needed.
    DefaultNotReached = "default.not-reached" [],
    /// Whether the default stands depends on a missing fact.
    DefaultUnknown = "default.unknown" [],
}
