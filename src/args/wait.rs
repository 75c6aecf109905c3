//! The options of `wait`.

use std::num::NonZeroUsize;
use std::time::Duration;

use clap::{Args, ValueEnum};

use super::cluster::{ConnectionArgs, parse_namespace};
use super::exporter::parse_duration_above_zero;
use super::logging::LogArgs;
use podinit_wait::WaitTarget;

/// The command.
pub(super) const NAME: &str = "wait";

/// `podinit wait`
#[derive(Args, Clone, Debug)]
#[command(after_help = "\
Examples:
  podinit wait deployment/web
  podinit wait -n shop sts/db ds/log job/migrate --timeout 15m
  podinit wait deploy/web --fail-after never
  podinit wait -l app=web --pods 5
  podinit wait job/migrate --until-created -o markdown >> \"$GITHUB_STEP_SUMMARY\"

A Deployment, StatefulSet or DaemonSet is done when `kubectl rollout status` says so and no container of the new
revision crashed in the last 10 s. A Job is done when it is complete, and a pod when it is ready or has succeeded. With
--label-selector, pods that are ready at the start count: nothing says that a new revision is to come. What was started
is not undone.

Exit status: 0 all are done, 3 one has failed, 4 the time is over, 130 interrupted; 1 failure, 2 usage error")]
#[command(mut_arg("log_level", |level| level.default_value("warn")))]
pub struct WaitArgs {
    /// What to wait for, such as deployment/web: a deployment, statefulset, daemonset, replicaset, job or pod, and its
    /// name. The short names of kubectl work too (deploy, sts, ds, rs, po)
    #[arg(value_name = "KIND/NAME", required_unless_present = "label_selector")]
    pub targets: Vec<WaitTarget>,

    /// Namespace [default: that of the context, else default]
    #[arg(long, short = 'n', value_name = "NAME", value_parser = parse_namespace)]
    namespace: Option<String>,

    /// Wait for pods that match this label selector, whatever made them; with --pods
    #[arg(
        long,
        short = 'l',
        value_name = "SELECTOR",
        conflicts_with = "targets",
        requires = "pods"
    )]
    label_selector: Option<String>,

    /// How many pods with --label-selector have to be ready
    #[arg(long, value_name = "NUMBER", requires = "label_selector")]
    pods: Option<NonZeroUsize>,

    /// How long to wait for all of it, such as 90s or 1h
    #[arg(long, value_name = "TIME", default_value = "10m", value_parser = parse_duration_above_zero)]
    pub timeout: Duration,

    /// Give up once no pod has become ready, and something has failed, for this time: an image, a crash, a quota, no node
    /// to come. Or never
    #[arg(long, value_name = "TIME", default_value = "2m", value_parser = parse_fail_after)]
    fail_after: FailAfter,

    /// Wait also for an object that is not there yet
    #[arg(long)]
    pub until_created: bool,

    #[command(flatten)]
    pub connection: ConnectionArgs,

    /// Format of the answer on standard output. What happens meanwhile goes to standard error
    #[arg(long, short = 'o', value_name = "FORMAT", default_value = "text")]
    pub output: WaitFormat,

    /// What is logged
    #[command(flatten)]
    pub log: LogArgs,
}

/// After how long something that fails is given up; `None` is never.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct FailAfter(Option<Duration>);

/// The format in which `wait` prints its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum WaitFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For a summary of a CI job
    Markdown,
}

impl WaitArgs {
    /// What to wait for.
    pub fn targets(&self) -> Vec<WaitTarget> {
        let selected = self.label_selector.clone().zip(self.pods);
        let selected =
            selected.map(|(selector, pods)| WaitTarget::Selected { selector, pods: pods.get() });
        let mut targets: Vec<WaitTarget> = Vec::new();
        for target in self.targets.iter().cloned().chain(selected) {
            if !targets.contains(&target) {
                targets.push(target);
            }
        }
        targets
    }

    /// The namespace, if one is named.
    pub fn namespace(&self) -> Option<&str> {
        self.namespace.as_deref().filter(|name| !name.is_empty())
    }

    /// After how long something that fails is given up.
    pub const fn fail_after(&self) -> Option<Duration> {
        self.fail_after.0
    }
}

fn parse_fail_after(text: &str) -> Result<FailAfter, String> {
    match text {
        "never" => Ok(FailAfter(None)),
        text => {
            let after = parse_duration_above_zero(text);
            after.map(|after| FailAfter(Some(after))).map_err(|why| format!("{why}, or never"))
        }
    }
}
