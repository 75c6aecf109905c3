//! The report as CSV (RFC 4180): a row for each pod. Docs: `docs/reports.md`.

use super::pods::ReportedPod;
use super::rows;
use podinit_core::lifecycle::{
    Interval, Latency, Milestone, NetworkTime, Outcome, Progress, Record, RecordedImage,
    StartupCapacity, StartupImages,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::PodUid;
use podinit_core::timestamp::Timestamp;
use podinit_decode::rfc3339;

/// A column: its name, and its value for a pod, empty where that is unknown.
type Column = (String, Box<dyn Fn(&ReportedPod) -> String>);

/// The milestones in the order in which most pods reach them.
const MILESTONES: [(Milestone, &str); Milestone::ALL.len()] = [
    (Milestone::Created, "created"),
    (Milestone::Ungated, "ungated"),
    (Milestone::Scheduled, "scheduled"),
    (Milestone::Acknowledged, "acknowledged"),
    (Milestone::NetworkReady, "network_ready"),
    (Milestone::Initialized, "initialized"),
    (Milestone::ContainersStarted, "containers_started"),
    (Milestone::ContainersReady, "containers_ready"),
    (Milestone::Ready, "ready"),
];

/// The names of the columns, in their order.
pub fn columns() -> Vec<String> {
    all_columns().into_iter().map(|(name, _)| name).collect()
}

/// Writes the head and a row for each pod.
pub(super) fn render(pods: &[ReportedPod]) -> Result<Vec<u8>, csv::Error> {
    let mut writer = csv::WriterBuilder::new()
        .terminator(csv::Terminator::CRLF)
        .from_writer(Vec::new());
    let columns = all_columns();
    writer.write_record(columns.iter().map(|(name, _)| name))?;
    for pod in pods {
        writer.write_record(columns.iter().map(|(_, value)| value(pod)))?;
    }
    writer
        .into_inner()
        .map_err(|error| error.into_error().into())
}

fn all_columns() -> Vec<Column> {
    let mut columns = names();
    columns.extend(progress());
    columns.extend(MILESTONES.map(|(milestone, name)| {
        column(name, move |pod| {
            let record = pod.record.as_ref();
            time(record.and_then(|record| reached(record, milestone)))
        })
    }));
    columns.push(column("network_time", |pod| {
        let record = pod.record.as_ref();
        let certainty = record.and_then(|record| record.network_time);
        certainty.map_or("", network_time).to_owned()
    }));
    columns.extend(rows().map(|interval| {
        column(&format!("{}_seconds", interval.as_str()), move |pod| {
            let record = pod.record.as_ref();
            duration(record, interval).map_or_else(String::new, seconds)
        })
    }));
    columns.push(column("unschedulable_capacity", |pod| {
        let record = pod.record.as_ref();
        let known = record.and_then(|record| record.unschedulable.as_ref());
        known.map_or("", |known| known.state.as_str()).to_owned()
    }));
    columns.extend(pulls());
    columns.extend(nodes());
    columns
}

fn column(name: &str, value: impl Fn(&ReportedPod) -> String + 'static) -> Column {
    (name.to_owned(), Box::new(value))
}

/// A column of texts that others have chosen.
fn text_column(name: &str, value: impl Fn(&ReportedPod) -> String + 'static) -> Column {
    column(name, move |pod| no_formula(value(pod)))
}

/// What a spreadsheet takes for the beginning of a formula.
const FORMULA: [char; 6] = ['=', '+', '-', '@', '\t', '\r'];

/// The text behind an apostrophe, where a spreadsheet would take it for a formula ("CSV Injection", OWASP).
fn no_formula(text: String) -> String {
    match text.starts_with(FORMULA) {
        true => format!("'{text}"),
        false => text,
    }
}

fn names() -> Vec<Column> {
    vec![
        text_column("namespace", |pod| pod.info.namespace.to_string()),
        text_column("pod", |pod| pod.info.name.to_string()),
        column("uid", |pod| pod.uid.map_or_else(String::new, uuid)),
        text_column("node", |pod| {
            let node = pod.info.node.as_deref();
            node.unwrap_or_default().to_owned()
        }),
        text_column("workload_kind", |pod| pod.workload().0.to_owned()),
        text_column("workload", |pod| pod.workload().1.to_owned()),
        text_column("images", |pod| pod.images.join(" ")),
    ]
}

fn progress() -> Vec<Column> {
    let waiting = |pod: &ReportedPod| match pod.record.as_ref()?.progress {
        Progress::InFlight {
            waiting, entered, ..
        } => Some((waiting, entered)),
        Progress::Ended { .. } => None,
    };
    vec![
        column("outcome", |pod| {
            pod.outcome.map_or("in_flight", Outcome::as_str).to_owned()
        }),
        column("set_aside", |pod| {
            pod.set_aside
                .map_or_else(String::new, |lost| lost.as_str().to_owned())
        }),
        column("stage", move |pod| {
            waiting(pod)
                .map_or("", |(at, _)| at.stage().as_str())
                .to_owned()
        }),
        column("cause", move |pod| {
            waiting(pod)
                .map_or("", |(at, _)| at.cause().as_str())
                .to_owned()
        }),
        column("waits_since", move |pod| {
            time(waiting(pod).map(|(_, since)| since))
        }),
    ]
}

/// What the pod's node states, and what the startup had to wait for.
fn nodes() -> Vec<Column> {
    let of_node = |name: &str, of: fn(&NodeLabels) -> &str| {
        text_column(name, move |pod| {
            let record = pod.record.as_ref();
            let node = record.and_then(|record| record.node_labels.as_deref());
            node.map_or("", of).to_owned()
        })
    };
    vec![
        of_node("nodepool", |node| &node.pool),
        of_node("zone", |node| &node.zone),
        of_node("instance_type", |node| &node.instance_type),
        of_node("arch", |node| &node.arch),
        of_node("capacity_type", |node| &node.capacity_type),
        of_node("kubelet_version", |node| &node.kubelet_version),
        column("capacity", |pod| {
            let capacity = pod
                .record
                .as_ref()
                .and_then(|record| record.startup_capacity);
            capacity.map_or("", StartupCapacity::as_str).to_owned()
        }),
        column("images_were", |pod| {
            let images = pod.record.as_ref().map(|record| record.startup_images);
            images.map_or("", StartupImages::as_str).to_owned()
        }),
    ]
}

fn pulls() -> Vec<Column> {
    let pulls = |pod: &ReportedPod| {
        let pulls = pod.record.iter().flat_map(|record| &record.pulls);
        let pulled = pulls.filter_map(|pull| match pull.image {
            RecordedImage::Pulled { with_wait, .. } => Some(with_wait),
            RecordedImage::Unknown | RecordedImage::Present => None,
        });
        pulled.collect::<Vec<_>>()
    };
    vec![
        column("pulls", move |pod| match pod.record.as_ref() {
            Some(record) if !record.pulls.is_empty() => pulls(pod).len().to_string(),
            _ => String::new(),
        }),
        column("slowest_pull_seconds", move |pod| {
            let slowest = pulls(pod).into_iter().max();
            slowest.map_or_else(String::new, |pull| seconds(Latency::from(pull)))
        }),
    ]
}

/// When a milestone was reached, where that is known.
pub(super) fn reached(record: &Record, milestone: Milestone) -> Option<Timestamp> {
    let mut milestones = record.milestones.iter();
    let found = milestones.find(|reached| reached.milestone == milestone)?;
    found.time.map(|(at, _)| at)
}

fn duration(record: Option<&Record>, interval: Interval) -> Option<Latency> {
    record.and_then(|record| record.duration(interval))
}

fn time(at: Option<Timestamp>) -> String {
    at.map_or_else(String::new, rfc3339::format)
}

/// Seconds with as many digits as are known.
fn seconds(latency: Latency) -> String {
    format!("{}", latency.as_seconds_f64())
}

const fn network_time(time: NetworkTime) -> &'static str {
    match time {
        NetworkTime::Exact => "exact",
        NetworkTime::Bounded => "bounded",
        NetworkTime::Late => "late",
    }
}

/// A UID as Kubernetes writes it. One that was no UUID is shown by its hash.
pub(super) fn uuid(uid: PodUid) -> String {
    let [high, low] = uid.words();
    format!(
        "{:08x}-{:04x}-{:04x}-{:04x}-{:012x}",
        high >> 32,
        high >> 16 & 0xffff,
        high & 0xffff,
        low >> 48,
        low & 0xffff_ffff_ffff
    )
}
