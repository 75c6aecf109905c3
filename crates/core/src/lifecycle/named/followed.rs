//! The milestones of a pod that is followed after it became ready ([§16.5](crate::specification#s16-5)), without its
//! gates.

use super::{EARLY, Named};
use crate::lifecycle::reached::Reached;

impl Named {
    /// The state of the milestones alone; `None` without one.
    pub(in crate::lifecycle) fn without_gates(&self) -> Option<Box<Self>> {
        let (milestones, gates) = (self.milestones.clone()?, self.position(0));
        Some(Box::new(Self {
            milestones: Some(milestones),
            times: self.times.iter().copied().skip(gates).collect(),
            passed: (self.passed ^ self.early()) >> gates | self.early(),
            seen: self.seen,
            ..Self::default()
        }))
    }

    /// Takes the state of the milestones from `followed`, which has no gates.
    pub(in crate::lifecycle) fn take_milestones(&mut self, followed: &Self) {
        let Some(milestones) = &followed.milestones else { return };
        if self.milestones.as_ref().is_some_and(|own| own != milestones) {
            self.configure(milestones);
        }
        self.follow(milestones);
        for number in 0..milestones.len() {
            if let Reached::At(at) = followed.reached(number) {
                self.reach(self.position(number), at);
            }
        }
        self.passed |= followed.early();
        self.seen |= followed.seen;
    }

    /// The bits of the milestones that were reached before all containers had started.
    const fn early(&self) -> u32 {
        self.passed >> EARLY << EARLY
    }
}
