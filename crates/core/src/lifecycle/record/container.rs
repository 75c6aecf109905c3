//! Which container of a pod is to blame, and which images it pulled.

use std::sync::Arc;

use super::{Record, RecordedCause, RecordedContainer, RecordedImage};
use crate::lifecycle::cause::Cause;

impl RecordedContainer {
    /// The image that its problem is about: that of a volume, or its own.
    pub fn failing_image(&self) -> Option<&Arc<str>> {
        self.volume_image.as_ref().or(self.image.as_ref())
    }
}

impl Record {
    /// What [`Record::image`] says, by the containers and pulls.
    pub(in crate::lifecycle) fn decisive_image(&self) -> Option<&Arc<str>> {
        let failed = self.pulls.iter().find(|pull| pull.has_failed);
        let by_pull = || {
            let failed = failed?;
            self.container(&failed.container, failed.init)
        };
        let found = self.container_with(Cause::Image).or_else(by_pull);
        let mut all = self.containers.iter();
        let found = found.or_else(|| all.find(|one| !one.init));
        found?.failing_image()
    }

    /// The container that gave the pod its last cause; `None` if none did. A document does not say which one it was, but
    /// which has a problem.
    pub fn container_of(&self, last: &RecordedCause) -> Option<&RecordedContainer> {
        let by_position = last.container.and_then(|at| self.containers.get(usize::from(at)));
        by_position.or_else(|| self.container_with(last.waiting.cause()))
    }

    /// The position of the first container whose state is an exit code other than 0, of a startup that failed
    /// ([§13.10](crate::specification#s13-10)).
    pub fn failed_container(&self) -> Option<usize> {
        match self.ending() {
            Some(ending) => {
                let mut ended = ending.containers.iter();
                Some(ended.find(|one| one.has_failed())?.container)
            }
            // A checkpoint has only so many endings.
            None => self.containers.iter().position(|one| one.problem == Some(Cause::Crash)),
        }
    }

    /// The images that the pod pulled, as far as Events have shown ([§9.3](crate::specification#s9-3)).
    pub fn pulled_images(&self) -> impl Iterator<Item = &Arc<str>> {
        let was_pulled = |image: &RecordedImage| matches!(image, RecordedImage::Pulled { .. });
        let pulls = self.pulls.iter().filter(move |pull| was_pulled(&pull.image));
        pulls.filter_map(|pull| self.container(&pull.container, pull.init)?.image.as_ref())
    }

    fn container(&self, name: &str, init: bool) -> Option<&RecordedContainer> {
        self.containers.iter().find(|one| &*one.name == name && one.init == init)
    }

    fn container_with(&self, problem: Cause) -> Option<&RecordedContainer> {
        self.containers.iter().find(|one| one.problem == Some(problem))
    }
}
