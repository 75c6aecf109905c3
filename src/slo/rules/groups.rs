//! The groups of rules, in the order in which they are written.

use super::model::Group;
use super::options::RenderOptions;
use super::{burn, meta, recording, stuck};
use crate::slo::SloFile;

/// Everything that follows from the SLOs of `file`.
pub(super) fn all(file: &SloFile, options: &RenderOptions) -> Vec<Group> {
    let job = &options.job;
    let mut groups = vec![recording::windows(job)];
    groups.extend(file.slos.iter().map(|slo| burn::group(slo, job)));
    groups.extend(recording::budgets(&file.slos, job));
    groups.push(stuck::group(file, job));
    groups.push(meta::group(job));
    groups
}
