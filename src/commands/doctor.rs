//! `podinit doctor`: checks what `serve` needs, and reports it.

use std::io;
use std::process::ExitCode;

use anyhow::Context;

use super::output::{self, style};
use crate::args::{AuthMode, DoctorArgs, DoctorFormat, ServeArgs};
use podinit_doctor::report::DoctorReport;
use podinit_doctor::{DoctorOptions, report};
use podinit_exporter::process::signals;
use podinit_kube::watch::requests::{PodScope, PodSelectors};

/// Makes all checks and prints the findings: as text one by one, or as JSON at the end. The exit
/// status is that of the worst finding.
///
/// # Errors
/// If it was interrupted, or standard output cannot be written.
pub(super) async fn doctor(args: DoctorArgs) -> anyhow::Result<ExitCode> {
    let shutdown = signals::shutdown().context("cannot listen for signals")?;
    let format = args.output;
    let colour = style().colour;
    let doctor = doctor_of(args);
    let mut report = DoctorReport::default();
    let mut written = Ok(());
    let examined = doctor.examine(|finding| {
        if format == DoctorFormat::Text && written.is_ok() {
            written = print(&report::line(&finding, colour));
        }
        report.findings.push(finding);
    });
    report.complete = shutdown.run_until_cancelled(examined).await.is_some();
    written?;
    print(&match format {
        DoctorFormat::Text => report::summary(&report, colour),
        DoctorFormat::Json => report.to_json()?,
    })?;
    anyhow::ensure!(report.complete, "interrupted before all checks were made");
    Ok(ExitCode::from(report.exit_code()))
}

fn print(text: &str) -> anyhow::Result<()> {
    output::print(text.as_bytes(), &mut io::stdout().lock())
}

fn doctor_of(args: DoctorArgs) -> DoctorOptions {
    let timeout = args.timeout;
    let ServeArgs {
        state_dir,
        // The checks have a timeout of their own.
        connect_timeout: _,
        reconcile_interval: _,
        cluster,
        auth,
        exporter,
    } = args.serve;
    let labels = exporter.labels.config();
    DoctorOptions {
        scopes: PodScope::of_namespaces(&cluster.namespaces.chosen()),
        selectors: PodSelectors { shard: exporter.sharding.shard, ..cluster.selectors.selectors() },
        cluster: cluster.connection.options(),
        decode: labels.decode_options(),
        labels,
        slo: exporter.slo,
        web_config: exporter.web_config,
        state_dir,
        traces: podinit_traces::settings(exporter.otlp.otlp_endpoint.as_ref()),
        tokens: auth.auth == AuthMode::Kubernetes,
        events: exporter.evidence.events(),
        nodes: exporter.evidence.nodes(),
        listen: exporter.listen,
        max_pods: exporter.max_pods.get() as u64,
        timeout,
    }
}
