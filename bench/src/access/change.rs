//! One policy written among many: what that takes, however many there are.

use std::hint::black_box;
use std::sync::Arc;
use std::time::{Duration, Instant};

use upheld_dialects::access::Edition;
use upheld_dialects::access::claim::Claim;
use upheld_dialects::access::policy_set::{PolicySet, PolicySetBuilder, Withdrawn};
use upheld_dialects::access::shapes::Fields;
use upheld_engine::decide::{Algorithm, Decide, Effect, Rule, RuleChange};
use upheld_loader::{Format, Input, read};
use upheld_model::{Diagnostics, Files, SourceId};

use super::ours::{Ours, rule};
use super::workload::{Policy, Workload};
use super::{Decider, Plan};
use crate::measure::{median, timed};
use crate::report::{self, Targets, grouped, ratio, row, time};
use crate::server::documents::document;

/// Writes of a round, one after the other; what is put aside for later is in it.
pub(super) const WRITES: usize = 200;

/// The sizes whose growth is judged.
const GROWTH: [usize; 2] = [1_000, 10_000];

/// What one write takes.
#[derive(Debug)]
struct Found {
    policies: usize,
    /// A policy that says something else, one that is new, and one that goes.
    index: [Duration; 3],
    /// A document that says something else: read, and put among the others.
    set: Duration,
    /// All policies indexed anew.
    anew: Duration,
}

/// Measures and prints; returns how many answers were wrong.
pub(super) fn run(plan: &Plan, targets: &mut Targets) -> Result<usize, String> {
    let (mut found, mut wrong) = (Vec::new(), 0);
    for &policies in plan.sizes.iter().filter(|policies| **policies >= 1_000) {
        report::progress(&format!("writing one policy among {}", grouped(policies)));
        let workload = Workload::new(policies, plan.requests);
        found.push(measure(plan, &workload)?);
        wrong += check(&workload)?;
    }
    report::heading("One policy written");
    row("", found.iter().map(|found| format!("N = {}", grouped(found.policies))));
    for (place, name) in ["another one in its place", "a new one", "one taken away"].into_iter().enumerate() {
        row(name, found.iter().map(|found| found.index.get(place).copied().map_or_else(String::new, time)));
    }
    row("a document in the place of another one", found.iter().map(|found| time(found.set)));
    row("all policies indexed anew", found.iter().map(|found| time(found.anew)));
    let at = |policies: usize| found.iter().find(|found| found.policies == policies);
    if let [Some(few), Some(many)] = GROWTH.map(at) {
        let index = ratio(many.index.iter().sum(), few.index.iter().sum());
        targets.at_most("growth of the time of a change of the index, N = 10 000 / N = 1 000", index, 1.5);
        let set = ratio(many.set, few.set);
        targets.at_most("growth of the time of a written document, N = 10 000 / N = 1 000", set, 1.5);
    }
    Ok(wrong)
}

fn measure(plan: &Plan, workload: &Workload) -> Result<Found, String> {
    let Workload { policies, .. } = workload;
    let (mut times, mut sets, mut all) = ([const { Vec::new() }; 3], Vec::new(), Vec::new());
    let mut writer = Writer::new(policies)?;
    let mut documents = Documents::new(policies)?;
    for _ in 0..plan.rounds {
        let one = |act: &mut dyn FnMut(usize) -> Result<(), String>| {
            let (done, spent) = timed(|| (0..WRITES).try_for_each(&mut *act));
            done.map(|()| spent / u32::try_from(WRITES).unwrap_or(1))
        };
        let [replaced, added, removed] = &mut times;
        replaced.push(one(&mut |number| writer.replace(number))?);
        added.push(one(&mut |number| writer.add(number))?);
        removed.push(one(&mut |number| writer.remove(number))?);
        sets.push(documents.write(policies)?);
        all.push(timed(|| black_box(writer.ours.index())).1);
    }
    Ok(Found { policies: policies.len(), index: times.map(median), set: median(sets), anew: median(all) })
}

/// Writes policies into our engine, one after the other.
pub(super) struct Writer<'p> {
    policies: &'p [Policy],
    pub(super) ours: Ours,
    added: Vec<Arc<Rule>>,
    next: u32,
}

impl<'p> Writer<'p> {
    pub(super) fn new(policies: &'p [Policy]) -> Result<Self, String> {
        let next = u32::try_from(policies.len()).map_err(|error| error.to_string())?;
        Ok(Self { policies, ours: Ours::new(policies)?, added: Vec::new(), next })
    }

    /// Writes another policy in the place of one.
    pub(super) fn replace(&mut self, number: usize) -> Result<(), String> {
        let gone = self.ours.decide.rules().get(number * 7919 % self.policies.len()).cloned().ok_or("no policy")?;
        let came = Arc::new(rule(self.policy(number)?, gone.at.node)?);
        self.change(&[RuleChange::Removed(gone), RuleChange::Added(came)])
    }

    /// Writes a new policy, somewhere in the order of evaluation.
    fn add(&mut self, number: usize) -> Result<(), String> {
        self.next += 1;
        let priority = if number.is_multiple_of(2) { 1.0 } else { -1.0 };
        let came = Arc::new(Rule { priority, ..rule(self.policy(number)?, self.next)? });
        self.added.push(Arc::clone(&came));
        self.change(&[RuleChange::Added(came)])
    }

    /// Takes a policy away that was new.
    fn remove(&mut self, _: usize) -> Result<(), String> {
        let gone = self.added.pop().ok_or("no new policy")?;
        self.change(&[RuleChange::Removed(gone)])
    }

    fn policy(&self, number: usize) -> Result<&'p Policy, String> {
        self.policies.get(number * 104_729 % self.policies.len()).ok_or_else(|| "no policy".to_owned())
    }

    fn change(&mut self, changes: &[RuleChange]) -> Result<(), String> {
        let changed: Option<Decide> = self.ours.decide.with_changes(changes, |at| at);
        self.ours.decide = changed.ok_or("the policy is not there")?;
        Ok(())
    }
}

/// Policies as documents of a store, and what they come to.
struct Documents {
    files: Files,
    set: PolicySet,
}

impl Documents {
    fn new(policies: &[Policy]) -> Result<Self, String> {
        let stored = policies.iter().enumerate().map(|(place, policy)| input(place, document(policy)));
        let (files, _) = read(stored.collect());
        let mut builder = builder(&files);
        let mut found = Diagnostics::default();
        for (source, file) in files.iter() {
            for document in file.tree.documents() {
                builder.document(source, document, Claim::Policy, &mut found);
            }
        }
        if found.errors() > 0 {
            return Err(format!("{:?}", found.as_slice().first()));
        }
        let set = builder.finish();
        Ok(Self { files, set })
    }

    /// Writes policies in the place of others; the time of one. Files are left out of it.
    fn write(&mut self, policies: &[Policy]) -> Result<Duration, String> {
        let mut spent = Duration::ZERO;
        for number in 0..WRITES {
            let (place, other) = (number * 7919 % policies.len(), number * 104_729 % policies.len());
            let (own, other) = policies.get(place).zip(policies.get(other)).ok_or("no policy")?;
            let text = document(&Policy { id: own.id.clone(), ..other.clone() });
            let source = SourceId::new(place);
            let (parsed, _) = upheld_syntax::parse(format!("store:{place}"), Format::Json, text, source);
            let mut files = self.files.clone();
            files.put(source, Some(parsed));
            let [gone, came] = [&self.files, &files].map(|files| files.get(source)?.tree.documents().next());
            let (gone, came) = gone.zip(came).ok_or("no document")?;

            let started = Instant::now();
            let (mut withdrawn, mut builder) = (Withdrawn::default(), builder(&files));
            withdrawn.document(source, gone, Claim::Policy);
            builder.document(source, came, Claim::Policy, &mut Diagnostics::default());
            let set = self.set.after(&withdrawn, builder, &self.files).ok_or("all must be read")?;
            spent += started.elapsed();
            *self = Self { files, set };
        }
        Ok(spent / u32::try_from(WRITES).unwrap_or(1))
    }
}

fn input(place: usize, text: String) -> Input {
    Input::text(format!("store:{place}"), Format::Json, text)
}

fn builder(files: &Files) -> PolicySetBuilder<'_> {
    PolicySetBuilder::new(files, Edition::Strict, Fields::default(), Algorithm::DenyOverrides, Effect::Deny)
}

/// Policies that were written one after the other decide as the same policies that are loaded at once.
fn check(workload: &Workload) -> Result<usize, String> {
    let mut writer = Writer::new(&workload.policies)?;
    (0..WRITES).try_for_each(|number| writer.replace(number))?;
    (0..WRITES).try_for_each(|number| writer.add(number))?;
    (0..WRITES / 2).try_for_each(|number| writer.remove(number))?;
    let mut anew = Ours::of(writer.ours.decide.rules().iter().cloned());
    let differs = |request: &&super::Request| {
        (writer.ours.decide(request), writer.ours.matching(request)) != (anew.decide(request), anew.matching(request))
    };
    Ok(workload.requests.iter().filter(differs).count())
}
