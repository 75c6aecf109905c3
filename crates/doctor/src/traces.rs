//! Whether the collector of traces takes them.

use super::report::{Check, Finding};
use podinit_traces::{CollectorAnswer, OtlpSettings, SettingsError, probe};

const CHECK: Check = Check::Traces;

/// Sends the collector a request without traces. `settings` are those of `serve`. Nothing that fails here
/// keeps `serve` from measuring, but settings that it cannot follow keep it from starting.
pub(super) async fn check(settings: &Result<Option<OtlpSettings>, SettingsError>) -> Finding {
    let settings = match settings {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            return Finding::ok(CHECK, "no collector given: startups are not sent as traces");
        }
        Err(error) => {
            return Finding::error(CHECK, error.to_string())
                .fix("change the variable, or unset it");
        }
    };
    let url = settings.shown();
    match probe(settings).await {
        Ok(CollectorAnswer::Taken { .. }) => Finding::ok(CHECK, format!("{url} takes traces")),
        Ok(CollectorAnswer::Failed(failure)) => {
            let found = format!("{url} does not take traces: {}", failure.why);
            Finding::warning(CHECK, found)
                .fix("check the endpoint: the collector's port for OTLP over HTTP, usually 4318")
        }
        Err(error) => Finding::error(CHECK, error.to_string())
            .fix("fix the files that the OTEL_* variables name"),
    }
}
