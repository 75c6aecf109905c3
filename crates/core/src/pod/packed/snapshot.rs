//! One ordinary snapshot as bytes. Every field is named here, so that a new one does not compile until it is
//! packed, or makes a snapshot that has it no ordinary one.

use std::sync::Arc;
use std::time::Duration;

use super::bytes::{self, ByteReader, put_number, put_signed};
use super::container;
use super::flags::BitFlags;
use super::named;
use super::numbered::NumberedValues;
use crate::label_value::LabelValue;
use crate::pod::{
    Claims, ConditionStatus, ConditionType, ContainerProbes, ContainerSpec, GateNames, PodInfo,
    PodPhase, PodSnapshot, PodUid, Revision, StatusCondition, StatusConditions, Workload,
};
use crate::timestamp::{NANOS_PER_SECOND, Timestamp};

/// What the snapshots of a list share.
#[derive(Clone, Default)]
pub(super) struct SharedValues {
    namespaces: NumberedValues<str>,
    nodes: NumberedValues<str>,
    workloads: NumberedValues<Workload>,
    pod_labels: NumberedValues<[Box<str>]>,
    images: NumberedValues<Vec<Arc<str>>>,
    probes: NumberedValues<Vec<ContainerProbes>>,
    containers: NumberedValues<str>,
    gates: NumberedValues<GateNames>,
}

impl SharedValues {
    pub(super) fn namespaces(&self) -> impl Iterator<Item = &Arc<str>> {
        self.namespaces.iter()
    }
}

/// Whether a snapshot has nothing but what [`pack`] packs.
pub(super) fn is_ordinary(pod: &PodSnapshot) -> bool {
    let has_nothing_rare = pod.not_scheduled.is_none()
        && pod.sandbox_not_ready.is_none()
        && pod.said_of_ready.is_none()
        && pod.volume_images.is_none()
        && pod.claim_names.is_none()
        && pod.disruption.is_none()
        && !pod.ended_by_deletion
        && pod.in_place.is_none()
        && pod.waiting_messages.is_none()
        && pod.ending.is_none();
    let deletion = [pod.deletion_asked, pod.deletion_due];
    let times = [pod.created, pod.started, pod.latest_api_time];
    let transitions = (ConditionType::ALL.into_iter())
        .map(|kind| (pod.conditions.get(kind)).and_then(|found| found.last_transition));
    let named = pod.named.iter().flat_map(|named| named.conditions());
    let transitions = transitions.chain(named.map(|condition| condition.last_transition));
    let starts = pod.containers.iter().map(|container| container.started);
    let has_plain_runs = match pod.has_init_containers {
        true => pod.init_runs.subsec_nanos() == 0,
        false => pod.init_runs.is_zero(),
    };
    // Nearly always a container that was terminated has a start.
    let has_run = pod.containers.iter().any(ContainerSpec::has_run);
    has_nothing_rare
        && has_plain_runs
        && (pod.terminating || deletion == [None; 2])
        && has_run == pod.has_run
        && (times.into_iter().chain(deletion).chain(transitions).chain(starts)).all(is_whole_second)
}

/// Whether [`put_time`] can write a time. The API states whole seconds.
fn is_whole_second(time: Option<Timestamp>) -> bool {
    time.is_none_or(|time| time.as_nanos() % NANOS_PER_SECOND == 0)
}

/// Beside the bits of what a pod claims: it is stateful.
const STATEFUL: u8 = 1 << 7;
const _: () = assert!(Claims::BITS & STATEFUL == 0);

/// Whether a byte says what it has or claims. Few pods need one.
const fn has_volumes(pod: &PodSnapshot) -> bool {
    pod.is_stateful || !pod.claims.is_none()
}

/// Appends an ordinary snapshot, but for its UID and its name.
pub(super) fn pack(pod: &PodSnapshot, shared: &mut SharedValues, out: &mut Vec<u8>) {
    let PodSnapshot {
        uid: _,
        resource_version,
        info,
        revision,
        created,
        started,
        latest_api_time,
        phase: _,
        conditions,
        unschedulable: _,
        not_scheduled: _,
        is_bound: _,
        has_nominated_node: _,
        sandbox_not_ready: _,
        named,
        said_of_ready: _,
        volume_images: _,
        disruption: _,
        in_place: _,
        terminating: _,
        deletion_asked,
        deletion_due,
        ended_by_deletion: _,
        gated: _,
        has_init_containers: _,
        init_runs,
        containers,
        // Of an ordinary one it follows from the containers.
        has_run: _,
        waiting_messages: _,
        ending: _,
        is_stateful: _,
        claims,
        claim_names: _,
        has_readiness_gates: _,
        is_static: _,
    } = pod;
    out.extend_from_slice(&flags(pod).to_bytes());
    if let Some(version) = resource_version {
        put_number(out, *version);
    }
    pack_info(info, shared, out);
    put_number(out, Revision::to_number(*revision).into());
    let base = seconds(*created);
    put_signed(out, base);
    put_time(out, base, *started);
    put_time(out, base, *latest_api_time);
    let beside = [(NAMED, named.is_some()), (PROBES, info.probes.is_some())];
    pack_conditions(conditions, beside, base, out);
    if let Some(named) = named {
        named::pack(named, &mut shared.gates, base, out);
    }
    if let Some(probes) = &info.probes {
        put_number(out, shared.probes.number(probes));
    }
    if pod.has_init_containers {
        put_number(out, init_runs.as_secs());
    }
    if pod.terminating {
        put_time(out, base, *deletion_asked);
        put_time(out, base, *deletion_due);
    }
    if has_volumes(pod) {
        out.push(claims.bits() | (u8::from(pod.is_stateful) * STATEFUL));
    }
    put_number(out, containers.len() as u64);
    for container in containers {
        let ContainerSpec {
            name,
            kind: _,
            state: _,
            started,
            has_started: _,
            has_restarted: _,
            is_ready: _,
            ends_for_good: _,
        } = container;
        put_number(out, shared.containers.number(name));
        out.push(container::code(container));
        put_time(out, base, *started);
    }
}

fn pack_info(info: &PodInfo, shared: &mut SharedValues, out: &mut Vec<u8>) {
    let PodInfo {
        namespace,
        name: _,
        node,
        // The decoder does not know it.
        node_labels: _,
        workload,
        host_network: _,
        pod_labels,
        // After the conditions.
        probes: _,
        images,
    } = info;
    put_number(out, shared.namespaces.number(namespace));
    match pod_labels.is_empty() {
        true => put_number(out, 0),
        false => put_number(out, 1 + shared.pod_labels.number(pod_labels)),
    }
    if let Some(node) = node {
        put_number(out, shared.nodes.number(node));
    }
    if let Some(workload) = workload {
        put_number(out, shared.workloads.number(workload));
    }
    if let Some(images) = images {
        put_number(out, shared.images.number(images));
    }
}

/// Reads what [`pack`] has written.
pub(super) fn unpack(
    uid: PodUid,
    name: Box<str>,
    shared: &SharedValues,
    reader: &mut ByteReader<'_>,
) -> PodSnapshot {
    let flags = BitFlags::from_bytes(reader.array());
    let resource_version = flags.has(BitFlags::VERSION).then(|| reader.number());
    let mut info = unpack_info(flags, name, shared, reader);
    let revision = Revision::of_number(reader.number() as u32);
    let base = reader.signed();
    let started = time(reader, base);
    let latest_api_time = time(reader, base);
    let (conditions, beside) = unpack_conditions(reader, base);
    let has = |bit| beside & bit != 0;
    let named = has(NAMED).then(|| Box::new(named::unpack(&shared.gates, reader, base)));
    info.probes = has(PROBES).then(|| shared.probes.get(reader.number())).flatten();
    let init_runs = unpack_init_runs(flags, reader);
    let terminating = flags.has(BitFlags::TERMINATING);
    let mut deletion = || if terminating { time(reader, base) } else { None };
    let (deletion_asked, deletion_due) = (deletion(), deletion());
    let volumes = if flags.has(BitFlags::VOLUMES) { reader.byte() } else { 0 };
    let containers = unpack_containers(shared, reader, base);
    PodSnapshot {
        uid,
        resource_version,
        info,
        revision,
        created: timestamp(base),
        started,
        latest_api_time,
        phase: flags.phase(),
        conditions,
        unschedulable: flags.has(BitFlags::UNSCHEDULABLE),
        not_scheduled: None,
        is_bound: flags.has(BitFlags::BOUND),
        has_nominated_node: flags.has(BitFlags::NOMINATED_NODE),
        sandbox_not_ready: None,
        named,
        said_of_ready: None,
        volume_images: None,
        disruption: None,
        in_place: None,
        terminating,
        deletion_asked,
        deletion_due,
        ended_by_deletion: false,
        gated: flags.has(BitFlags::GATED),
        has_init_containers: flags.has(BitFlags::INIT_CONTAINERS),
        init_runs,
        has_run: containers.iter().any(ContainerSpec::has_run),
        containers,
        waiting_messages: None,
        ending: None,
        is_stateful: volumes & STATEFUL != 0,
        claims: Claims::of_bits(volumes),
        claim_names: None,
        has_readiness_gates: flags.has(BitFlags::READINESS_GATES),
        is_static: flags.has(BitFlags::STATIC),
    }
}

fn unpack_info(
    flags: BitFlags,
    name: Box<str>,
    shared: &SharedValues,
    reader: &mut ByteReader<'_>,
) -> PodInfo {
    let namespace = shared.namespaces.get(reader.number());
    let pod_labels = match reader.number() {
        0 => None,
        number => shared.pod_labels.get(number - 1),
    };
    let node = flags.has(BitFlags::NODE).then(|| reader.number());
    let workload = flags.has(BitFlags::WORKLOAD).then(|| reader.number());
    let images = flags.has(BitFlags::IMAGES).then(|| reader.number());
    PodInfo {
        namespace: namespace.unwrap_or_default(),
        name,
        node: node.and_then(|number| shared.nodes.get(number)),
        node_labels: None,
        workload: workload.and_then(|number| shared.workloads.get(number)),
        host_network: flags.has(BitFlags::HOST_NETWORK),
        pod_labels: pod_labels.unwrap_or_default(),
        probes: None,
        images: images.and_then(|number| shared.images.get(number)),
    }
}

fn unpack_init_runs(flags: BitFlags, reader: &mut ByteReader<'_>) -> Duration {
    let seconds = flags.has(BitFlags::INIT_CONTAINERS).then(|| reader.number());
    Duration::from_secs(seconds.unwrap_or_default())
}

fn unpack_containers(
    shared: &SharedValues,
    reader: &mut ByteReader<'_>,
    base: i64,
) -> Box<[ContainerSpec]> {
    let containers = (0..reader.number()).map(|_| {
        let name = shared.containers.get(reader.number());
        let code = reader.byte();
        container::container(name.unwrap_or_default(), code, time(reader, base))
    });
    containers.collect()
}

fn flags(pod: &PodSnapshot) -> BitFlags {
    BitFlags::from_flags([
        (BitFlags::SUCCEEDED, pod.phase == PodPhase::Succeeded),
        (BitFlags::FAILED, pod.phase == PodPhase::Failed),
        (BitFlags::UNSCHEDULABLE, pod.unschedulable),
        (BitFlags::BOUND, pod.is_bound),
        (BitFlags::NOMINATED_NODE, pod.has_nominated_node),
        (BitFlags::TERMINATING, pod.terminating),
        (BitFlags::GATED, pod.gated),
        (BitFlags::INIT_CONTAINERS, pod.has_init_containers),
        (BitFlags::VOLUMES, has_volumes(pod)),
        (BitFlags::READINESS_GATES, pod.has_readiness_gates),
        (BitFlags::STATIC, pod.is_static),
        (BitFlags::HOST_NETWORK, pod.info.host_network),
        (BitFlags::VERSION, pod.resource_version.is_some()),
        (BitFlags::NODE, pod.info.node.is_some()),
        (BitFlags::WORKLOAD, pod.info.workload.is_some()),
        (BitFlags::IMAGES, pod.info.images.is_some()),
    ])
}

/// Beside the statuses: it has gates or conditions with names of their own.
const NAMED: u16 = 1 << 15;
/// The same: its containers have probes.
const PROBES: u16 = 1 << 14;
// More types would need more bits.
const _: () = assert!(2 * ConditionType::ALL.len() <= PROBES.trailing_zeros() as usize);

fn pack_conditions(
    conditions: &StatusConditions,
    beside: [(u16, bool); 2],
    base: i64,
    out: &mut Vec<u8>,
) {
    let beside = beside.into_iter().filter(|(_, is_set)| *is_set);
    let mut statuses = beside.fold(0, |bits, (bit, _)| bits | bit);
    for kind in ConditionType::ALL {
        let status = conditions.get(kind).map(|condition| condition.status);
        statuses |= u16::from(code(status)) << (2 * kind.index());
    }
    out.extend_from_slice(&statuses.to_le_bytes());
    for kind in ConditionType::ALL {
        if let Some(StatusCondition { status: _, last_transition }) = conditions.get(kind) {
            put_time(out, base, last_transition);
        }
    }
}

/// The conditions, and the bits beside them.
fn unpack_conditions(reader: &mut ByteReader<'_>, base: i64) -> (StatusConditions, u16) {
    let statuses = u16::from_le_bytes(reader.array());
    let mut conditions = StatusConditions::default();
    for kind in ConditionType::ALL {
        let code = statuses >> (2 * kind.index()) & 3;
        let Some(status) = status(code as u8) else { continue };
        let last_transition = time(reader, base);
        let condition = StatusCondition { status, last_transition };
        conditions.insert(kind, condition);
    }
    (conditions, statuses & (NAMED | PROBES))
}

/// The status of a condition in two bits.
pub(super) const fn code(status: Option<ConditionStatus>) -> u8 {
    match status {
        None => 0,
        Some(ConditionStatus::True) => 1,
        Some(ConditionStatus::False) => 2,
        Some(ConditionStatus::Unknown) => 3,
    }
}

/// The status that [`code`] has written.
pub(super) const fn status(code: u8) -> Option<ConditionStatus> {
    match code {
        0 => None,
        1 => Some(ConditionStatus::True),
        2 => Some(ConditionStatus::False),
        _ => Some(ConditionStatus::Unknown),
    }
}

/// A time in seconds; 0, which is never packed as a time, for none.
fn seconds(time: Option<Timestamp>) -> i64 {
    time.map_or(0, |time| time.as_nanos() / NANOS_PER_SECOND)
}

fn timestamp(seconds: i64) -> Option<Timestamp> {
    (seconds != 0).then(|| Timestamp::from_seconds(seconds))
}

/// Writes how long after `base` a time is: 0 for none, else the zigzag form plus 1.
pub(super) fn put_time(out: &mut Vec<u8>, base: i64, time: Option<Timestamp>) {
    match time {
        None => put_number(out, 0),
        Some(_) => put_number(out, bytes::zigzag(seconds(time) - base) + 1),
    }
}

pub(super) fn time(reader: &mut ByteReader<'_>, base: i64) -> Option<Timestamp> {
    match reader.number() {
        0 => None,
        later => timestamp(base + bytes::unzigzag(later - 1)),
    }
}
