//! The report as CSV (RFC 4180): a row for each pod. Docs: `docs/reports.md`.

use std::collections::BTreeSet;
use std::io::{self, Write};
use std::sync::Arc;

use super::ReportedPods;
use super::pods::ReportedPod;
use super::rows;
use podinit_core::lifecycle::{
    CustomStart, GateState, Latency, Milestone, Outcome, Progress, Record, RecordedCustomMilestone,
    RecordedGate, RecordedImage,
};
use podinit_core::node::NodeLabels;
use podinit_core::pod::Workload;
use podinit_decode::rfc3339;

/// A column: its name, and its value for a pod, empty where that is unknown.
type CsvColumn = (String, Box<dyn Fn(&ReportedPod) -> String>);

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
pub(super) fn write(pods: &ReportedPods, to: impl Write) -> io::Result<()> {
    let mut writer = csv::WriterBuilder::new().terminator(csv::Terminator::CRLF).from_writer(to);
    let mut columns = all_columns();
    columns.extend(custom_milestones(pods));
    writer.write_record(columns.iter().map(|(name, _)| name))?;
    for pod in pods.iter() {
        writer.write_record(columns.iter().map(|(_, value)| value(&pod)))?;
    }
    writer.flush()
}

fn all_columns() -> Vec<CsvColumn> {
    let mut columns = names();
    columns.extend(progress());
    columns.extend(MILESTONES.map(|(milestone, name)| {
        record_column(name, move |record| record.reached(milestone).map(rfc3339::format))
    }));
    columns.push(record_column("network_time", |record| {
        record.network_time.map(|time| time.as_str().to_owned())
    }));
    columns.extend(rows().map(|interval| {
        let name = format!("{}_seconds", interval.as_str());
        record_column(&name, move |record| record.duration(interval).map(seconds))
    }));
    columns.push(record_column("unschedulable_capacity", |record| {
        let known = record.unschedulable.as_ref()?;
        Some(known.state.as_str().to_owned())
    }));
    columns.extend(gates());
    columns.extend(pulls());
    columns.extend(nodes());
    columns
}

fn column(name: &str, value: impl Fn(&ReportedPod) -> String + 'static) -> CsvColumn {
    (name.to_owned(), Box::new(value))
}

/// A column of what the record of a pod says, where it has one.
fn record_column(name: &str, value: impl Fn(&Record) -> Option<String> + 'static) -> CsvColumn {
    column(name, move |pod| {
        let record = pod.record.as_ref();
        record.and_then(&value).unwrap_or_default()
    })
}

/// A column of texts that others have chosen.
fn text_column(name: &str, value: impl Fn(&ReportedPod) -> String + 'static) -> CsvColumn {
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

fn names() -> Vec<CsvColumn> {
    vec![
        text_column("namespace", |pod| pod.info.namespace.to_string()),
        text_column("pod", |pod| pod.info.name.to_string()),
        column("uid", |pod| pod.uid.map_or_else(String::new, |uid| uid.to_string())),
        text_column("node", |pod| pod.has().node.unwrap_or_default().to_owned()),
        text_column("workload_type", |pod| Workload::type_of(pod.workload().0)),
        text_column("workload", |pod| pod.workload().1.to_owned()),
        text_column("images", |pod| pod.images.join(" ")),
    ]
}

fn progress() -> Vec<CsvColumn> {
    let waiting = |record: &Record| match record.progress {
        Progress::InFlight { waiting, entered, .. } => Some((waiting, entered)),
        Progress::Ended { .. } => None,
    };
    vec![
        column("outcome", |pod| pod.outcome.map_or("in_flight", Outcome::as_str).to_owned()),
        column("set_aside", |pod| {
            pod.set_aside.map_or_else(String::new, |lost| lost.as_str().to_owned())
        }),
        record_column("stage", move |record| {
            waiting(record).map(|(at, _)| at.stage().as_str().to_owned())
        }),
        record_column("cause", move |record| {
            waiting(record).map(|(at, _)| at.cause().as_str().to_owned())
        }),
        record_column("waits_since", move |record| {
            waiting(record).map(|(_, since)| rfc3339::format(since))
        }),
    ]
}

/// The gates of the pod, and those that hold it.
fn gates() -> Vec<CsvColumn> {
    let gates = |name: &str, is_one: fn(&RecordedGate) -> bool| {
        text_column(name, move |pod| {
            let gates = pod.record.iter().flat_map(|record| &record.gates);
            let gates = gates.filter(|gate| is_one(gate));
            let names = gates.map(|gate| format!("{}:{}", gate.kind.as_str(), gate.gate));
            names.collect::<Vec<String>>().join(" ")
        })
    };
    vec![gates("gates", |_| true), gates("holding_gates", |gate| gate.state == GateState::Holding)]
}

/// Three columns for each milestone of your own that a pod has had.
fn custom_milestones(pods: &ReportedPods) -> Vec<CsvColumn> {
    let names: BTreeSet<Arc<str>> = pods.custom_milestones().cloned().collect();
    fn find<'a>(record: &'a Record, name: &str) -> Option<&'a RecordedCustomMilestone> {
        record.custom_milestones.iter().find(|one| *one.milestone == *name)
    }
    let columns = names.into_iter().flat_map(|name| {
        let of = Arc::clone(&name);
        let time = record_column(&name, move |record| find(record, &of)?.time.map(rfc3339::format));
        let took = CustomStart::ALL.map(|from| {
            let of = Arc::clone(&name);
            let column = format!("{}_to_{name}_seconds", from.as_str());
            record_column(&column, move |record| find(record, &of)?.seconds(from).map(seconds))
        });
        [time].into_iter().chain(took)
    });
    columns.collect()
}

/// What the pod's node states, and what the startup had to wait for.
fn nodes() -> Vec<CsvColumn> {
    let of_node = |name: &str, of: fn(&NodeLabels) -> &str| {
        text_column(name, move |pod| pod.has().labels.map_or("", of).to_owned())
    };
    vec![
        of_node("nodepool", |node| &node.pool),
        of_node("zone", |node| &node.zone),
        of_node("instance_type", |node| &node.instance_type),
        of_node("arch", |node| &node.arch),
        of_node("capacity_type", |node| &node.capacity_type),
        of_node("kubelet_version", |node| &node.kubelet_version),
        record_column("capacity", |record| {
            let capacity = record.needed.capacity?;
            Some(capacity.as_str().to_owned())
        }),
        record_column("images_were", |record| Some(record.needed.images.as_str().to_owned())),
    ]
}

fn pulls() -> Vec<CsvColumn> {
    fn pulled(record: &Record) -> impl Iterator<Item = Latency> {
        let pulls = record.pulls.iter();
        pulls.filter_map(|pull| match pull.image {
            RecordedImage::Pulled { with_wait, .. } => Some(with_wait),
            RecordedImage::Unknown | RecordedImage::Present => None,
        })
    }
    vec![
        record_column("pulls", |record| {
            let is_known = !record.pulls.is_empty();
            is_known.then(|| pulled(record).count().to_string())
        }),
        record_column("slowest_pull_seconds", |record| pulled(record).max().map(seconds)),
    ]
}

/// Seconds with as many digits as are known.
fn seconds(latency: Latency) -> String {
    format!("{}", latency.as_seconds_f64())
}
