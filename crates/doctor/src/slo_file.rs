//! Whether the SLO file is valid.

use std::path::Path;

use super::names::FirstNames;
use super::report::{Check, Finding};
use podinit_rules::{RenderOptions, render};
use podinit_slo::SloFile;
use podinit_slo::file::EvidenceSources;
use podinit_text::words::count;

/// Reads the file as `serve` does, and renders its rules as `rules` does. Also returns the SLOs that
/// would be in force; none where the file is broken.
pub(super) fn check(path: Option<&Path>, sources: EvidenceSources) -> (Finding, Option<SloFile>) {
    const CHECK: Check = Check::SloFile;
    let Some(path) = path else {
        let slos = SloFile::built_in();
        let found = format!("no file given: {} of podinit's own", in_words(&slos));
        return (Finding::ok(CHECK, found), Some(slos));
    };
    let slos = match SloFile::read(path, sources) {
        Ok(slos) => slos,
        Err(error) => {
            let finding = Finding::error(CHECK, error.to_string())
                .fix(
                    "fix the file (deploy/slo-default.yaml is an example), or name another with \
                     --slo",
                )
                .detail("line", error.line());
            return (finding, None);
        }
    };
    let finding = match render(&slos, &RenderOptions::default()) {
        Ok(_) => Finding::ok(CHECK, format!("{}: {}", path.display(), in_words(&slos))),
        Err(error) => {
            let found = format!("{}: podinit rules refuses it: {error}", path.display());
            Finding::warning(CHECK, found)
                .fix("serve accepts it; choose another objective if you want its alerts")
        }
    };
    (finding, Some(slos))
}

fn in_words(slos: &SloFile) -> String {
    let names: FirstNames = slos.slos.iter().map(|slo| &*slo.rule.name).collect();
    format!("{} ({names})", count(slos.slos.len(), "SLO", "SLOs"))
}
