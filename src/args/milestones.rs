//! Milestones of your own.

use std::sync::Arc;

use clap::Args;
use podinit_core::lifecycle::{CustomMilestone, CustomMilestones};
use podinit_core::pod::MOST_OWN_MILESTONES;

/// Conditions that are made milestones.
#[derive(Args, Clone, Debug, Default)]
pub struct MilestoneArgs {
    /// Make a condition of pods a milestone, as NAME=condition:TYPE, such as
    /// model_loaded=condition:example.com/ModelLoaded; may be repeated, at most 8 times
    #[arg(
        long = "milestone",
        value_name = "NAME=condition:TYPE",
        value_delimiter = ',',
        value_parser = CustomMilestone::parse
    )]
    milestones: Vec<CustomMilestone>,
}

impl MilestoneArgs {
    /// The milestones, in their order.
    pub fn milestones(&self) -> CustomMilestones {
        Arc::new(self.milestones.clone())
    }

    /// What the options cannot say each for itself.
    ///
    /// # Errors
    /// One line, where there are too many, or two have the same name or condition.
    pub(super) fn check(&self) -> Result<(), String> {
        let all = &self.milestones;
        if all.len() > MOST_OWN_MILESTONES {
            return Err(format!("--milestone: at most {MOST_OWN_MILESTONES} are possible"));
        }
        for (place, one) in all.iter().enumerate() {
            let earlier = all.iter().take(place);
            let same = |other: &CustomMilestone| {
                other.name == one.name || other.condition == one.condition
            };
            if let Some(other) = earlier.into_iter().find(|other| same(other)) {
                return Err(format!(
                    "--milestone {}=condition:{} has the name or the condition of {}=condition:{}",
                    one.name, one.condition, other.name, other.condition
                ));
            }
        }
        Ok(())
    }
}
