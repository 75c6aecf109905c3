//! What a Deployment asks for.

use k8s_openapi::apimachinery::pkg::util::intstr::IntOrString;

use crate::image::ContainerImage;
use crate::manifest::name_hash;
use crate::profile::LifeKind;
use crate::rng::Rng;

/// The `spec` of a Deployment, and its name.
#[derive(Clone, Debug, PartialEq)]
pub struct DeploymentSpec {
    /// `metadata.namespace`
    pub namespace: String,
    /// `metadata.name`
    pub name: String,
    /// `replicas`
    pub replicas: i32,
    /// `maxSurge` of the strategy, which is a rolling update
    pub max_surge: IntOrString,
    /// `maxUnavailable` of it
    pub max_unavailable: IntOrString,
    /// `progressDeadlineSeconds`
    pub progress_deadline_seconds: i32,
    /// `template`
    pub template: PodTemplate,
}

/// What the pods of a revision have in common.
#[derive(Clone, Debug, PartialEq)]
pub struct PodTemplate {
    /// The image of the only container
    pub image: ContainerImage,
    /// Which life they have, up to its readiness: they stay until their ReplicaSet deletes them
    pub life: LifeKind,
}

impl DeploymentSpec {
    /// A Deployment with the values that the API server sets where none are given, but for one pod alone.
    pub fn new(namespace: &str, name: &str, replicas: i32, image: ContainerImage) -> Self {
        let quarter = || IntOrString::String("25%".to_owned());
        Self {
            namespace: namespace.to_owned(),
            name: name.to_owned(),
            replicas,
            max_surge: quarter(),
            max_unavailable: quarter(),
            progress_deadline_seconds: 600,
            template: PodTemplate { image, life: LifeKind::Plain },
        }
    }

    /// How many pods more than the replicas there may be.
    pub fn max_surge(&self) -> i32 {
        self.scaled(&self.max_surge, |percents| (percents + 99) / 100)
    }

    /// How many of the replicas need not be available during a rollout. Validation and rounding see to it that a
    /// rolling update can begin.
    pub fn max_unavailable(&self) -> i32 {
        let unavailable = self.scaled(&self.max_unavailable, |percents| percents / 100);
        let least = i32::from(self.max_surge() == 0);
        unavailable.max(least).min(self.replicas)
    }

    /// A number of pods: a percentage is of the replicas, and `whole` makes it one of pods.
    fn scaled(&self, share: &IntOrString, whole: impl Fn(i32) -> i32) -> i32 {
        match share {
            IntOrString::Int(pods) => *pods,
            IntOrString::String(text) => {
                let percent: i32 = text.trim_end_matches('%').parse().unwrap_or(0);
                whole(self.replicas.saturating_mul(percent))
            }
        }
    }
}

impl PodTemplate {
    /// `pod-template-hash`: the same whenever the template is.
    pub(super) fn hash(&self) -> String {
        Rng::new(name_hash(&format!("{self:?}"))).suffix(10)
    }
}
