//! The fields that are read of each message, with the numbers that `generated.proto` of `k8s.io/api` and
//! `k8s.io/apimachinery` gives them. Their names are those of the JSON. A field that is not listed here is
//! skipped without a look at it.

/// The fields that are read of a message, in the order of their numbers.
pub(super) type MessageSchema = &'static [FieldSchema];

/// A field that is read.
#[derive(Debug)]
pub(super) struct FieldSchema {
    pub(super) number: u32,
    pub(super) name: &'static str,
    pub(super) kind: FieldKind,
}

/// What a field holds.
#[derive(Clone, Copy, Debug)]
pub(super) enum FieldKind {
    Text,
    Number,
    Flag,
    /// `metav1.Time`
    Time,
    Message(MessageSchema),
    /// Any number of messages
    List(MessageSchema),
    /// Any number of numbers, each in a field of its own, as Kubernetes writes them
    Numbers,
    /// `map<string, string>`
    TextMap,
    /// A message whose fields stand among those of the outer one in JSON
    Inline(MessageSchema),
}

const fn known(number: u32, name: &'static str, kind: FieldKind) -> FieldSchema {
    FieldSchema { number, name, kind }
}

use FieldKind::{Flag, Inline, List, Message as Of, Number, Numbers, Text, TextMap, Time};

/// The object of the kind `kind`. What is read of any other kind is its metadata, which has the number 1
/// in all of them.
pub(super) fn object(kind: Option<&str>) -> MessageSchema {
    match kind {
        None | Some("Pod") => POD,
        Some("Event") => EVENT,
        Some("Node") => NODE,
        Some("Status") => STATUS,
        Some(_) => OTHER,
    }
}

const OTHER: MessageSchema = &[known(1, "metadata", Of(OBJECT_META))];

pub(super) const POD: MessageSchema = &[
    known(1, "metadata", Of(OBJECT_META)),
    known(2, "spec", Of(POD_SPEC)),
    known(3, "status", Of(POD_STATUS)),
];

pub(super) const NODE: MessageSchema = &[
    known(1, "metadata", Of(OBJECT_META)),
    known(2, "spec", Of(NODE_SPEC)),
    known(3, "status", Of(NODE_STATUS)),
];

const NODE_SPEC: MessageSchema =
    &[known(4, "unschedulable", Flag), known(5, "taints", List(&[known(1, "key", Text)]))];

const NODE_STATUS: MessageSchema = &[
    known(4, "conditions", List(NODE_CONDITION)),
    known(7, "nodeInfo", Of(&[known(7, "kubeletVersion", Text)])),
];

const NODE_CONDITION: MessageSchema =
    &[known(1, "type", Text), known(2, "status", Text), known(4, "lastTransitionTime", Time)];

const EVENT: MessageSchema = &[
    known(1, "metadata", Of(OBJECT_META)),
    known(2, "involvedObject", Of(OBJECT_REFERENCE)),
    known(3, "reason", Text),
    known(4, "message", Text),
    known(5, "source", Of(EVENT_SOURCE)),
    known(6, "firstTimestamp", Time),
    known(7, "lastTimestamp", Time),
    known(10, "eventTime", Time),
    known(11, "series", Of(&[known(2, "lastObservedTime", Time)])),
    known(14, "reportingComponent", Text),
];

const STATUS: MessageSchema =
    &[known(3, "message", Text), known(4, "reason", Text), known(6, "code", Number)];

pub(super) const LIST_META: MessageSchema = &[
    known(2, "resourceVersion", Text),
    known(3, "continue", Text),
    known(4, "remainingItemCount", Number),
    known(5, "shardInfo", Of(&[])),
];

pub(super) const OBJECT_META: MessageSchema = &[
    known(1, "name", Text),
    known(3, "namespace", Text),
    known(5, "uid", Text),
    known(6, "resourceVersion", Text),
    known(8, "creationTimestamp", Time),
    known(9, "deletionTimestamp", Time),
    known(10, "deletionGracePeriodSeconds", Number),
    known(11, "labels", TextMap),
    known(12, "annotations", TextMap),
    known(13, "ownerReferences", List(OWNER_REFERENCE)),
];

const OWNER_REFERENCE: MessageSchema =
    &[known(1, "kind", Text), known(3, "name", Text), known(6, "controller", Flag)];

const POD_SPEC: MessageSchema = &[
    known(1, "volumes", List(VOLUME)),
    known(2, "containers", List(CONTAINER)),
    known(3, "restartPolicy", Text),
    known(10, "nodeName", Text),
    known(11, "hostNetwork", Flag),
    known(19, "schedulerName", Text),
    known(20, "initContainers", List(CONTAINER)),
    known(24, "priorityClassName", Text),
    known(28, "readinessGates", List(READINESS_GATE)),
    known(29, "runtimeClassName", Text),
    known(38, "schedulingGates", List(&[known(1, "name", Text)])),
    known(39, "resourceClaims", List(&[])),
];

/// The name comes first, so that a volume without any source is one as well.
const VOLUME: MessageSchema = &[known(1, "name", Text), known(2, "", Inline(VOLUME_SOURCE))];

/// Of all sources only those that a stateless pod may have, and those with a claim.
const VOLUME_SOURCE: MessageSchema = &[
    known(2, "emptyDir", Of(&[])),
    known(6, "secret", Of(&[])),
    known(10, "persistentVolumeClaim", Of(&[])),
    known(16, "downwardAPI", Of(&[])),
    known(19, "configMap", Of(&[])),
    known(26, "projected", Of(&[])),
    known(29, "ephemeral", Of(&[])),
    known(30, "image", Of(IMAGE_VOLUME)),
];

const IMAGE_VOLUME: MessageSchema = &[known(1, "reference", Text)];

const CONTAINER: MessageSchema = &[
    known(1, "name", Text),
    known(2, "image", Text),
    known(10, "livenessProbe", Of(PROBE)),
    known(11, "readinessProbe", Of(PROBE)),
    known(22, "startupProbe", Of(PROBE)),
    known(24, "restartPolicy", Text),
    known(25, "restartPolicyRules", List(RESTART_RULE)),
];

const RESTART_RULE: MessageSchema =
    &[known(1, "action", Text), known(2, "exitCodes", Of(EXIT_CODES))];

const EXIT_CODES: MessageSchema = &[known(1, "operator", Text), known(2, "values", Numbers)];

const PROBE: MessageSchema = &[
    known(2, "initialDelaySeconds", Number),
    known(4, "periodSeconds", Number),
    known(5, "successThreshold", Number),
    known(6, "failureThreshold", Number),
];

const READINESS_GATE: MessageSchema = &[known(1, "conditionType", Text)];

pub(super) const POD_STATUS: MessageSchema = &[
    known(1, "phase", Text),
    known(2, "conditions", List(CONDITION)),
    known(3, "message", Text),
    known(4, "reason", Text),
    known(7, "startTime", Time),
    known(8, "containerStatuses", List(CONTAINER_STATUS)),
    known(10, "initContainerStatuses", List(CONTAINER_STATUS)),
    known(11, "nominatedNodeName", Text),
];

const CONDITION: MessageSchema = &[
    known(1, "type", Text),
    known(2, "status", Text),
    known(4, "lastTransitionTime", Time),
    known(5, "reason", Text),
    known(6, "message", Text),
];

const CONTAINER_STATUS: MessageSchema = &[
    known(1, "name", Text),
    known(2, "state", Of(CONTAINER_STATE)),
    known(3, "lastState", Of(CONTAINER_STATE)),
    known(4, "ready", Flag),
    known(5, "restartCount", Number),
    known(9, "started", Flag),
];

const CONTAINER_STATE: MessageSchema = &[
    known(1, "waiting", Of(&[known(1, "reason", Text), known(2, "message", Text)])),
    known(2, "running", Of(&[known(1, "startedAt", Time)])),
    known(3, "terminated", Of(TERMINATED)),
];

const TERMINATED: MessageSchema = &[
    known(1, "exitCode", Number),
    known(2, "signal", Number),
    known(3, "reason", Text),
    known(4, "message", Text),
    known(5, "startedAt", Time),
    known(6, "finishedAt", Time),
];

const OBJECT_REFERENCE: MessageSchema = &[
    known(1, "kind", Text),
    known(2, "namespace", Text),
    known(3, "name", Text),
    known(4, "uid", Text),
    known(7, "fieldPath", Text),
];

const EVENT_SOURCE: MessageSchema = &[known(1, "component", Text)];

#[cfg(test)]
mod tests {
    use super::*;

    fn assert_ordered(message: MessageSchema) {
        assert!(message.is_sorted_by(|one, next| one.number < next.number), "{message:?}");
        for field in message {
            if let Of(inner) | List(inner) | Inline(inner) = field.kind {
                assert_ordered(inner);
            }
        }
    }

    #[test]
    fn fields_stand_in_the_order_of_their_numbers() {
        for message in [OTHER, POD, NODE, EVENT, STATUS, LIST_META] {
            assert_ordered(message);
        }
    }
}
