//! An organisation made up: workspaces, projects, people, landing zones, what relates them, and rules. The same in every
//! run for a seed and a size.

use super::archetypes::{Archetype, Side, archetypes};
use crate::workload::random::Random;

/// How large an organisation is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Size {
    pub(super) letter: &'static str,
    pub(super) workspaces: usize,
    pub(super) projects: usize,
    pub(super) people: usize,
    pub(super) rules: usize,
}

/// A company.
pub(crate) const M: Size = Size { letter: "M", workspaces: 500, projects: 3_000, people: 10_000, rules: 20 };
/// One of the largest that were described in public.
pub(crate) const L: Size = Size { letter: "L", workspaces: 2_000, projects: 6_000, people: 30_000, rules: 30 };
/// As many accounts as the largest provider allows.
pub(crate) const XL: Size = Size { letter: "XL", workspaces: 15_000, projects: 50_000, people: 100_000, rules: 50 };
/// Ten times that.
pub(crate) const XXL: Size =
    Size { letter: "XXL", workspaces: 150_000, projects: 500_000, people: 1_000_000, rules: 100 };

impl Size {
    /// With so many rules.
    pub(crate) fn with_rules(self, rules: usize) -> Self {
        Self { rules, ..self }
    }

    /// As many rules, and a part of the rest.
    pub(super) fn part(self, of: usize) -> Self {
        let part = |count: usize| count / of;
        Self {
            workspaces: part(self.workspaces),
            projects: part(self.projects),
            people: part(self.people),
            letter: "part",
            ..self
        }
    }
}

/// Landing zones, whatever the size.
const ZONES: usize = 1_000;
/// People with access to a workspace, members of a project, and its landing zones.
const CREW: usize = 20;
const MEMBERS: usize = 15;
const TENANTS: usize = 2;
/// How fast popularity falls.
const EXPONENT: f64 = 1.1;
/// Different values of the open tag.
const OPEN: usize = 20_000;

/// The tags with the number of their values; the last one is open.
const TAGS: [(&str, usize); 12] = [
    ("personalData", 2),
    ("criticality", 3),
    ("environment", 4),
    ("confidentiality", 5),
    ("region", 8),
    ("platform", 12),
    ("department", 20),
    ("division", 40),
    ("product", 60),
    ("application", 100),
    ("team", 300),
    ("costCenter", OPEN),
];

/// The kinds of objects.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Of {
    Workspace,
    Project,
    User,
    Zone,
}

impl Of {
    pub(super) const ALL: [Self; 4] = [Self::Workspace, Self::Project, Self::User, Self::Zone];

    /// The name in references.
    pub(super) fn word(self) -> &'static str {
        match self {
            Self::Workspace => "workspace",
            Self::Project => "project",
            Self::User => "user",
            Self::Zone => "landingZone",
        }
    }

    /// The name in policies.
    pub(super) fn subject(self) -> &'static str {
        if self == Self::User { "principal" } else { self.word() }
    }

    pub(super) fn place(self) -> usize {
        Self::ALL.iter().position(|of| *of == self).unwrap_or(0)
    }
}

/// The pairs that rules are about; the first has the say.
const PAIRS: [(Of, Of); 5] = [
    (Of::Workspace, Of::Project),
    (Of::Workspace, Of::User),
    (Of::Project, Of::User),
    (Of::Project, Of::Zone),
    (Of::Workspace, Of::Zone),
];

/// An object.
#[derive(Clone, Debug)]
pub(super) struct Thing {
    pub(super) of: Of,
    pub(super) number: usize,
    archetype: usize,
    /// Its value of the open tag.
    open: Option<u32>,
}

impl Thing {
    /// `project/p17`
    pub(super) fn reference(&self) -> String {
        let letter = self.of.word().get(..1).unwrap_or_default();
        format!("{}/{letter}{}", self.of.word(), self.number)
    }
}

/// What must hold between two kinds, about one tag.
#[derive(Clone, Debug)]
pub(super) struct Rule {
    pub(super) name: String,
    pub(super) a: Of,
    pub(super) b: Of,
    pub(super) tag: usize,
    pub(super) subset: bool,
}

/// A tag and how many values it has.
#[derive(Clone, Debug)]
pub(super) struct Tag {
    pub(super) key: String,
    pub(super) values: usize,
    /// Whether its values are free text.
    pub(super) open: bool,
    /// Whether its values are nested from kind to kind, as subset rules want it; else all have one in common.
    pub(super) nested: bool,
}

impl Tag {
    pub(super) fn value(&self, number: u32) -> String {
        format!("{}-{number}", self.key)
    }
}

/// Everything.
#[derive(Clone, Debug, Default)]
pub(crate) struct Organisation {
    pub(super) tags: Vec<Tag>,
    pub(super) things: Vec<Thing>,
    /// By number of the thing: what it lives in.
    pub(super) owners: Vec<Option<usize>>,
    /// Numbers of things; what says where a project lives is not among them.
    pub(super) links: Vec<(usize, usize)>,
    pub(super) rules: Vec<Rule>,
    /// By kind.
    archetypes: Vec<Vec<Archetype>>,
    /// By kind: the first thing, and how many there are.
    spans: [(usize, usize); 4],
}

impl Organisation {
    /// Of a size; `planted` of a thousand values do not fit.
    pub(crate) fn new(size: Size, planted: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let open = |place: usize| place + 1 == TAGS.len();
        let tag = |(place, (key, values)): (usize, &(&str, usize))| Tag {
            key: (*key).to_owned(),
            values: *values,
            open: open(place),
            nested: place.is_multiple_of(2),
        };
        let tags: Vec<Tag> = TAGS.iter().enumerate().map(tag).collect();
        let sides = [Side::First, Side::Middle, Side::Second, Side::Second];
        let archetypes = sides.iter().map(|side| archetypes(*side, &tags, planted, &mut random)).collect();
        let mut own = Self { rules: rules(&tags, size.rules), tags, archetypes, ..Self::default() };

        let workspaces = own.add(Of::Workspace, size.workspaces, &mut random);
        let projects = own.add(Of::Project, size.projects, &mut random);
        let people = own.add(Of::User, size.people, &mut random);
        let zones = own.add(Of::Zone, ZONES, &mut random);
        for workspace in workspaces.clone() {
            own.open(workspace, random.below(OPEN));
        }
        let crews: Vec<Vec<usize>> =
            workspaces.clone().map(|_| distinct(CREW, || people.start + random.below(people.len()))).collect();
        for (workspace, crew) in workspaces.clone().zip(&crews) {
            own.links.extend(crew.iter().map(|person| (workspace, *person)));
        }
        let (homes, popular) = (Zipf::new(size.workspaces), Zipf::new(ZONES));
        for project in projects {
            let home = homes.draw(&mut random);
            if let Some(owner) = own.owners.get_mut(project) {
                *owner = Some(workspaces.start + home);
            }
            let stranger = random.below(1_000) < planted;
            let open = own.things.get(workspaces.start + home).and_then(|thing| thing.open).filter(|_| !stranger);
            own.open(project, open.map_or_else(|| random.below(OPEN), |open| open as usize));
            let crew = crews.get(home).map_or(&[][..], Vec::as_slice);
            let members = distinct(MEMBERS, || {
                let known = crew.get(random.below(crew.len())).copied().filter(|_| random.one_in(2));
                known.unwrap_or_else(|| people.start + random.below(people.len()))
            });
            own.links.extend(members.into_iter().map(|member| (project, member)));
            let tenants = distinct(TENANTS, || zones.start + popular.draw(&mut random));
            own.links.extend(tenants.into_iter().map(|zone| (project, zone)));
        }
        own
    }

    /// The worst case: all rules about one pair of kinds, a million pairs, and one project with `hub` members.
    pub(crate) fn crowded(pairs: usize, hub: usize, rules: usize, planted: usize, seed: u64) -> Self {
        let mut random = Random::new(seed);
        let tag = |number: usize| Tag {
            key: format!("tag{number}"),
            values: TAGS.get(number % (TAGS.len() - 1)).map_or(2, |(_, values)| *values),
            open: false,
            nested: true,
        };
        let tags: Vec<Tag> = (0..rules.div_ceil(2)).map(tag).collect();
        let rule = |number: usize| Rule {
            name: format!("rule-{number}"),
            a: Of::Project,
            b: Of::User,
            tag: number / 2,
            subset: number.is_multiple_of(2),
        };
        let sides = [Side::First, Side::First, Side::Second, Side::Second];
        let archetypes = sides.iter().map(|side| archetypes(*side, &tags, planted, &mut random)).collect();
        let mut own = Self { rules: (0..rules).map(rule).collect(), tags, archetypes, ..Self::default() };
        let projects = own.add(Of::Project, (pairs / 20).max(2), &mut random);
        let people = own.add(Of::User, (pairs / 5).max(hub), &mut random);
        own.links.extend(people.clone().take(hub).map(|member| (projects.start, member)));
        while own.links.len() < pairs {
            let project = projects.start + 1 + random.below(projects.len() - 1);
            own.links.push((project, people.start + random.below(people.len())));
        }
        own
    }

    fn add(&mut self, of: Of, count: usize, random: &mut Random) -> std::ops::Range<usize> {
        let start = self.things.len();
        let choice = self.archetypes.get(of.place()).map_or(1, Vec::len);
        self.things.extend((0..count).map(|number| Thing { of, number, archetype: random.below(choice), open: None }));
        self.owners.resize(self.things.len(), None);
        if let Some(span) = self.spans.get_mut(of.place()) {
            *span = (start, count);
        }
        start..self.things.len()
    }

    fn open(&mut self, thing: usize, value: usize) {
        if let Some(thing) = self.things.get_mut(thing) {
            thing.open = u32::try_from(value).ok();
        }
    }

    /// A thing of a kind by its place among them, as it is called; they begin anew after the last.
    pub(crate) fn named(&self, of: Of, place: usize) -> String {
        let (first, count) = self.span(of);
        self.things.get(first + place % count.max(1)).map(Thing::reference).unwrap_or_default()
    }

    /// How much there is to be related, and how often it is.
    pub(crate) fn counts(&self) -> (usize, usize) {
        (self.things.len(), self.links.len())
    }

    pub(super) fn thing(&self, number: usize) -> Result<&Thing, String> {
        self.things.get(number).ok_or_else(|| format!("there is no thing {number}"))
    }

    /// The numbers of all things of a kind.
    pub(super) fn all(&self, of: Of) -> Vec<usize> {
        let (first, count) = self.span(of);
        (first..first + count).collect()
    }

    /// The first thing of a kind, and how many there are.
    pub(super) fn span(&self, of: Of) -> (usize, usize) {
        self.spans.get(of.place()).copied().unwrap_or_default()
    }

    /// The values of a tag.
    pub(super) fn values<'o>(&'o self, thing: &'o Thing, tag: usize) -> &'o [u32] {
        if self.tags.get(tag).is_some_and(|tag| tag.open) {
            return thing.open.as_slice();
        }
        let archetype = self.archetypes.get(thing.of.place()).and_then(|own| own.get(thing.archetype));
        archetype.and_then(|archetype| archetype.get(tag)).map_or(&[], Vec::as_slice)
    }

    /// The tags that a thing has, with their values.
    pub(super) fn tags_of<'o>(&'o self, thing: &'o Thing) -> impl Iterator<Item = (&'o Tag, &'o [u32])> {
        let tags = self.tags.iter().enumerate().map(|(place, tag)| (tag, self.values(thing, place)));
        tags.filter(|(_, values)| !values.is_empty())
    }

    /// All pairs that rules can be about, derived ones included, each once.
    pub(super) fn pairs(&self) -> Vec<(usize, usize)> {
        let owned = self.owners.iter().enumerate().filter_map(|(thing, owner)| owner.map(|owner| (owner, thing)));
        let mut pairs: Vec<(usize, usize)> = owned.chain(self.links.iter().copied()).collect();
        let derived = self.links.iter().filter_map(|(project, other)| {
            let zone = self.things.get(*other).is_some_and(|thing| thing.of == Of::Zone);
            Some((self.owners.get(*project).copied().flatten().filter(|_| zone)?, *other))
        });
        pairs.extend(derived);
        pairs.sort_unstable();
        pairs.dedup();
        pairs
    }

    /// How often a full audit holds a rule against a pair.
    pub(super) fn checks(&self) -> usize {
        let of = |number: usize| self.things.get(number).map(|thing| thing.of);
        let about = |(a, b): (usize, usize)| {
            let (a, b) = (of(a), of(b));
            self.rules.iter().filter(|rule| Some(rule.a) == a && Some(rule.b) == b).count()
        };
        self.pairs().into_iter().map(about).sum()
    }
}

/// So many rules: tag by tag for all pairs, those with many values first; then again the weaker way.
fn rules(tags: &[Tag], count: usize) -> Vec<Rule> {
    let mut rules = Vec::new();
    for again in [false, true] {
        for (tag, own) in tags.iter().enumerate().rev() {
            // Only workspaces and projects share values of the open tag.
            for (a, b) in PAIRS.into_iter().take(if own.open { 1 } else { PAIRS.len() }) {
                let subset = own.nested && !again;
                let way = if again { "-again" } else { "" };
                let name = format!("{}-{}-{}{way}", a.word(), b.word(), own.key);
                rules.push(Rule { name, a, b, tag, subset });
            }
        }
    }
    rules.truncate(count);
    rules
}

/// So many different numbers, or as many as there are.
fn distinct(count: usize, mut draw: impl FnMut() -> usize) -> Vec<usize> {
    let mut drawn: Vec<usize> = Vec::with_capacity(count);
    for _ in 0..count * 10 {
        let next = draw();
        if !drawn.contains(&next) {
            drawn.push(next);
        }
        if drawn.len() == count {
            break;
        }
    }
    drawn
}

/// Numbers of which the first are drawn far more often than the last.
#[derive(Debug)]
struct Zipf {
    /// Where the share of each ends, in parts of `WHOLE`.
    ends: Vec<usize>,
}

/// As fine as shares are.
const WHOLE: f64 = 4_294_967_295.0;

impl Zipf {
    fn new(count: usize) -> Self {
        let weight = |rank: usize| crate::report::number(rank + 1).powf(-EXPONENT);
        let sum: f64 = (0..count).map(weight).sum();
        let mut end = 0.0;
        let ends = (0..count).map(|rank| {
            end += weight(rank) / sum;
            format!("{:.0}", end * WHOLE).parse().unwrap_or(usize::MAX)
        });
        Self { ends: ends.collect() }
    }

    fn draw(&self, random: &mut Random) -> usize {
        let drawn = random.below(1 << 32);
        self.ends.partition_point(|end| *end <= drawn).min(self.ends.len().saturating_sub(1))
    }
}
