//! SLO files, and the rules generated from valid ones.

use podinit_rules::{RenderOptions, RulesFormat, render};
use podinit_slo::SloFile;

/// The bytes are an SLO file.
pub fn run(bytes: &[u8]) {
    let file = match SloFile::parse("slo.yaml", bytes) {
        Ok(file) => file,
        Err(error) => return one_line(&error.to_string()),
    };
    assert_eq!(SloFile::parse("slo.yaml", bytes).as_ref(), Ok(&file));
    for slo in &file.slos {
        assert!(slo.objective_percent > 0.0 && slo.objective_percent < 100.0);
        assert!(slo.objective_ratio() > 0.0 && slo.budget_ratio() > 0.0);
        assert!(!slo.rule.threshold.is_zero());
    }
    for (at, format) in RulesFormat::ALL.into_iter().enumerate() {
        let options = RenderOptions { format, ..RenderOptions::default() };
        match render(&file, &options) {
            // Parsing takes far longer than writing, so only one of them is parsed.
            Ok(text) if at == bytes.len() % RulesFormat::ALL.len() => {
                for document in text.split("\n---\n") {
                    let read = serde_saphyr::from_str::<serde_json::Value>(document);
                    read.unwrap_or_else(|error| panic!("{error}\n{document}"));
                }
            }
            Ok(text) => assert!(text.ends_with('\n')),
            Err(error) => one_line(&error.to_string()),
        }
    }
}

fn one_line(text: &str) {
    assert!(!text.is_empty() && !text.contains('\n'), "{text:?}");
}
