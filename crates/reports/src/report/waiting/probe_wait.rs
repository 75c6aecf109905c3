//! How much sooner the containers of a pod could have been found ready at most, had they been probed every second.

use podinit_core::pod::{ContainerProbe, ContainerProbes};

use podinit_recordings::probes::PRECISION;

/// Seconds that a probe every second, without a delay, could have saved at most, where the step `probe` took `taken`
/// seconds ([§8.13](crate::specification#s8-13)).
///
/// Which container was the last is not known, so it is the most of all. `None` is a pod without probes.
pub(super) fn at_most(probes: Option<&[ContainerProbes]>, taken: f64) -> f64 {
    let containers = probes.unwrap_or_default().iter();
    containers.map(|container| of_container(container, taken)).fold(0.0, f64::max)
}

/// Until its startup probe has succeeded, a container is not probed for readiness, and then it is at once. So the
/// longer wait of both decides, not their sum: what is ready when the startup probe succeeds waited for that alone, and
/// what is ready later for the readiness probe alone. Only repeated successes come on top.
fn of_container(ContainerProbes { startup, readiness, .. }: &ContainerProbes, taken: f64) -> f64 {
    let repeats = readiness.map_or(0, |probe| probe.success_threshold.saturating_sub(1));
    let period = readiness.map_or(1, |probe| probe.period.max(1));
    let repeated = f64::from(repeats) * f64::from(period);
    let first = [startup, readiness].into_iter().flatten();
    let first = first.map(|probe| of_first_success(*probe, taken - repeated));
    // Each repetition would still take a second.
    first.fold(0.0, f64::max) + f64::from(repeats) * f64::from(period - 1)
}

/// A probe that has failed before runs again a period later, and every second finds the container a second after the
/// failure at the soonest. A probe that succeeds at its first run may have come too late by the delay as well.
fn of_first_success(probe: ContainerProbe, taken: f64) -> f64 {
    let (delay, period) = (f64::from(probe.initial_delay), f64::from(probe.period.max(1)));
    let may_be_first_run = taken <= delay + period + PRECISION;
    period - 1.0 + if may_be_first_run { delay } else { 0.0 }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn probe(initial_delay: u32, period: u32) -> Option<ContainerProbe> {
        Some(ContainerProbe { initial_delay, period, ..ContainerProbe::default() })
    }

    fn saved(
        startup: Option<ContainerProbe>,
        readiness: Option<ContainerProbe>,
        taken: f64,
    ) -> f64 {
        let container =
            ContainerProbes { container: "app".into(), startup, readiness, liveness: None };
        at_most(Some(&[container]), taken)
    }

    #[test]
    fn a_delay_counts_where_the_first_run_may_have_succeeded() {
        assert_eq!(saved(None, probe(20, 10), 24.0), 29.0);
        // The first run is at 30 s at the latest, and a second is the precision.
        assert_eq!(saved(None, probe(20, 10), 31.0), 29.0);
        assert_eq!(saved(None, probe(20, 10), 31.5), 9.0);
    }

    #[test]
    fn what_is_probed_every_second_saves_nothing() {
        assert_eq!(saved(None, probe(0, 1), 8.0), 0.0);
        assert_eq!(saved(probe(0, 1), probe(0, 1), 8.0), 0.0);
        assert_eq!(at_most(None, 8.0), 0.0);
        let liveness = ContainerProbes {
            container: "app".into(),
            startup: None,
            readiness: None,
            liveness: probe(30, 10),
        };
        assert_eq!(at_most(Some(&[liveness]), 8.0), 0.0);
    }

    #[test]
    fn the_longer_wait_of_startup_and_readiness_decides() {
        assert_eq!(saved(probe(0, 10), probe(0, 5), 60.0), 9.0);
        assert_eq!(saved(probe(0, 5), probe(0, 10), 60.0), 9.0);
        assert_eq!(saved(probe(30, 10), probe(0, 5), 35.0), 39.0);
        assert_eq!(saved(probe(0, 5), None, 60.0), 4.0);
    }

    #[test]
    fn repeated_successes_come_on_top() {
        let thrice = probe(0, 5).map(|probe| ContainerProbe { success_threshold: 3, ..probe });
        assert_eq!(saved(None, thrice, 60.0), 12.0);
        let late = probe(20, 5).map(|probe| ContainerProbe { success_threshold: 3, ..probe });
        // The first success was at 26 s, the last one ten seconds later.
        assert_eq!(saved(None, late, 36.0), 32.0);
        assert_eq!(saved(None, late, 36.5), 12.0);
    }

    #[test]
    fn of_several_containers_the_most_counts() {
        let of = |readiness| ContainerProbes {
            container: "app".into(),
            startup: None,
            readiness,
            liveness: None,
        };
        assert_eq!(at_most(Some(&[of(probe(0, 2)), of(probe(0, 10)), of(None)]), 60.0), 9.0);
    }
}
