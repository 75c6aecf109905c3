//! What a demonstration deploys: applications that get a new release now and then.

use super::spec::{DeploymentSpec, PodTemplate};
use crate::image::{self, ContainerImage};
use crate::profile::LifeKind;

/// An application, its replicas, and the images of its releases, which come one after the other and again.
#[derive(Debug)]
pub(crate) struct Application {
    pub(crate) namespace: &'static str,
    pub(crate) name: &'static str,
    replicas: i32,
    images: [ContainerImage; 3],
}

/// The application whose release is bad in the scene of a bad rollout.
pub(crate) const LEDGER: Application =
    Application { namespace: "payments", name: "ledger", replicas: 9, images: image::LEDGER };
/// Pods without a controller of their own here have other names.
const APPLICATIONS: [Application; 4] = [
    Application { namespace: "shop", name: "cart", replicas: 6, images: image::CART },
    Application { namespace: "search", name: "ranker", replicas: 4, images: image::RANKER },
    LEDGER,
    Application { namespace: "media", name: "player", replicas: 5, images: image::PLAYER },
];
/// Half of the default, so that who watches a demonstration sees it pass.
const PROGRESS_DEADLINE: i32 = 300;
/// One of so many releases is taken back.
const TAKEN_BACK: usize = 5;

impl Application {
    /// The application whose turn it is in the `number`-th release.
    pub(crate) fn of_release(number: usize) -> &'static Self {
        &APPLICATIONS[number % APPLICATIONS.len()]
    }

    /// What is deployed with the `number`-th release of all.
    pub(crate) fn release(&self, number: usize) -> DeploymentSpec {
        let image = self.images[(1 + number / APPLICATIONS.len()) % self.images.len()];
        self.with(PodTemplate { image, life: LifeKind::Plain })
    }

    fn with(&self, template: PodTemplate) -> DeploymentSpec {
        DeploymentSpec {
            progress_deadline_seconds: PROGRESS_DEADLINE,
            template,
            ..DeploymentSpec::new(self.namespace, self.name, self.replicas, self.images[0])
        }
    }
}

/// What is there from the beginning.
pub(crate) fn first() -> impl Iterator<Item = DeploymentSpec> {
    APPLICATIONS
        .iter()
        .map(|one| DeploymentSpec::new(one.namespace, one.name, one.replicas, one.images[0]))
}

/// A release that nobody can pull.
pub(crate) fn bad() -> DeploymentSpec {
    LEDGER.with(PodTemplate { image: image::WRONG_LEDGER, life: LifeKind::BadTag })
}

/// Whether the `number`-th release is taken back while it is rolled out.
pub(crate) const fn is_taken_back(number: usize) -> bool {
    number % TAKEN_BACK == TAKEN_BACK - 1
}
