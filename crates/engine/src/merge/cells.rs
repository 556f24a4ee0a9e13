//! Questions in cells: a class of subjects, and what policies see of what is asked about.

use rustc_hash::{FxHashMap, FxHashSet};
use upheld_model::layers::Pattern;
use upheld_model::{Facet, Want};

use super::audience::Subject;
use super::classes::Classes;
use super::family::{About, CallerFact, CallerFit, Question};
use super::index::{Entry, Merge, ResolvedReach};
use super::targets::Target;
use crate::partition::{CellTable, Partition, Visible, VisibleTags};
use crate::work;

/// Questions in cells with equal answers, for some kinds at once.
#[derive(Clone, Debug)]
pub struct Cells<'q> {
    subjects: Classes<Subject<'q>>,
    abouts: Abouts,
    table: CellTable<(usize, usize), Question<'q>>,
}

impl<'q> Cells<'q> {
    /// No cells yet; told apart is what policies of these indexes can tell apart.
    pub fn new<'m>(merges: impl IntoIterator<Item = &'m Merge> + Clone) -> Self {
        let abouts = Abouts::new(merges.clone());
        Self { subjects: Classes::new(merges), abouts, table: CellTable::default() }
    }

    /// The cell of a question, made if it is new.
    pub fn classify(&mut self, question: Question<'q>) -> usize {
        let key = (self.subjects.classify(question.subject), self.abouts.classify(question.about));
        self.table.add(key, question)
    }
}

impl<'q> Partition for Cells<'q> {
    type Question<'p>
        = Question<'p>
    where
        'q: 'p;
    type Cell = usize;

    fn cells(&self) -> impl Iterator<Item = usize> {
        self.table.cells()
    }

    fn representative(&self, cell: usize) -> Question<'_> {
        let nobody = || Question { subject: self.subjects.representative(usize::MAX), about: About::Whole };
        self.table.first(cell).copied().unwrap_or_else(nobody)
    }

    fn size(&self, cell: usize) -> u64 {
        self.table.size(cell)
    }

    fn locate(&self, question: Question<'_>) -> Option<usize> {
        let class = self.subjects.locate(question.subject)?;
        self.table.find(&(class, self.abouts.find(question.about)?))
    }
}

/// What is asked about, in classes: two of one class are alike for every subject.
#[derive(Clone, Debug, Default)]
pub struct Abouts {
    looks: Looks,
    table: CellTable<SeenAbout, ()>,
}

impl Abouts {
    /// No classes yet; told apart is what policies of these indexes can tell apart.
    pub fn new<'m>(merges: impl IntoIterator<Item = &'m Merge>) -> Self {
        Self::of_entries(merges.into_iter().flat_map(|merge| merge.entries.iter().flatten()).map(|entry| &**entry))
    }

    /// The same for some entries.
    pub fn of_entries<'m>(entries: impl IntoIterator<Item = &'m Entry>) -> Self {
        let mut looks = Looks::default();
        entries.into_iter().for_each(|entry| looks.add(entry));
        Self { looks, table: CellTable::default() }
    }

    /// The class of something to ask about, made if it is new.
    pub fn classify(&mut self, about: About<'_>) -> usize {
        self.table.add(self.looks.of(about), ())
    }

    /// The class of something to ask about, if there is one.
    pub fn find(&self, about: About<'_>) -> Option<usize> {
        self.table.find(&self.looks.of(about))
    }
}

/// What entries look at in what is asked about.
#[derive(Clone, Debug, Default)]
struct Looks {
    targets: FxHashSet<Target>,
    services: Visible,
    clients: Visible,
    /// Patterns with their numbers.
    callers: FxHashMap<Pattern, usize>,
}

/// What is seen of what is asked about.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum SeenAbout {
    Whole,
    /// Those that somebody names.
    Targets(Vec<Target>),
    Service(VisibleTags),
    Client(u32, VisibleTags),
    /// The patterns that fit or could fit, by number.
    Inbound(u32, Vec<(usize, CallerFit)>),
}

impl Looks {
    fn add(&mut self, entry: &Entry) {
        work::step();
        let tags = match entry.facet {
            Facet::Clients => &mut self.clients,
            Facet::Whole | Facet::Objects | Facet::Services | Facet::Inbound => &mut self.services,
        };
        match &entry.reach {
            ResolvedReach::Everything => {}
            ResolvedReach::Objects(_, targets) => self.targets.extend(targets),
            ResolvedReach::Tags(wants) => wants.iter().for_each(|(key, value)| tags.add(*key, Want::Exactly(*value))),
            ResolvedReach::Callers(patterns) => {
                for pattern in patterns {
                    let next = self.callers.len();
                    self.callers.entry(pattern.clone()).or_insert(next);
                }
            }
        }
    }

    fn of(&self, about: About<'_>) -> SeenAbout {
        match about {
            About::Whole => SeenAbout::Whole,
            About::Targets(targets) => {
                let mut named: Vec<Target> = targets.iter().filter(|one| self.targets.contains(one)).copied().collect();
                named.sort_unstable();
                named.dedup();
                SeenAbout::Targets(named)
            }
            About::Service(tags) => SeenAbout::Service(self.services.of(tags)),
            About::Client { part, tags } => SeenAbout::Client(part, self.clients.of(tags)),
            About::Inbound { part, caller } => SeenAbout::Inbound(part, self.fitting(caller)),
        }
    }

    fn fitting(&self, caller: &[CallerFact<'_>]) -> Vec<(usize, CallerFit)> {
        let fits = self.callers.iter().map(|(pattern, number)| (*number, CallerFit::of(pattern, caller)));
        let mut fits: Vec<_> = fits.filter(|(_, fit)| matches!(fit, CallerFit::Yes | CallerFit::Unknown)).collect();
        fits.sort_unstable();
        fits
    }
}
