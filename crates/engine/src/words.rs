//! Sentences, made from reasons in this one place. A code without a sentence does not compile.

pub mod comply;

use upheld_model::{Code, Lookup, Param, Reason, State};

use crate::decide;
use crate::hierarchy;
use crate::ladder::{Best, Rung};
use crate::merge;
use crate::select::Column;

/// How the two ends of a connection are called in sentences.
#[derive(Clone, Copy, Debug)]
pub struct EndNames<'n> {
    /// Who calls, for example `web-1`.
    pub source: &'n str,
    /// Who is called.
    pub destination: &'n str,
}

/// Makes sentences for one question.
#[derive(Clone, Copy, Debug)]
pub struct Words<'w> {
    /// Texts of names and values.
    pub lookup: &'w Lookup<'w>,
    /// How the ends are called.
    pub ends: EndNames<'w>,
}

impl Words<'_> {
    /// A few words for the row of a candidate: `most tags (4 against 2)`.
    pub fn because(&self, state: State, reason: &Reason) -> String {
        let won = matches!(state, State::Won | State::Kept);
        let [first, second, third, fourth] = &reason.params;
        let against = || format!("({} against {})", self.param(first), self.param(second));
        let choose = |winner: &str, loser: &str| (if won { winner } else { loser }).to_owned();
        match reason.code {
            Code::SelectMoreTags => format!("{} {}", choose("most tags", "fewer tags"), against()),
            Code::SelectMoreExact => format!("{} {}", choose("more exact values", "fewer exact values"), against()),
            Code::SelectFewerWildcards => format!("{} {}", choose("fewer wildcards", "more wildcards"), against()),
            Code::SelectAudienceTags => format!("{} {}", choose("narrower audience", "wider audience"), against()),
            Code::SelectAudienceExact => {
                format!("{} {}", choose("more exact audience", "less exact audience"), against())
            }
            Code::SelectNewer => format!("{} {}", choose("created later", "created earlier"), against()),
            Code::SelectOlder => format!("{} {}", choose("created earlier", "created later"), against()),
            Code::SelectHigherField | Code::MergeHigherNumber => {
                format!("{} {} {}", choose("higher", "lower"), self.param(third), against())
            }
            Code::SelectLowerField | Code::MergeLowerNumber => {
                format!("{} {} {}", choose("lower", "higher"), self.param(third), against())
            }
            Code::SelectNameOrder | Code::MergeNameOrder if won => {
                format!("first by name, before {} (arbitrary)", self.param(first))
            }
            Code::SelectNameOrder | Code::MergeNameOrder => {
                format!("equal otherwise, after {} by name (arbitrary)", self.param(first))
            }
            Code::SelectIdentity | Code::MergeIdentity if won => {
                format!("first by identity, before {} (arbitrary)", self.named(first, second))
            }
            Code::SelectIdentity | Code::MergeIdentity => {
                format!("equal otherwise, after {} by identity (arbitrary)", self.named(first, second))
            }
            Code::MergeLastIdentity if won => {
                format!("last by identity, after {} (arbitrary)", self.named(first, second))
            }
            Code::MergeLastIdentity => {
                format!("equal otherwise, before {} by identity (arbitrary)", self.named(first, second))
            }
            Code::SelectOnly => "the only one that matches".to_owned(),
            Code::SelectCertain => "the best of those that certainly match".to_owned(),
            Code::SelectAggregate => "all that match apply".to_owned(),
            Code::MergeRung => {
                let (mine, theirs) = (self.param(first), self.param(second));
                let of = match fourth {
                    Param::Nothing => String::new(),
                    by => format!(" of {}", self.param(by)),
                };
                format!("{} {mine} {} {theirs}{of}", self.param(third), choose("before", "after"))
            }
            Code::MergeLaterItem => choose("comes later in its list", "comes earlier in its list"),
            Code::MergeLevel => self.level(won, reason, "preferred"),
            Code::MergePlainField => self.level(won, reason, "wins fields that cannot be combined"),
            Code::MergeAttachment => choose(
                "extension reference outranks target reference",
                "target reference gives way to extension reference",
            ),
            Code::MergePosition => choose("its filter comes first", "its filter comes later"),
            Code::MergeLastPosition => choose(
                "its filter comes last, and the last one counts",
                "its filter comes earlier, and the last one counts",
            ),
            Code::MergeSection => {
                choose("names this section, the other the whole", "names the whole, the other this section")
            }
            Code::MergeOverrides => choose("overrides go before defaults", "defaults give way to overrides"),
            Code::MergeFromAbove => choose("overrides what is nearer", "overridden from above"),
            Code::MergeWeight => format!("{} {}", choose("heavier", "lighter"), against()),
            Code::MergeOlder | Code::MergeNewer => {
                let older = won == (reason.code == Code::MergeOlder);
                let time = |param: &Param| match param {
                    Param::Time(None) => "no creation time".to_owned(),
                    known => self.param(known),
                };
                format!("{} ({} against {})", if older { "older" } else { "newer" }, time(first), time(second))
            }
            Code::MergeScope => {
                let (near, wide) = if won { (first, second) } else { (second, first) };
                format!("the {} is nearer than the {}", self.param(near), self.param(wide))
            }
            Code::MergeBuiltIn => "a rule's own setting goes before any policy".to_owned(),
            Code::MergeSwitchedOff => choose("switches all of them off", "switched off"),
            Code::MergeKnown => choose("configured first", "the same is configured already"),
            Code::MergeNotPassedOn => "not applied: requests are not passed on here".to_owned(),
            Code::MergeNotAtReference => {
                "not applied: it is a matter of the rule, not of one of its backends".to_owned()
            }
            Code::MergeUncontested => "no other policy sets it".to_owned(),
            Code::MergeCombined => format!("combined from {}", counted_as(first, "policy", "policies")),
            Code::MergeSilent => "sets nothing".to_owned(),
            Code::MergeOnly => "the only layer".to_owned(),
            Code::MergeSets if *first == Param::Number(0) => "sets nothing".to_owned(),
            Code::MergeSets => format!("sets {}", counted(first, "field")),
            Code::SkipFact => self.fact(reason),
            Code::SkipNoPart => "the proxy has no inbounds, listeners or gateway to attach to".to_owned(),
            Code::SkipOtherPart => "is attached to other inbounds".to_owned(),
            Code::SkipSection => format!("is for the section {}", self.param(first)),
            Code::SkipOtherTarget => format!("is about {} resources, not this one", self.param(first)),
            Code::SkipOtherObject => format!("is attached to {} {}", self.param(first), self.param(second)),
            Code::SkipLabel => match second {
                Param::Nothing => format!("selects by the label {}, which does not fit", self.param(first)),
                want => {
                    format!("selects {}={}, the label is {}", self.param(first), self.param(want), self.param(third))
                }
            },
            Code::SkipNamespace => format!("selects nothing in the namespace {}", self.param(first)),
            Code::SkipUnattached => "is attached to nothing".to_owned(),
            Code::SkipOtherSection => format!("is about another port: {}", self.param(first)),
            Code::SkipShadow => "is in shadow mode".to_owned(),
            Code::SkipDangling if *first == Param::Nothing => "its targetRef refers to nothing".to_owned(),
            Code::SkipDangling if *second != Param::Nothing => {
                format!("refers to the port {} of a {}, which does not exist", self.param(second), self.param(first))
            }
            Code::SkipDangling => format!("refers to a {} that does not exist", self.param(first)),
            Code::SkipOtherCaller => format!("is for another {}", self.param(first)),
            Code::SkipSomeCallers => format!("only for callers with a certain {}", self.param(first)),
            Code::SkipTag | Code::SkipTagAbsent | Code::SkipTagsApart | Code::UnknownTag => self.tag(reason),
            Code::SkipNoSelector => format!("has no selector for the {}", self.param(first)),
            Code::DecideDenyOverrides => "one deny outweighs every permit".to_owned(),
            Code::DecidePermitOverrides => "one permit outweighs every deny".to_owned(),
            Code::DecideFirstApplicable => "the first that applies".to_owned(),
            Code::DecideOnlyOne => "the only one that is about the request".to_owned(),
            Code::DecideUnlessPermit => "denied unless a policy permits".to_owned(),
            Code::DecideUnlessDeny => "permitted unless a policy denies".to_owned(),
            Code::DecideUnanimous => "all that apply agree".to_owned(),
            Code::DecidePriority => "the highest priority that applies; there, one deny outweighs".to_owned(),
            Code::DecideUnopposed => "no matching policy disagrees".to_owned(),
            Code::DecideSame => "says the same, later in order".to_owned(),
            Code::DecideOutweighed => "outweighed".to_owned(),
            Code::DecideInSet => "decides its set".to_owned(),
            Code::DecideClash => "applies, but the answer is not known".to_owned(),
            Code::DecideDefault => "no policy applies".to_owned(),
            Code::DecideSetDefault => "no policy of the set decides otherwise".to_owned(),
            Code::DecideOff => "switched off".to_owned(),
            Code::OffBroken => "it is invalid, so requests are answered with an error".to_owned(),
            Code::OffDiscarded => "not applied, because another policy here is invalid".to_owned(),
            Code::OffSharedPort => {
                "names only some of the plain listeners that share a port, which is not allowed".to_owned()
            }
            Code::OffPlainListener => {
                "has no effect: it names one plain listener, and all plain listeners of a port share these settings"
                    .to_owned()
            }
            Code::OffReplaced => "not applied: the rule answers with an error".to_owned(),
            Code::OffOtherController => {
                format!("has no effect: {} runs this gateway, and does not know such policies", self.param(first))
            }
            Code::OffNotGranted => {
                format!(
                    "taken to have no effect: no ReferenceGrant that was read in the namespace {} lets a {} of {} select a {}",
                    self.param(fourth),
                    self.param(first),
                    self.param(second),
                    self.param(third)
                )
            }
            Code::SkipSubject => "is about other subjects".to_owned(),
            Code::SkipResource => "is about other resources".to_owned(),
            Code::SkipAction => "is about other actions".to_owned(),
            Code::SkipSet => "its set is about something else".to_owned(),
            Code::SkipCondition => "a condition does not hold".to_owned(),
            Code::UnknownFact => "a fact is missing".to_owned(),
            Code::ComplyCommon => "a value in common".to_owned(),
            Code::ComplyWithin | Code::ComplyAllowed => "all values are allowed".to_owned(),
            Code::ComplyBothEmpty => "passes only because neither side has the tag".to_owned(),
            Code::ComplyDisjoint => "nothing in common".to_owned(),
            Code::ComplyOneEmpty => "only one side carries the tag".to_owned(),
            Code::ComplyNotSubset => "values outside the allowed set".to_owned(),
            Code::ComplyPresent => "has a value".to_owned(),
            Code::ComplyUntagged => "passes only because it has no value".to_owned(),
            Code::ComplyAbsent => "has no value".to_owned(),
            Code::ComplyNotAllowed => "values that are not allowed".to_owned(),
            Code::SkipNotSelected | Code::SkipExcepted => comply::out_of_scope(reason.code, &self.param(first)),
            Code::ComplyWaived => "waived".to_owned(),
            Code::ComplyExempt => "this scope is exempt from policies".to_owned(),
            Code::SkipPair => "is about other pairs".to_owned(),
            Code::DefaultStands => "no policy of this kind matches".to_owned(),
            Code::DefaultNotReached | Code::DecideNotReached => "not reached".to_owned(),
            Code::DefaultUnknown => "applies if none of the unknown ones matches".to_owned(),
        }
    }

    /// `child preferred (ShallowMergePreferChild)`
    fn level(&self, won: bool, reason: &Reason, verb: &str) -> String {
        let [mine, theirs, by, _] = &reason.params;
        let (winner, loser) = if won { (mine, theirs) } else { (theirs, mine) };
        let nearer = matches!((winner, loser), (Param::Number(winner), Param::Number(loser)) if winner < loser);
        let side = if nearer { "child" } else { "parent" };
        match by {
            Param::Nothing => format!("{side} {verb}"),
            by => format!("{side} {verb} ({})", self.param(by)),
        }
    }

    /// A name, with its namespace if there is one.
    fn named(&self, name: &Param, namespace: &Param) -> String {
        match namespace {
            Param::Nothing => self.param(name),
            namespace => format!("{}/{}", self.param(namespace), self.param(name)),
        }
    }

    fn fact(&self, reason: &Reason) -> String {
        let [fact, want, have, _] = &reason.params;
        let fact = self.param(fact);
        // Facts that no document has are named with an @.
        let fact = fact.strip_prefix('@').unwrap_or(&fact);
        match (want, have) {
            (Param::Nothing, have) => format!("is for proxies without {fact}; this one has {}", self.param(have)),
            (want, Param::Nothing) => format!("is for {fact} {}; this proxy has none", self.param(want)),
            (want, have) => format!("is for {fact} {}; this proxy has {}", self.param(want), self.param(have)),
        }
    }

    fn tag(&self, reason: &Reason) -> String {
        let [side, key, want, have] = &reason.params;
        let end = match side {
            Param::Side(upheld_model::Side::Destination) => self.ends.destination,
            _ => self.ends.source,
        };
        if reason.code == Code::SkipTagsApart {
            let (side, tags) = (self.param(side), self.param(key));
            return format!("no single inbound of {end} has all {tags} {side} tags that it wants");
        }
        let wanted = match want {
            Param::Nothing => "any value".to_owned(),
            value => self.param(value),
        };
        let (side, key) = (self.param(side), self.param(key));
        match reason.code {
            Code::SkipTag => format!("{side} tag {key}: wants {wanted}, {end} has {}", self.param(have)),
            Code::UnknownTag => format!("{side} tag {key}: wants {wanted}, its value is not known"),
            _ => format!("{side} tag {key}: wants {wanted}, {end} has no such tag"),
        }
    }

    /// The clause of the headline after the colon: `it matches by 4 tags, the runner-up by 2`.
    pub fn won_by(&self, reason: &Reason) -> String {
        let [first, second, third, _] = &reason.params;
        let (mine, theirs) = (self.param(first), self.param(second));
        match reason.code {
            Code::SelectMoreTags => format!("it matches by {}, the runner-up by {theirs}", counted(first, "tag")),
            Code::SelectMoreExact => {
                format!("it matches {} exactly, the runner-up {theirs}", counted(first, "tag"))
            }
            Code::SelectFewerWildcards => {
                format!("it needs {}, the runner-up {theirs}", counted(first, "wildcard"))
            }
            Code::SelectAudienceTags => {
                format!("its audience is described by {}, the runner-up's by {theirs}", counted(first, "tag"))
            }
            Code::SelectAudienceExact => {
                format!("its audience is described by {}, the runner-up's by {theirs}", counted(first, "exact value"))
            }
            Code::SelectNewer | Code::SelectOlder => {
                format!("it was created at {mine}, the runner-up at {theirs}")
            }
            Code::SelectHigherField | Code::SelectLowerField => {
                format!("its {} is {mine}, the runner-up's {theirs}", self.param(third))
            }
            Code::SelectNameOrder | Code::SelectIdentity | Code::MergeNameOrder | Code::MergeIdentity => {
                let mine = self.named(first, if reason.code == Code::MergeIdentity { second } else { &Param::Nothing });
                format!("it ties with {mine} in every respect and comes first by name, which is arbitrary")
            }
            Code::SelectOnly => "it is the only one that matches".to_owned(),
            Code::MergeRung => format!("its {} is {mine}, the runner-up's {theirs}", self.param(third)),
            Code::MergeOnly => "it is the only layer".to_owned(),
            Code::MergeLaterItem => "it comes later in the same list than the runner-up".to_owned(),
            _ => self.because(State::Won, reason),
        }
    }

    /// A parameter as text.
    pub fn param(&self, param: &Param) -> String {
        match param {
            Param::Number(number) => number.to_string(),
            Param::Text(symbol) => self.lookup.text(*symbol).to_owned(),
            Param::Nothing => "none".to_owned(),
            Param::Side(side) => side.word().to_owned(),
            Param::Time(Some(moment)) => moment.to_string(),
            Param::Time(None) => "an unknown time".to_owned(),
            Param::Values(_) => "some values".to_owned(),
        }
    }
}

fn counted(param: &Param, noun: &str) -> String {
    counted_as(param, noun, &format!("{noun}s"))
}

fn counted_as(param: &Param, one: &str, many: &str) -> String {
    match param {
        Param::Number(1) => format!("1 {one}"),
        Param::Number(number) => format!("{number} {many}"),
        _ => one.to_owned(),
    }
}

/// What does not fit in a policy of the family decide: `role: wants user, has admin`.
pub fn miss(miss: &decide::Miss) -> String {
    let decide::Miss { code, field, want, have } = miss;
    let has = have.as_deref().unwrap_or("none");
    match code {
        Code::UnknownFact if have.as_deref() == Some("?") => format!("{field}: wants {want}, its value is not known"),
        Code::UnknownFact if field == "custom" => format!("{has} in `{want}`"),
        Code::UnknownFact => match have {
            None => format!("{field}: wants {want}, the request has none"),
            Some(have) => format!("{field}: wants {want}, cannot be determined from {have}"),
        },
        Code::SkipCondition if field == "custom" => format!("does not hold: {want}"),
        Code::SkipCondition if field != "ip" => format!("{field}: only {want}, it is {has}"),
        _ => format!("{field}: wants {want}, has {has}"),
    }
}

/// What a rung is called: `tag count`.
pub fn rung_name(rung: Rung<Column>, lookup: &Lookup<'_>) -> String {
    match rung.column {
        Column::Tags => "tag count".to_owned(),
        Column::ExactTags => "exact values".to_owned(),
        Column::WildTags => "wildcards".to_owned(),
        Column::TagsIn(field) => format!("tag count of {}", lookup.text(field)),
        Column::ExactTagsIn(field) => format!("exact values of {}", lookup.text(field)),
        Column::Created => "creation time".to_owned(),
        Column::Number(field) => lookup.text(field).to_owned(),
        Column::Name => "name order".to_owned(),
        Column::Identity => "identity".to_owned(),
    }
}

/// What a rung of layers is called: `target-kind`.
pub fn layer_rung_name(rung: Rung<merge::Column>, lookup: &Lookup<'_>) -> String {
    match rung.column {
        merge::Column::Mark(column) => lookup.text(column).to_owned(),
        merge::Column::Title => "name order".to_owned(),
        merge::Column::Item => "place in the list".to_owned(),
        merge::Column::Identity => "identity".to_owned(),
    }
}

/// What a rung of a hierarchy is called: `weight`.
pub fn place_rung_name(rung: Rung<hierarchy::Column>, lookup: &Lookup<'_>) -> String {
    let ends = |lowest: &str, highest: &str| match rung.best {
        Best::Lowest => lowest.to_owned(),
        Best::Highest => highest.to_owned(),
    };
    match rung.column {
        hierarchy::Column::Scope => ends("nearer scope", "wider scope"),
        hierarchy::Column::Level => ends("nearer level", "wider level"),
        hierarchy::Column::Reference => "referred to".to_owned(),
        hierarchy::Column::Position => ends("first reference", "last reference"),
        hierarchy::Column::Section => ends("section before whole", "whole before section"),
        hierarchy::Column::Side => "overrides before defaults".to_owned(),
        hierarchy::Column::Weight => ends("lighter", "heavier"),
        hierarchy::Column::Number(name) => {
            format!("{} {}", ends("lowest", "highest"), lookup.text(name))
        }
        hierarchy::Column::Created => ends("older", "newer"),
        hierarchy::Column::Namespace => "namespace".to_owned(),
        hierarchy::Column::Name => "name".to_owned(),
        hierarchy::Column::Layer => "place in the policy".to_owned(),
        hierarchy::Column::Identity => "identity".to_owned(),
    }
}
