//! A value for each class of subjects, computed once, and after a change only where the change can matter.
//!
//! A policy speaks to a subject if the subject is in its audience. So a policy that changed can only matter to classes that
//! its audience had before or has now; all others keep their value. Classes split when a policy looks at something that
//! nobody looked at before; the pieces keep the value of the whole until the change concerns them. They never join again:
//! finer classes than needed are right, too.

use rustc_hash::FxHashMap;
use upheld_model::layers::Audience;

use super::audience::{AdmitScratch, Need, Subject, needs, parts_of};
use super::classes::{Classes, Sees};
use super::index::Merge;

/// Values by class of subjects. Subjects are known by their place in the list that the table was built from.
#[derive(Clone, Debug)]
pub struct ClassTable<V> {
    /// With the place of the first subject of each.
    classes: Classes<usize>,
    /// By class.
    values: Vec<V>,
    /// By subject.
    class_of: Vec<usize>,
    /// Classes by what an audience may be unable to do without.
    holders: FxHashMap<Need, Vec<usize>>,
}

/// How much was done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Classes whose value was computed.
    pub computed: usize,
    /// Subjects that were put into a class.
    pub classified: usize,
    /// Alternatives of policies that were held against a subject.
    pub looked_at: u64,
}

/// Policies of one index that are not what they were.
#[derive(Clone, Copy, Debug)]
pub struct Change<'m> {
    /// The index as it was.
    pub before: &'m Merge,
    /// The index as it is now, made from the other one by [`Merge::change`].
    pub after: &'m Merge,
    /// The slots of the policies.
    pub slots: &'m [u32],
}

impl Change<'_> {
    /// The audiences that the policies had or have.
    fn audiences(&self) -> impl Iterator<Item = &Audience> {
        self.slots
            .iter()
            .flat_map(|slot| self.before.audiences().of(*slot).iter().chain(self.after.audiences().of(*slot)))
    }
}

impl<V: Clone> ClassTable<V> {
    /// Computes a value for each class that policies of these indexes can tell apart. A value may depend on all that the
    /// policies say to whom they are attached, and on nothing else of a subject.
    pub fn build<'m, 'o>(
        merges: impl IntoIterator<Item = &'m Merge>,
        subjects: &[Subject<'o>],
        compute: impl FnMut(Subject<'o>, &mut AdmitScratch) -> V,
    ) -> (Self, Work) {
        let mut table = Self {
            classes: Classes::new(merges),
            values: Vec::new(),
            class_of: Vec::new(),
            holders: FxHashMap::default(),
        };
        let work = table.change(&[], subjects, compute);
        (table, work)
    }

    /// Brings the table up to date after policies changed, came or went. Subjects are those of before, in the same places;
    /// new ones may follow them.
    pub fn change<'o>(
        &mut self,
        changes: &[Change<'_>],
        subjects: &[Subject<'o>],
        mut compute: impl FnMut(Subject<'o>, &mut AdmitScratch) -> V,
    ) -> Work {
        let (mut work, mut scratch) = (Work::default(), AdmitScratch::default());
        let audiences: Vec<&Audience> = changes.iter().flat_map(Change::audiences).collect();
        self.look_at(&audiences, subjects, &mut work);
        let concerned = self.concerned(&audiences, subjects, &mut work);
        for class in concerned {
            let (Some(subject), Some(value)) = (self.first(class, subjects), self.values.get_mut(class)) else {
                continue;
            };
            *value = compute(subject, &mut scratch);
            work.computed += 1;
        }
        for (number, subject) in subjects.iter().enumerate().skip(self.class_of.len()) {
            work.classified += 1;
            let class = self.classes.add(*subject, number);
            self.class_of.push(class);
            if class == self.values.len() {
                let value = compute(*subject, &mut scratch);
                work.computed += 1;
                self.add_class(*subject, value);
            }
        }
        work.looked_at += scratch.looked_at;
        work
    }

    /// Splits classes if audiences look at something that was not looked at so far.
    fn look_at(&mut self, audiences: &[&Audience], subjects: &[Subject<'_>], work: &mut Work) {
        if audiences.iter().all(|audience| self.classes.sees().covers(audience)) {
            return;
        }
        let mut sees: Sees = self.classes.sees().clone();
        for audience in audiences {
            sees.add(audience);
        }
        self.classes = Classes::seeing(sees);
        self.holders.clear();
        let (before, values) = (std::mem::take(&mut self.class_of), std::mem::take(&mut self.values));
        for (number, (subject, old)) in subjects.iter().zip(before).enumerate() {
            work.classified += 1;
            let class = self.classes.add(*subject, number);
            self.class_of.push(class);
            if class == self.values.len()
                && let Some(old) = values.get(old)
            {
                self.add_class(*subject, old.clone());
            }
        }
    }

    fn add_class(&mut self, subject: Subject<'_>, value: V) {
        let class = self.values.len();
        self.values.push(value);
        for need in self.classes.sees().needs_met_by(subject) {
            self.holders.entry(need).or_default().push(class);
        }
    }

    /// The classes that some audience has.
    fn concerned(&self, audiences: &[&Audience], subjects: &[Subject<'_>], work: &mut Work) -> Vec<usize> {
        let mut concerned: Vec<usize> = Vec::new();
        for audience in audiences {
            for class in self.candidates(audience) {
                work.looked_at += 1;
                let first = self.first(class, subjects);
                concerned.extend(first.filter(|subject| parts_of(audience, *subject).is_ok()).map(|_| class));
            }
        }
        concerned.sort_unstable();
        concerned.dedup();
        concerned
    }

    /// The classes that have what an audience needs most, or all if it needs nothing in particular.
    fn candidates(&self, audience: &Audience) -> Vec<usize> {
        let holders = |need: Need| self.holders.get(&need).map_or(&[][..], Vec::as_slice);
        let both = |(need, or): (Need, Option<Need>)| (holders(need), or.map_or(&[][..], holders));
        match needs(audience).map(both).min_by_key(|(first, second)| first.len() + second.len()) {
            Some((first, second)) => first.iter().chain(second).copied().collect(),
            None => (0..self.values.len()).collect(),
        }
    }
}

impl<V> ClassTable<V> {
    /// The first subject of a class.
    fn first<'o>(&self, class: usize, subjects: &[Subject<'o>]) -> Option<Subject<'o>> {
        subjects.get(*self.classes.first(class)?).copied()
    }

    /// The value of a subject, by its place.
    pub fn get(&self, subject: usize) -> Option<&V> {
        self.value(self.class_of(subject)?)
    }

    /// The class of a subject, by its place.
    pub fn class_of(&self, subject: usize) -> Option<usize> {
        self.class_of.get(subject).copied()
    }

    /// The value of a class.
    pub fn value(&self, class: usize) -> Option<&V> {
        self.values.get(class)
    }

    /// The value of a subject that looks like one of the list; `None` if none of them is in its class.
    pub fn find(&self, subject: Subject<'_>) -> Option<&V> {
        self.value(self.classes.find(subject)?)
    }

    /// How many classes there are.
    pub fn len(&self) -> usize {
        self.values.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }
}
