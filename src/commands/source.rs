//! What knows pods: a recording, a running exporter or a cluster.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use super::UsageError;
use super::reports::{documents, warn_of_clocks};
use crate::args::{ConnectionArgs, Evidence, NodeArgs, PodViewArgs, RecordedArgs, SelectorArgs};
use podinit_connect::options::ServerOptions;
use podinit_core::lifecycle::{TimestampMode, TrackerConfig};
use podinit_decode::DecodeOptions;
use podinit_exporter::slos::ExporterSlos;
use podinit_kube::cluster::api_server_clock::ApiServerClock;
use podinit_kube::cluster::client::ClusterClient;
use podinit_kube::watch::probe::probe;
use podinit_kube::watch::requests::{PodScope, PodSelectors};
use podinit_oncall::api::client::ApiClient;
use podinit_oncall::explain::{ExplainTarget, quoted};
use podinit_oncall::pods::{
    ListedCluster, ListedEvidence, ListedNodes, PodQuestion, RecordingTime, SourcePods,
};
use podinit_recordings::reader::SoFar;
use podinit_recordings::replay::ReplayConfig;
use podinit_slo::SloFile;
use podinit_slo::file::EvidenceSources;
use podinit_text::strangers_text::shown;

/// The deadline of the first request, which finds out whether the pods can be listed.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Whom to ask what, of which pods.
pub(super) struct SourceQuestion<'a> {
    pub question: PodQuestion,
    pub recorded: &'a RecordedArgs,
    pub exporter: Option<ServerOptions>,
    pub connection: &'a ConnectionArgs,
    /// Of a cluster or an exporter; none means all
    pub namespaces: Vec<String>,
    pub selectors: &'a SelectorArgs,
    pub evidence: Evidence,
    pub nodes: &'a NodeArgs,
    /// How the pods of a recording or a cluster are accounted for
    pub tracker: TrackerConfig,
    /// What is decoded of them
    pub decode: DecodeOptions,
}

impl<'a> SourceQuestion<'a> {
    /// What `stuck`, `problems` and `rollouts` ask.
    ///
    /// # Errors
    /// If the SLO file cannot be read.
    pub(super) fn of_look(
        question: PodQuestion,
        recorded: &'a RecordedArgs,
        look: &'a PodViewArgs,
    ) -> anyhow::Result<Self> {
        let evidence = look.evidence(!recorded.files.is_empty());
        Ok(Self {
            question,
            exporter: look.exporter(),
            connection: &look.connection,
            namespaces: look.namespaces.chosen(),
            selectors: &look.selectors,
            evidence,
            nodes: &look.nodes,
            tracker: TrackerConfig {
                timestamps: match recorded.files.is_empty() {
                    true => TimestampMode::Fused,
                    false => recorded.timestamps,
                },
                events: evidence.events(),
                nodes: evidence.nodes(),
                milestones: recorded.milestones.milestones(),
                stuck_after: slos_of(look.slo.as_deref())?.stuck_after,
                ..TrackerConfig::default()
            },
            decode: DecodeOptions::of_records()
                .with_claims()
                .with_milestones(&recorded.milestones.milestones()),
            recorded,
        })
    }
}

/// What knows the pods.
pub(super) enum PodSource<'a> {
    Recording(SourceQuestion<'a>),
    Exporter(SourceQuestion<'a>, Box<ApiClient>),
    Cluster(Box<PolledCluster>),
}

/// A cluster that is looked at once, or again and again.
pub(super) struct PolledCluster {
    cluster: ListedCluster,
    pods: SourcePods,
    warns: bool,
    /// It was said what cannot be listed
    has_warned: bool,
}

impl<'a> PodSource<'a> {
    /// Connects where there is something to connect to.
    ///
    /// # Errors
    /// If there is no such cluster, or its pods cannot be listed, or credentials cannot be read.
    pub(super) async fn open(asked: SourceQuestion<'a>) -> anyhow::Result<Self> {
        if let Some(exporter) = &asked.exporter {
            let exporter = ApiClient::new(exporter).await?;
            return Ok(Self::Exporter(asked, Box::new(exporter)));
        }
        if !asked.recorded.files.is_empty() {
            return Ok(Self::Recording(asked));
        }
        let scopes = PodScope::of_namespaces(&asked.namespaces);
        let selectors = asked.selectors.clone().selectors();
        let (cluster, clock) = connect(asked.connection).await?;
        probe_all(&cluster, &scopes, &selectors).await?;
        let options = asked.nodes.options();
        let evidence = ListedEvidence {
            events: asked.evidence.events(),
            nodes: match &asked.question {
                _ if !asked.evidence.nodes() => ListedNodes::None,
                PodQuestion::Worst(_) => ListedNodes::None,
                PodQuestion::Startup(target) => ListedNodes::OfTarget(target.clone(), options),
                PodQuestion::Stuck(_) | PodQuestion::Problems | PodQuestion::Rollouts(_) => {
                    ListedNodes::All(options)
                }
            },
            decode: asked.decode,
        };
        Ok(Self::Cluster(Box::new(PolledCluster {
            pods: SourcePods::of_cluster(asked.tracker, &asked.question),
            cluster: ListedCluster::new(cluster, clock, scopes, selectors, evidence),
            warns: asked.question.target().is_none(),
            has_warned: false,
        })))
    }

    /// Looks once more, and answers by the pods.
    ///
    /// # Errors
    /// If the recording cannot be read, the exporter gives no answer, or the pods cannot be listed.
    pub(super) async fn answer<T>(
        &mut self,
        answer: impl FnOnce(&mut SourcePods) -> T,
    ) -> anyhow::Result<T> {
        Ok(match self {
            Self::Recording(asked) => {
                let mut pods = recorded(asked)?;
                let answered = answer(&mut pods);
                if let Some(line) = pods.other_instant() {
                    tracing::warn!("{}", shown(&line));
                }
                answered
            }
            Self::Exporter(asked, exporter) => {
                let (namespaces, question) = (&asked.namespaces, &asked.question);
                answer(&mut SourcePods::of_exporter(exporter, namespaces, question).await?)
            }
            Self::Cluster(looked_at) => answer(looked_at.look().await?),
        })
    }

    /// The options by which another command looks at the same.
    pub(super) fn options(&self) -> String {
        match self {
            Self::Recording(SourceQuestion { recorded, .. }) => {
                let files = recorded.files.iter();
                let files =
                    files.map(|file| format!(" --file {}", quoted(&file.display().to_string())));
                let same_moment = recorded.same_moment.then(|| " --same-moment".to_owned());
                let as_of = recorded.as_of.map(|as_of| format!(" --as-of {as_of}"));
                files.chain(same_moment).chain(as_of).collect()
            }
            Self::Exporter(_, exporter) => format!(" --url {}", exporter.url()),
            Self::Cluster(_) => String::new(),
        }
    }

    /// That it has no startup of `target`, and what to do.
    pub(super) fn unknown(&self, target: &ExplainTarget) -> String {
        match self {
            Self::Recording(_) => format!(
                "the recording has no startup of {target}; name the namespace with --namespace, and the pod \
                 as `kubectl get pods` does"
            ),
            Self::Exporter(_, exporter) => {
                let namespace = match &target.namespace {
                    Some(_) => "check the name and --namespace",
                    None => "name the namespace with --namespace, and check the name",
                };
                format!(
                    "the exporter at {} knows no startup of {target}; {namespace}; it forgets old startups, \
                     and has not seen those before it began",
                    exporter.url()
                )
            }
            Self::Cluster(looked_at) => format!(
                "the cluster at {} has no {target}; check the name, --namespace and the selectors",
                looked_at.cluster.cluster.server
            ),
        }
    }
}

/// Reads the recording to its end, to be answered as of its instant, and warns of the clocks that are ahead of it.
fn recorded(asked: &SourceQuestion<'_>) -> anyhow::Result<SourcePods> {
    let so_far = SoFar::default();
    let RecordedArgs { files, same_moment, as_of, .. } = asked.recorded;
    let (tracker, same_moment) = (asked.tracker.clone(), *same_moment);
    let config = ReplayConfig { tracker, same_moment, ..ReplayConfig::default() };
    let documents = documents(files, asked.decode.clone(), &so_far);
    let mut pods = SourcePods::of_recording(documents, config, &asked.question)?;
    pods.clocks_ahead = so_far.clocks_ahead();
    warn_of_clocks(&pods.clocks_ahead);
    let making =
        RecordingTime { asked: as_of.map(|as_of| as_of.0), now: so_far.now(), made: so_far.made() };
    pods.answer_as_of(making).map_err(|why| match why.is_misuse() {
        true => UsageError(why.to_string()).into(),
        false => anyhow::Error::from(why),
    })?;
    Ok(pods)
}

impl PolledCluster {
    /// Looks once more. Returns what all looks have shown.
    async fn look(&mut self) -> anyhow::Result<&mut SourcePods> {
        let listed = self.cluster.list().await?;
        for unlisted in listed.unlisted.iter().filter(|_| self.warns && !self.has_warned) {
            tracing::warn!("{}", shown(&unlisted.to_string()));
        }
        self.has_warned |= !listed.unlisted.is_empty();
        self.pods.add(listed);
        Ok(&mut self.pods)
    }
}

/// Connects to the cluster. The clock is the API server's, which its answers set right.
///
/// # Errors
/// If there is no such cluster.
pub(super) async fn connect(
    connection: &ConnectionArgs,
) -> anyhow::Result<(ClusterClient, Arc<ApiServerClock>)> {
    let clock = Arc::new(ApiServerClock::from_machine());
    let cluster = podinit_connect::connect(&connection.clone().options()).await?;
    let cluster = cluster.observing_dates(Arc::clone(&clock));
    // A failure is found again, and reported, by the first request.
    let _ = cluster.obtain_credentials().await;
    Ok((cluster, clock))
}

/// Finds out whether the pods of each scope can be listed.
///
/// # Errors
/// If those of one cannot.
pub(super) async fn probe_all(
    cluster: &ClusterClient,
    scopes: &[PodScope],
    selectors: &PodSelectors,
) -> anyhow::Result<()> {
    for scope in scopes {
        probe(cluster, scope, selectors, 1, PROBE_DEADLINE).await?;
    }
    Ok(())
}

/// The SLOs of a file, or those of podinit, for commands that count no events.
///
/// # Errors
/// If the file cannot be read.
pub(super) fn slos_of(file: Option<&Path>) -> anyhow::Result<ExporterSlos> {
    Ok(match file {
        Some(file) => ExporterSlos::from(&SloFile::read(file, EvidenceSources::ALL)?),
        None => ExporterSlos::from(&SloFile::built_in()),
    })
}
