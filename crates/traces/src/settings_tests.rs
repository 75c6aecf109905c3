#![allow(clippy::unwrap_used)]

use super::*;

fn resolve(
    flag: Option<&str>,
    variables: &[(&str, &str)],
) -> Result<Option<OtlpSettings>, SettingsError> {
    let flag: Option<Uri> = flag.map(|text| text.parse().unwrap());
    OtlpSettings::resolve(flag.as_ref(), |name| {
        let mut all = variables.iter();
        all.find(|(other, _)| *other == name).map(|(_, value)| (*value).to_owned())
    })
}

fn url(flag: Option<&str>, variables: &[(&str, &str)]) -> Option<String> {
    let settings = resolve(flag, variables).unwrap();
    settings.map(|settings| settings.url.to_string())
}

const ALL: &str = "OTEL_EXPORTER_OTLP_ENDPOINT";
const TRACES: &str = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT";

#[test]
fn without_an_endpoint_there_are_no_traces() {
    assert_eq!(url(None, &[]), None);
    assert_eq!(url(None, &[(ALL, ""), (TRACES, " ")]), None);
    // What is wrong elsewhere does not matter then.
    assert_eq!(url(None, &[("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc")]), None);
}

#[test]
fn the_endpoint_of_all_signals_is_a_base_and_that_of_traces_is_used_as_it_is() {
    let base = "http://collector:4318";
    let traces = Some("http://collector:4318/v1/traces".to_owned());
    assert_eq!(url(Some(base), &[]), traces);
    assert_eq!(url(Some("http://collector:4318/"), &[]), traces);
    assert_eq!(url(None, &[(ALL, base)]), traces);
    let below = url(None, &[(ALL, "https://host/otlp")]);
    assert_eq!(below.as_deref(), Some("https://host/otlp/v1/traces"));
    let own = url(None, &[(ALL, base), (TRACES, "http://tempo/receive")]);
    assert_eq!(own.as_deref(), Some("http://tempo/receive"));
    assert_eq!(url(Some(base), &[(TRACES, "http://tempo")]), traces);
}

#[test]
fn the_server_is_the_url_without_its_path() {
    let settings = resolve(Some("https://host:1/otlp"), &[]).unwrap().unwrap();
    assert_eq!(settings.server().to_string(), "https://host:1/");
    let settings = resolve(Some("https://user:secret@host/otlp"), &[]);
    assert_eq!(settings.unwrap().unwrap().shown(), "https://host");
}

#[test]
fn variables_turn_traces_off_unless_the_flag_is_given() {
    let base = "http://collector:4318";
    for off in [("OTEL_SDK_DISABLED", "true"), ("OTEL_TRACES_EXPORTER", "none")] {
        assert_eq!(url(None, &[(ALL, base), off]), None);
        assert!(url(Some(base), &[(ALL, base), off]).is_some());
    }
}

#[test]
fn what_podinit_cannot_do_is_said() {
    let base = "http://collector:4317";
    for (variable, value) in [
        ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/json"),
        ("OTEL_EXPORTER_OTLP_COMPRESSION", "gzip"),
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "10s"),
    ] {
        let error = resolve(None, &[(ALL, base), (variable, value)]).unwrap_err();
        let begin = format!("{variable}={value}: ");
        assert!(error.to_string().starts_with(&begin), "{error}");
    }
    // A URL may hold a password, so none is repeated.
    for value in [
        "user:secret@collector:4318",
        "/v1/secret",
        "http://:secret@",
        "http://u:secret@c:99999/?secret",
    ] {
        for variable in [TRACES, ALL] {
            let error = resolve(None, &[(variable, value)]).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{variable}: ")), "{error}");
            assert!(!error.contains("secret"), "{error}");
        }
    }
    let traces = ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "http/protobuf");
    assert!(resolve(None, &[(ALL, base), ("OTEL_EXPORTER_OTLP_PROTOCOL", "grpc"), traces]).is_ok());
}

#[test]
fn timeout_and_certificates_of_traces_win() {
    let settings = |variables: &[(&str, &str)]| {
        resolve(Some("https://collector"), variables).unwrap().unwrap()
    };
    assert_eq!(settings(&[]).timeout, Duration::from_secs(10));
    assert_eq!(settings(&[]).ca_file, None);
    let given = settings(&[
        ("OTEL_EXPORTER_OTLP_TIMEOUT", "5000"),
        ("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "250"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "/ca.pem"),
        ("OTEL_EXPORTER_OTLP_CLIENT_CERTIFICATE", "/client.pem"),
        ("OTEL_EXPORTER_OTLP_TRACES_CLIENT_KEY", "/key.pem"),
    ]);
    assert_eq!(given.timeout, Duration::from_millis(250));
    assert_eq!(given.ca_file, Some(PathBuf::from("/ca.pem")));
    assert_eq!(given.cert_file, Some(PathBuf::from("/client.pem")));
    assert_eq!(given.key_file, Some(PathBuf::from("/key.pem")));
}
