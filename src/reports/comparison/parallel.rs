//! Work that is done on all cores.

use std::num::NonZero;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;

/// What `work` gives for each of the `jobs`, in their order.
pub(super) fn in_parallel<J: Sync, T: Send>(jobs: &[J], work: impl Fn(&J) -> T + Sync) -> Vec<T> {
    let next = AtomicUsize::new(0);
    let worker = || {
        // Relaxed: no other memory is published with the number of a job.
        let numbers = std::iter::repeat_with(|| next.fetch_add(1, Ordering::Relaxed));
        let own = numbers.map_while(|number| Some((number, work(jobs.get(number)?))));
        own.collect::<Vec<_>>()
    };
    let cores = thread::available_parallelism().map_or(1, NonZero::get);
    let mut done = thread::scope(|scope| {
        let workers: Vec<_> = (1..cores.min(jobs.len()))
            .map(|_| scope.spawn(worker))
            .collect();
        let mut done = worker();
        for worker in workers {
            match worker.join() {
                Ok(own) => done.extend(own),
                Err(panic) => std::panic::resume_unwind(panic),
            }
        }
        done
    });
    done.sort_by_key(|(number, _)| *number);
    done.into_iter().map(|(_, found)| found).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_stand_in_the_order_of_the_jobs() {
        let jobs: Vec<u32> = (0..1_000).collect();
        assert_eq!(
            in_parallel(&jobs, |job| job * 2),
            jobs.iter().map(|job| job * 2).collect::<Vec<_>>()
        );
        assert!(in_parallel(&[], |job: &u32| *job).is_empty());
    }
}
