//! Work that takes long: lists, explanations, audits, searches.

use std::sync::LazyLock;
use std::thread::available_parallelism;

use tokio::sync::Semaphore;
use upheld_engine::work::Work;
use upheld_store::machine::{self, Stopped};

/// Cores are shared by the whole process.
static CORES: LazyLock<Semaphore> = LazyLock::new(|| {
    let cores = available_parallelism().map_or(1, usize::from);
    Semaphore::new(cores.saturating_sub(1).max(1))
});

/// Works where no other request waits for it, and on all cores but one: a core is left to those who ask for decisions. When the asker leaves,
/// the work ends at its next step.
pub(crate) async fn heavy<T: Send + 'static>(part: impl FnOnce() -> T + Send + 'static) -> Result<T, Stopped> {
    // Nobody closes it, so there always is a place in the end. Simulated machines do not share the cores of this one.
    let place = if machine::is_simulated() { None } else { CORES.acquire().await.ok() };
    let waiting = Waiting(Work::default());
    let work = waiting.0.clone();
    let done = machine::aside(move || {
        let _place = place;
        work.during(part).map_err(|_| Stopped)
    });
    done.await?
}

/// An asker that waits for its work.
struct Waiting(Work);

impl Drop for Waiting {
    fn drop(&mut self) {
        self.0.end();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[tokio::test]
    async fn work_goes_on_one_by_one_where_it_must() {
        let all = (0..50_u32).map(|number| tokio::spawn(heavy(move || number * 2)));
        let mut sum = 0;
        for one in all.collect::<Vec<_>>() {
            sum += one.await.unwrap().unwrap();
        }
        assert_eq!(sum, 2450);
        assert!(heavy(|| panic!("stops")).await.is_err(), "what stops is told");
        assert!(heavy(|| ()).await.is_ok(), "and leaves its place");
    }

    #[tokio::test]
    async fn p1_work_ends_when_its_asker_leaves() {
        let (ends, ended) = tokio::sync::oneshot::channel::<()>();
        let endless = heavy(move || {
            let _ends = ends;
            loop {
                upheld_engine::work::step();
            }
        });
        assert!(tokio::time::timeout(Duration::from_millis(20), endless).await.is_err(), "it has no end of its own");
        assert!(ended.await.is_err(), "it ended");
        assert!(heavy(|| ()).await.is_ok(), "and left its place");
    }
}
