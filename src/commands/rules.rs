//! The command `rules`.

use std::io::Write;

use anyhow::Context;

use super::output::print;
use crate::args::RulesArgs;
use crate::slo::SloFile;
use crate::slo::file::Sources;
use crate::slo::rules::render;

/// Prints the rules for an SLO file. After an error, nothing is printed.
pub(super) fn rules(args: &RulesArgs, out: &mut impl Write) -> anyhow::Result<()> {
    let text = match &args.slo {
        None => render(&SloFile::built_in(), &args.options())?,
        Some(path) => {
            let file = SloFile::read(path, Sources::ALL)?;
            render(&file, &args.options()).with_context(|| path.display().to_string())?
        }
    };
    print(text.as_bytes(), out)
}
