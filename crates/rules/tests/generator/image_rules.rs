//! Tests of the rules on image pulls. Histograms are given in both forms.

use super::super::image_rules::alerts;
use super::super::rule_file::AlertRule;
use super::format::{FIRST, Test, TestInputs};

const IMAGES: &str = "podinit_images_total";
const FAILURES: &str = "podinit_image_pull_failures_total";
const DURATION: &str = "podinit_image_pull_duration_seconds";
const OWN: &str = "registry=\"registry.example\"";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    vec![
        slow(inputs, Form::Classic),
        slow(inputs, Form::Native),
        always_slow(inputs),
        failing(inputs),
        few_failures(inputs),
    ]
}

#[derive(Clone, Copy)]
enum Form {
    Classic,
    Native,
}

fn alert(inputs: TestInputs<'_>, name: &str) -> AlertRule {
    let [slow, failing] = alerts(&inputs.options.job);
    if slow.name == name { slow } else { failing }
}

/// Adds pulls of a container a minute: `fast` of them take 10 s each, then `slow` take 100 s each.
fn given_pulls(test: Test, form: Form, fast: u32, slow: u32) -> Test {
    let own = format!("source=\"pulled\", {OWN}");
    let test = test.given(IMAGES, FIRST, &own, format!("0+1x{}", fast + slow));
    let bucket = format!("{DURATION}_bucket");
    match form {
        // All pulls are within 120 s; only the fast ones are within 10 s.
        Form::Classic => [
            ("10", format!("0+1x{fast} {fast}x{slow}")),
            ("120", format!("0+1x{}", fast + slow)),
            ("+Inf", format!("0+1x{}", fast + slow)),
        ]
        .into_iter()
        .fold(test, |test, (le, values)| {
            test.given(&bucket, FIRST, &format!("le=\"{le}\", {OWN}"), values)
        }),
        // Schema 0 has a bucket for each power of two: 8 to 16 s is at offset 4, 64 to 128 s at 7.
        Form::Native => {
            let grown = "{{schema:0 sum:0 count:0 buckets:[0] offset:4}}+\
                         {{schema:0 sum:10 count:1 buckets:[1] offset:4}}";
            let total = format!(
                "{{{{schema:0 sum:{} count:{fast} buckets:[{fast}] offset:4}}}}+\
                 {{{{schema:0 sum:100 count:1 buckets:[1] offset:7}}}}",
                10 * fast
            );
            let values = format!("{grown}x{fast} {total}x{slow}");
            test.given(DURATION, FIRST, OWN, values)
        }
    }
}

fn slow(inputs: TestInputs<'_>, form: Form) -> Test {
    let name = "PodinitRegistrySlow";
    let (kind, seconds) = match form {
        Form::Classic => ("classic", "1m 49s"),
        Form::Native => ("native", "1m 59s"),
    };
    let test = inputs.test(format!("{name}: pulls take ten times as long, {kind} histogram"));
    let mut labels = inputs.lasting_of_pods();
    labels.push(("registry", "registry.example".to_owned()));
    let expected = inputs.expected(&alert(inputs, name), &labels, seconds);
    given_pulls(test, form, 120, 60).silent(118, name).fires(170, name, vec![expected])
}

/// Big images take long from any registry.
fn always_slow(inputs: TestInputs<'_>) -> Test {
    let name = "PodinitRegistrySlow";
    let test = inputs.test(format!("{name}: a registry that is as slow as ever"));
    given_pulls(test, Form::Classic, 0, 180).silent(170, name)
}

fn failing(inputs: TestInputs<'_>) -> Test {
    let name = "PodinitRegistryFailing";
    let mut labels = inputs.lasting_of_pods();
    labels.push(("registry", "registry.example".to_owned()));
    let expected = inputs.expected(&alert(inputs, name), &labels, "25%");
    let of = |source: &str| format!("source=\"{source}\", {OWN}");
    inputs
        .test(format!("{name}: a quarter of the pulls fail"))
        .given(IMAGES, FIRST, &of("pulled"), "0+3x90")
        .given(IMAGES, FIRST, &of("present"), "0+9x90")
        .given(FAILURES, FIRST, OWN, "0x30 0+1x60")
        .silent(30, name)
        .fires(80, name, vec![expected])
}

fn few_failures(inputs: TestInputs<'_>) -> Test {
    let name = "PodinitRegistryFailing";
    let of = |source: &str| format!("source=\"{source}\", {OWN}");
    inputs
        .test(format!("{name}: a wrong image among few pods, and one in ten among many"))
        .given(IMAGES, FIRST, &of("pulled"), "0x30 0+9x60")
        .given(FAILURES, FIRST, OWN, "0x10 1x10 2x10 2+1x60")
        .silent(29, name)
        .silent(85, name)
}
