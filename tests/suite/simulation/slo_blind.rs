//! An exporter that is blind for an hour accuses nobody meanwhile; then it judges each pod once, by
//! API times ([§6](crate::specification#s6)). Every pod has a namespace and SLOs of its own, so
//! that the series tell which pod was judged how.

mod deliveries;
mod fate;

use std::time::Duration;

use crate::support::PATIENCE;
use crate::support::slo::JudgedCluster;
use fate::{ACCUSED, Fate, HOUR, Verdicts, slos};
use podinit_sim::ClusterConfig;
use podinit_sim::container::{AppState, KubeletReport};
use podinit_sim::faults::{FaultAnswer, FaultTarget, ReceivedRequest, StreamFault};
use podinit_sim::life::{PodChange, PodManifest};
use podinit_sim::node::CURRENT;
use podinit_sim::status::StatusFailure;
use podinit_slo::Slo;
use tokio::time::timeout;

const SECOND: Duration = Duration::from_secs(1);

struct Blind {
    world: JudgedCluster,
    fates: Vec<Fate>,
}

impl Blind {
    /// The pods that stand before the hour have been seen; one of them has missed a deadline.
    async fn start() -> Self {
        let fates = fate::all();
        let world = JudgedCluster::start(ClusterConfig::manual(), slos(&fates)).await;
        let mut blind = Self { world, fates };
        blind.create(ACCUSED);
        blind.bind(ACCUSED);
        for _ in 0..20 {
            blind.world.step(SECOND).await;
        }
        let standing = blind.fates.iter().filter(|fate| fate.created.is_none());
        for fate in standing.filter(|fate| fate.name != ACCUSED) {
            blind.create(fate.name);
        }
        blind.happen(0);
        blind.world.see().await;
        blind.check("before", Fate::before);
        blind
    }

    fn create(&self, name: &str) {
        let manifest = PodManifest {
            namespace: name.to_owned(),
            name: name.to_owned(),
            uid: name.to_owned(),
            ..PodManifest::default()
        };
        assert!(self.world.cluster.create(manifest));
    }

    fn bind(&self, uid: &str) {
        let (node, stamped) = (CURRENT, true);
        self.apply(uid, &PodChange::Bind { node, stamped });
    }

    fn apply(&self, uid: &str, change: &PodChange) {
        assert!(self.world.cluster.apply(uid, change), "{uid} is gone");
    }

    fn report(&self, uid: &str, app: AppState) {
        let report = KubeletReport { sandbox: true, init_done: 0, app, restarts: 0 };
        self.apply(uid, &PodChange::Report(report));
    }

    /// What happens in one second of the hour.
    fn happen(&self, second: u64) {
        for fate in &self.fates {
            let now = |at: Option<u64>| at == Some(second);
            if now(fate.created) {
                self.create(fate.name);
            }
            if now(fate.bound) {
                self.bind(fate.name);
            }
            if now(fate.network) {
                self.report(fate.name, AppState::Waiting("ContainerCreating"));
            }
            if now(fate.ready) {
                self.report(fate.name, AppState::Running { ready: true });
            }
            if now(fate.removed) {
                self.apply(fate.name, &PodChange::Remove);
            }
        }
    }

    /// An hour without deliveries, in which no pod is judged.
    fn hour(&mut self) {
        for second in 1..=HOUR {
            self.world.step_blind(SECOND);
            self.happen(second);
            // What has been judged stays so.
            if second % 600 == 0 {
                self.check("blind", Fate::before);
            }
        }
    }

    /// Every pod that is known stands towards its SLOs as expected, and has no more than one event
    /// for each.
    fn check(&self, when: &str, expected: impl Fn(&Fate) -> Option<Verdicts>) {
        let known = |slo: &Slo| {
            let mut fates = self.fates.iter();
            let fate = fates.find(|fate| fate.is_of(&slo.rule.name));
            usize::from(expected(fate.unwrap()).is_some())
        };
        let scrape = self.world.scrape(known);
        for fate in &self.fates {
            let (network, ready) = fate.verdicts(&scrape);
            let expected = expected(fate).unwrap_or_default();
            assert_eq!((&*network, &*ready), expected, "{when}: {}", fate.name);
        }
    }

    /// What comes after either hour, which has brought these `verdicts`: the deadlines pass that had
    /// not, and neither another list nor its removal gives a pod another event.
    async fn judged_once(mut self, verdicts: impl Fn(&Fate) -> Option<Verdicts>) {
        for _ in 0..130 {
            self.world.step(SECOND).await;
        }
        let later = |fate: &Fate| verdicts(fate).map(|verdicts| fate.later.unwrap_or(verdicts));
        self.check("later", later);
        self.world.cluster.faults().stream(StreamFault::Gone);
        self.world.pipeline.relisted().await;
        self.world.see().await;
        self.check("listed again", later);
        for fate in self.fates.iter().filter(|fate| fate.removed.is_none()) {
            self.apply(fate.name, &PodChange::Remove);
        }
        self.world.see().await;
        let or_deleted = |verdict: &'static str| match verdict {
            "" => "deleted",
            other => other,
        };
        self.check("removed", |fate| {
            later(fate).map(|(network, ready)| (or_deleted(network), or_deleted(ready)))
        });
        self.world.pipeline.end().await;
    }
}

/// Waits until a request of the kind has been refused.
async fn refused(blind: &Blind, target: FaultTarget, fault: StreamFault) {
    let faults = blind.world.cluster.faults();
    let of_kind = |request: &&ReceivedRequest| request.target == target;
    let before = faults.requests().iter().filter(of_kind).count();
    let busy = StatusFailure::internal("the API server is gone");
    faults.answer(target, u32::MAX, FaultAnswer::Fail(busy));
    faults.stream(fault);
    let asked = faults.requests_until(|all| all.iter().filter(of_kind).count() > before);
    timeout(PATIENCE, asked).await.expect("the client asks");
}

#[tokio::test]
async fn after_an_hour_without_an_api_server_the_list_is_judged_by_api_times() {
    let mut blind = Blind::start().await;
    refused(&blind, FaultTarget::List, StreamFault::Gone).await;
    blind.world.pipeline.blinded().await;
    blind.hour();
    blind.world.cluster.faults().clear();
    blind.world.pipeline.relisted().await;
    blind.check("listed", |fate| fate.listed);
    blind.judged_once(|fate| fate.listed).await;
}

#[tokio::test]
async fn a_watch_that_resumes_after_an_hour_is_judged_by_api_times() {
    let mut blind = Blind::start().await;
    refused(&blind, FaultTarget::Watch, StreamFault::Cut).await;
    blind.world.pipeline.blinded().await;
    blind.hour();
    blind.world.cluster.faults().clear();
    blind.world.pipeline.resumed().await;
    blind.world.see().await;
    for _ in 0..6 {
        blind.world.step(SECOND).await;
    }
    blind.check("caught up", |fate| Some(fate.resumed));
    blind.judged_once(|fate| Some(fate.resumed)).await;
}
