//! `rules`: from an SLO file to standard output.

use std::io::Write;

use anyhow::Context;

use crate::args::RulesArgs;
use crate::slo::SloFile;
use crate::slo::rules::render;

/// Writes the rules of an SLO file. Nothing is written unless all of them can be.
pub(super) fn rules(args: &RulesArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let text = match &args.slo {
        None => render(&SloFile::built_in(), &args.options())?,
        Some(path) => {
            let file = SloFile::read(path)?;
            render(&file, &args.options()).with_context(|| path.display().to_string())?
        }
    };
    super::print(text.as_bytes(), out)
}
