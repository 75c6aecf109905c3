//! `podinit capture`: records what `replay` and `report` read.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use anyhow::Context;
use tokio::sync::Mutex;

use crate::args::CaptureArgs;
use podinit_capture::{
    Anonymizer, CaptureConfig, CaptureDestination, CaptureOutput, CapturedStartups,
    DocumentRecorder, OutputConfig, RecorderCounts, StartupCounts,
};
use podinit_exporter::process::signals;
use podinit_kube::cluster::clock::SystemClock;
use podinit_kube::watch::config::ReflectorConfig;
use podinit_kube::watch::probe::probe;
use podinit_kube::watch::requests::PodScope;
use podinit_text::words::count;

/// The deadline of the first request, which finds out whether the cluster can be recorded.
const PROBE_DEADLINE: Duration = Duration::from_secs(10);

/// Records a cluster until a signal, until the chosen duration has passed, or until so many startups have become
/// Ready.
pub(super) async fn capture(args: CaptureArgs) -> anyhow::Result<()> {
    let shutdown = signals::shutdown().context("cannot listen for signals")?;
    let anonymizer = args
        .anonymize
        .then(Anonymizer::with_random_key)
        .transpose()
        .context("cannot read random bytes for --anonymize")?;
    let output = open(&args)?;
    let cluster = podinit_connect::connect(&args.connection.options()).await?;
    let recorder = Arc::new(DocumentRecorder::new(anonymizer));
    let startups = Arc::new(StartupCounts::default());
    let config = CaptureConfig {
        scope: args.namespace.map_or(PodScope::Cluster, PodScope::Namespace),
        selectors: args.selectors.selectors(),
        events: args.evidence.events(),
        nodes: args.evidence.nodes(),
        recorder: Arc::clone(&recorder),
        startups: Arc::clone(&startups),
        reflector: ReflectorConfig::default(),
    };
    let begun = async {
        // A failure is found again, and reported, by the first request.
        let _ = cluster.obtain_credentials().await;
        let (scope, selectors) = (&config.scope, &config.selectors);
        probe(&cluster, scope, selectors, 1, PROBE_DEADLINE).await
    };
    tokio::select! {
        begun = begun => drop(begun?),
        () = shutdown.cancelled() => return Ok(()),
    }
    if let Some(path) = output.path() {
        tracing::info!(file = %path.display(), "recording {}", config.scope);
    }
    let output = Arc::new(Mutex::new(output));
    let ends = async {
        match args.duration {
            Some(duration) => tokio::time::sleep(duration).await,
            None => std::future::pending().await,
        }
    };
    let are_ready = async {
        match args.until_ready {
            Some(count) => startups.until_ready(count.get()).await,
            None => std::future::pending().await,
        }
    };
    let clock = Arc::new(SystemClock);
    let recorded = tokio::select! {
        recorded = podinit_capture::capture(&cluster.client, config, clock, Arc::clone(&output)) => recorded,
        () = shutdown.cancelled() => Ok(()),
        () = ends => Ok(()),
        () = are_ready => Ok(()),
    };
    let mut output = output.lock().await;
    let flushed = output.flush();
    report(recorder.counts());
    recorded.and(flushed).context("cannot write the recording")?;
    tracing::info!("{}", held(startups.now(), &output));
    Ok(())
}

/// What the recording holds: `312 startups, 298 of them Ready, in FILE`.
fn held(startups: CapturedStartups, output: &CaptureOutput) -> String {
    let CapturedStartups { begun, ready } = startups;
    let found = format!("{}, {ready} of them Ready", count(begun, "startup", "startups"));
    let Some(last) = output.path() else {
        return format!("{found}, on standard output");
    };
    let last = last.display();
    match output.files() {
        (0 | 1, 0) => format!("{found}, in {last}"),
        (files, 0) => format!("{found}, in {files} files, the last of them {last}"),
        (files, removed) => format!(
            "{found}; the newest {files} files are kept, the last of them {last}; {removed} older ones were removed, \
             with the startups in them"
        ),
    }
}

/// Says at the end what is not in the recording as the API server sent it.
fn report(counts: RecorderCounts) {
    let RecorderCounts { left_out, repaired } = counts;
    if left_out > 0 {
        tracing::warn!(
            left_out,
            "the recording lacks objects that replay could not read; their pods may seem to be gone"
        );
    }
    if repaired > 0 {
        tracing::warn!(
            repaired,
            "documents had bytes that are not UTF-8; the recording has U+FFFD in their place"
        );
    }
}

/// Begins the first file before anything is asked of a cluster.
fn open(args: &CaptureArgs) -> anyhow::Result<CaptureOutput> {
    let destination = match args.to_standard_output() {
        true => CaptureDestination::StandardOutput,
        false => CaptureDestination::Directory(args.output_dir.clone()),
    };
    let config = OutputConfig {
        destination,
        compress: args.compresses(),
        rotate_bytes: args.rotate_size.get().saturating_mul(1 << 20),
        keep_files: args.keep_files.get(),
    };
    let begun = jiff::Timestamp::now().strftime("podinit-%Y%m%dT%H%M%SZ");
    CaptureOutput::create(config, begun.to_string())
        .with_context(|| cannot_create(&args.output_dir))
}

fn cannot_create(directory: &Path) -> String {
    format!(
        "cannot create a file in {}; choose another directory with --output-dir",
        directory.display()
    )
}
