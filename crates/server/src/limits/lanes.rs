//! Threads for work that takes long: few, shared by all servers of a process, and each caller in their turn.
//!
//! There are two lanes, so that an analysis never takes the place of a short question. In each, callers take turns: the first question of one
//! goes before the second of another. As long as a lane has several places, one is kept from whoever has the others.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, LazyLock, Mutex, MutexGuard, PoisonError};
use std::thread::available_parallelism;

use tokio::sync::oneshot;

use super::asking::Asker;

/// How long an answer takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Length {
    /// As long as one question, or a page of a list.
    Short,
    /// As long as everything that there is.
    Long,
}

/// Both lanes of this process: cores are shared by all of it.
static LANES: LazyLock<[Arc<Lane>; 2]> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    // A core is left to those who ask for decisions. Short questions have two places at least, so that nobody has all of them.
    [Lane::new(cores.max(2)), Lane::new(cores.saturating_sub(1).max(1))]
});

/// Questions that wait in a lane, of all and of one caller. Each holds its body, and a place in its room besides.
const WAITING: usize = 512;
const WAITING_OF_ONE: usize = WAITING / 2;

impl Length {
    /// All, in the order of their places.
    pub(crate) const ALL: [Self; 2] = [Self::Short, Self::Long];

    /// As labels have it.
    pub(crate) fn word(self) -> &'static str {
        match self {
            Self::Short => "short",
            Self::Long => "long",
        }
    }

    /// The lane of what takes so long.
    pub(super) fn lane(self) -> &'static Arc<Lane> {
        let [short, long] = &*LANES;
        match self {
            Self::Short => short,
            Self::Long => long,
        }
    }
}

/// Places to work, and those who wait for one.
#[derive(Debug)]
pub(super) struct Lane {
    /// How many places one caller may have.
    most_of_one: usize,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// How many places each caller has.
    working: HashMap<Asker, usize>,
    waiting: usize,
    /// Callers who wait, in their turn, with what they wait for.
    turns: VecDeque<(Asker, VecDeque<oneshot::Sender<Turn>>)>,
}

/// A place to work in; it is free again when this is gone.
#[derive(Debug)]
pub(super) struct Turn(Option<(Arc<Lane>, Asker)>);

/// There are so many in line that nobody else can be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Full;

impl Lane {
    /// With so many places.
    fn new(places: usize) -> Arc<Self> {
        let state = State { free: places, working: HashMap::new(), waiting: 0, turns: VecDeque::new() };
        Arc::new(Self { most_of_one: places.saturating_sub(1).max(1), state: Mutex::new(state) })
    }

    /// A place for a caller, once it is their turn.
    pub(super) async fn enter(self: &Arc<Self>, asker: &Asker) -> Result<Turn, Full> {
        let (gives, given) = oneshot::channel();
        self.line_up(asker, gives)?;
        self.call();
        // The lane is there as long as somebody waits, so an answer comes.
        given.await.map_err(|_| Full)
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn line_up(&self, asker: &Asker, gives: oneshot::Sender<Turn>) -> Result<(), Full> {
        let mut state = self.state();
        if state.waiting >= WAITING {
            state.forget_those_who_left();
        }
        let State { waiting, turns, .. } = &mut *state;
        let own = turns.iter_mut().find(|(known, _)| known == asker);
        let waits = own.as_ref().map_or(0, |(_, line)| line.len());
        if *waiting >= WAITING || waits >= WAITING_OF_ONE {
            return Err(Full);
        }
        *waiting += 1;
        match own {
            Some((_, line)) => line.push_back(gives),
            None => turns.push_back((asker.clone(), VecDeque::from([gives]))),
        }
        Ok(())
    }

    /// Gives free places to those whose turn it is.
    fn call(self: &Arc<Self>) {
        while let Some((asker, gives)) = self.next() {
            // Who has left in the meantime gives it back, when nobody holds the lock.
            drop(gives.send(Turn(Some((Arc::clone(self), asker)))));
        }
    }

    /// Takes a free place for whoever is next.
    fn next(&self) -> Option<(Asker, oneshot::Sender<Turn>)> {
        let mut state = self.state();
        let State { free, working, waiting, turns } = &mut *state;
        let mut seen = 0;
        while *free > 0 && seen < turns.len() {
            let Some((asker, mut line)) = turns.pop_front() else { break };
            if working.get(&asker).is_some_and(|places| *places >= self.most_of_one) {
                turns.push_back((asker, line));
                seen += 1;
                continue;
            }
            let next = std::iter::from_fn(|| line.pop_front().inspect(|_| *waiting -= 1));
            let next = next.into_iter().find(|gives| !gives.is_closed());
            if !line.is_empty() {
                turns.push_back((asker.clone(), line));
            }
            if let Some(gives) = next {
                *free -= 1;
                *working.entry(asker.clone()).or_default() += 1;
                return Some((asker, gives));
            }
        }
        None
    }

    fn leave(self: &Arc<Self>, asker: &Asker) {
        {
            let mut state = self.state();
            state.free += 1;
            if let Some(places) = state.working.get_mut(asker) {
                *places -= 1;
                if *places == 0 {
                    state.working.remove(asker);
                }
            }
        }
        self.call();
    }
}

impl State {
    fn forget_those_who_left(&mut self) {
        for (_, line) in &mut self.turns {
            line.retain(|gives| !gives.is_closed());
        }
        self.turns.retain(|(_, line)| !line.is_empty());
        self.waiting = self.turns.iter().map(|(_, line)| line.len()).sum();
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        if let Some((lane, asker)) = self.0.take() {
            lane.leave(&asker);
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;
    use futures::future::BoxFuture;

    use super::*;

    fn asker(number: u8) -> Asker {
        Asker::Network([number; 16])
    }

    /// Whoever asks waits, until they are looked at again.
    fn waits(lane: &Arc<Lane>, number: u8) -> BoxFuture<'static, Result<Turn, Full>> {
        let (lane, asker) = (Arc::clone(lane), asker(number));
        let mut waiting = async move { lane.enter(&asker).await }.boxed();
        assert!((&mut waiting).now_or_never().is_none());
        waiting
    }

    fn has_it(waiting: &mut BoxFuture<'static, Result<Turn, Full>>) -> Option<Turn> {
        waiting.now_or_never().map(|entered| entered.unwrap())
    }

    #[test]
    fn s11_callers_take_turns() {
        let lane = Lane::new(1);
        let mut turn = lane.enter(&asker(1)).now_or_never().unwrap().unwrap();
        let mut many: Vec<_> = (0..8).map(|_| waits(&lane, 1)).collect();
        let mut few = [waits(&lane, 2), waits(&lane, 3)];
        let mut order = Vec::new();
        for _ in 0..10 {
            drop(turn);
            let mut next =
                many.iter_mut().map(|one| (1, one)).chain(few.iter_mut().zip([2, 3]).map(|(one, who)| (who, one)));
            let (who, entered) = next.find_map(|(who, one)| Some((who, has_it(one)?))).unwrap();
            order.push(who);
            turn = entered;
            match who {
                1 => drop(many.remove(0)),
                other => few[other - 2] = futures::future::pending().boxed(),
            }
        }
        assert_eq!(order, [1, 2, 3, 1, 1, 1, 1, 1, 1, 1]);
    }

    #[test]
    fn s11_one_caller_does_not_have_all_places() {
        let lane = Lane::new(3);
        let held: Vec<_> = (0..2).map(|_| lane.enter(&asker(1)).now_or_never().unwrap().unwrap()).collect();
        let mut third = waits(&lane, 1);
        let other = lane.enter(&asker(2)).now_or_never().unwrap().unwrap();
        drop(other);
        assert!(has_it(&mut third).is_none());
        drop(held);
        let held = has_it(&mut third);
        assert!(held.is_some());
        let state = lane.state();
        assert_eq!((state.free, state.working.len(), state.waiting), (2, 1, 0));
    }

    #[test]
    fn who_leaves_the_line_keeps_nobody_waiting() {
        let lane = Lane::new(1);
        let turn = lane.enter(&asker(1)).now_or_never().unwrap().unwrap();
        let (gone, mut stays) = (waits(&lane, 2), waits(&lane, 2));
        drop(gone);
        drop(turn);
        assert!(has_it(&mut stays).is_some());
        drop(stays);
        assert!(lane.enter(&asker(3)).now_or_never().is_some());
    }

    #[test]
    fn the_line_has_an_end() {
        let lane = Lane::new(1);
        let turn = lane.enter(&asker(0)).now_or_never().unwrap().unwrap();
        let own: Vec<_> = (0..WAITING_OF_ONE).map(|_| waits(&lane, 1)).collect();
        assert_eq!(lane.enter(&asker(1)).now_or_never().unwrap().unwrap_err(), Full, "of one caller");
        let others: Vec<_> = (0..WAITING_OF_ONE).map(|_| waits(&lane, 2)).collect();
        assert_eq!(lane.enter(&asker(3)).now_or_never().unwrap().unwrap_err(), Full, "of all");
        drop(own);
        let last = waits(&lane, 3);
        drop((others, turn, last));
        assert_eq!(lane.state().free, 1);
    }
}
