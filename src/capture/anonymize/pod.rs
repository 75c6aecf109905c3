//! The fields of a pod that are recorded.

use serde_json::{Map, Value};

use super::Anonymizer;
use super::object::Fields;

/// The annotation that makes a pod a static one.
const MIRROR: &str = "kubernetes.io/config.mirror";
/// The label that a ReplicaSet's pods carry; the ReplicaSet's name ends in its value.
const TEMPLATE_HASH: &str = "pod-template-hash";

impl Anonymizer {
    pub(super) fn pod(&self, pod: &Value) -> Value {
        let mut kept = Fields::of(pod);
        kept.keep(&["apiVersion", "kind"]);
        kept.map("metadata", |metadata| self.metadata(metadata));
        kept.map("spec", |spec| self.spec(spec));
        kept.map("status", |status| self.status(status));
        kept.finish()
    }

    fn metadata(&self, metadata: &Value) -> Value {
        let template_hash = metadata
            .get("labels")
            .and_then(|labels| labels.get(TEMPLATE_HASH))
            .and_then(Value::as_str);
        let mut kept = Fields::of(metadata);
        kept.keep(&["resourceVersion", "creationTimestamp", "deletionTimestamp"]);
        kept.text("name", |name| self.name(name));
        kept.text("namespace", |namespace| self.name(namespace));
        kept.text("uid", |uid| self.uid(uid));
        kept.map("labels", |labels| self.labels(labels));
        kept.map("annotations", |annotations| {
            let mut kept = Map::new();
            if annotations.get(MIRROR).is_some() {
                kept.insert(MIRROR.to_owned(), Value::from("mirror"));
            }
            Value::Object(kept)
        });
        kept.array("ownerReferences", |owner| {
            let mut kept = Fields::of(owner);
            kept.keep(&["apiVersion", "kind", "controller"]);
            kept.text("uid", |uid| self.uid(uid));
            kept.text("name", |name| self.owner_name(name, template_hash));
            kept.finish()
        });
        kept.finish()
    }

    /// Labels with hashed keys and values. The key that shows a Deployment stays.
    fn labels(&self, labels: &Value) -> Value {
        let labels = labels.as_object().into_iter().flatten();
        let hashed = labels.filter_map(|(key, value)| {
            let value = self.name(value.as_str()?);
            let key = match &**key {
                TEMPLATE_HASH => key.clone(),
                other => self.name(other),
            };
            Some((key, Value::String(value)))
        });
        Value::Object(hashed.collect())
    }

    /// A ReplicaSet keeps the form NAME-HASH, by which its Deployment is known.
    fn owner_name(&self, name: &str, template_hash: Option<&str>) -> String {
        let deployment = template_hash
            .filter(|hash| !hash.is_empty())
            .and_then(|hash| Some((name.strip_suffix(hash)?.strip_suffix('-')?, hash)));
        match deployment {
            Some((deployment, hash)) => {
                format!("{}-{}", self.name(deployment), self.name(hash))
            }
            None => self.name(name),
        }
    }

    fn spec(&self, spec: &Value) -> Value {
        let mut kept = Fields::of(spec);
        kept.keep(&["hostNetwork"]);
        kept.text("nodeName", |node| self.name(node));
        for containers in ["initContainers", "containers"] {
            kept.array(containers, |container| self.container(container));
        }
        kept.array("schedulingGates", |gate| self.named(gate));
        kept.array("readinessGates", |gate| {
            let mut kept = Fields::of(gate);
            kept.text("conditionType", |kind| self.condition_type(kind));
            kept.finish()
        });
        kept.array("volumes", |volume| self.volume(volume));
        kept.map("schedulingGroup", |_| Value::Object(Map::new()));
        kept.finish()
    }

    fn named(&self, value: &Value) -> Value {
        let mut kept = Fields::of(value);
        kept.text("name", |name| self.name(name));
        kept.finish()
    }

    fn container(&self, container: &Value) -> Value {
        let mut kept = Fields::of(container);
        kept.keep(&["restartPolicy"]);
        kept.text("name", |name| self.name(name));
        kept.text("image", |image| self.image(image));
        for probe in ["startupProbe", "readinessProbe", "livenessProbe"] {
            kept.map(probe, |probe| {
                let mut kept = Fields::of(probe);
                kept.keep(&[
                    "initialDelaySeconds",
                    "periodSeconds",
                    "timeoutSeconds",
                    "successThreshold",
                    "failureThreshold",
                ]);
                kept.finish()
            });
        }
        kept.finish()
    }

    /// A volume keeps its kind, and nothing of what it mounts.
    fn volume(&self, volume: &Value) -> Value {
        let fields = volume.as_object().into_iter().flatten();
        let kept = fields.map(|(key, value)| match &**key {
            "name" => (
                key.clone(),
                Value::String(self.name(value.as_str().unwrap_or_default())),
            ),
            kind => (kind.to_owned(), Value::Object(Map::new())),
        });
        Value::Object(kept.collect())
    }

    fn status(&self, status: &Value) -> Value {
        let mut kept = Fields::of(status);
        kept.keep(&["phase", "startTime"]);
        kept.text("nominatedNodeName", |node| self.name(node));
        kept.array("conditions", |condition| {
            let mut kept = Fields::of(condition);
            kept.keep(&["status", "reason", "lastTransitionTime"]);
            kept.text("type", |kind| self.condition_type(kind));
            kept.text("message", |message| self.message(message));
            kept.finish()
        });
        for statuses in ["initContainerStatuses", "containerStatuses"] {
            kept.array(statuses, |status| self.container_status(status));
        }
        kept.finish()
    }

    fn container_status(&self, status: &Value) -> Value {
        let mut kept = Fields::of(status);
        kept.keep(&["ready", "started", "restartCount"]);
        kept.text("name", |name| self.name(name));
        kept.text("image", |image| self.image(image));
        for state in ["state", "lastState"] {
            kept.map(state, |state| self.container_state(state));
        }
        kept.finish()
    }

    fn container_state(&self, state: &Value) -> Value {
        let mut kept = Fields::of(state);
        for kind in ["waiting", "running", "terminated"] {
            kept.map(kind, |details| {
                let mut kept = Fields::of(details);
                kept.keep(&["startedAt", "finishedAt", "exitCode", "reason"]);
                kept.text("message", |message| self.message(message));
                kept.finish()
            });
        }
        kept.finish()
    }

    /// The types of Kubernetes have no slash; others are named after their owner.
    fn condition_type(&self, kind: &str) -> String {
        match kind.contains('/') {
            true => self.name(kind),
            false => kind.to_owned(),
        }
    }
}
