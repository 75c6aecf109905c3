//! Tests of the rules on the official startup SLI. Histograms are given in both forms.

use super::super::startup_sli_rules::{PODS, alert};
use super::format::{FIRST, Test, TestInputs};

const FAMILY: &str = "podinit_pod_start_sli_duration_seconds";
const NAME: &str = "PodinitStartupSLIHigh";

pub(super) fn tests(inputs: TestInputs<'_>) -> Vec<Test> {
    vec![classic(inputs), native(inputs), kept(inputs), few_pods(inputs)]
}

/// Pods a minute that took at most 5 s, and others that took 5 to 6 s, in two namespaces.
fn given_classic(test: Test, fast: u32, slow: u32) -> Test {
    let all = fast + slow;
    let bucket = format!("{FAMILY}_bucket");
    let count = format!("{FAMILY}_count");
    ["a", "b"].into_iter().fold(test, |test, namespace| {
        let own = format!("exported_namespace=\"{namespace}\"");
        let le = |bound: &str| format!("le=\"{bound}\", {own}");
        test.given(&bucket, FIRST, &le("5"), format!("0+{fast}x90"))
            .given(&bucket, FIRST, &le("6"), format!("0+{all}x90"))
            .given(&bucket, FIRST, &le("+Inf"), format!("0+{all}x90"))
            .given(&count, FIRST, &own, format!("0+{all}x90"))
    })
}

/// One pod in fifty is late: the 99th percentile lies in the middle of the late ones.
fn classic(inputs: TestInputs<'_>) -> Test {
    let expected = inputs.expected(&alert(&inputs.options.job), &inputs.lasting_of_pods(), "5.5s");
    let test = inputs.test(format!("{NAME}: one pod in fifty is late, classic histogram"));
    given_classic(test, 98, 2).silent(10, NAME).fires(80, NAME, vec![expected])
}

/// Schema 0 has a bucket for each power of two: 4 to 8 s is at offset 3.
fn native(inputs: TestInputs<'_>) -> Test {
    let values = "{{schema:0 sum:0 count:0 buckets:[0 0 0] offset:1}}+\
                  {{schema:0 sum:300 count:100 buckets:[98 0 2] offset:1}}x90";
    inputs
        .test(format!("{NAME}: one pod in fifty is late, native histogram"))
        .given(FAMILY, FIRST, "", values)
        .silent(10, NAME)
        .counts(80, &format!("alertname=\"{NAME}\""), 1)
        .evaluates(80, format!("count({PODS} > 5999 < 6101)"), 1)
}

fn kept(inputs: TestInputs<'_>) -> Test {
    let test = inputs.test(format!("{NAME}: one pod in two hundred is late"));
    given_classic(test, 199, 1).silent(80, NAME)
}

fn few_pods(inputs: TestInputs<'_>) -> Test {
    let test = inputs.test(format!("{NAME}: few pods start, all of them late"));
    let test = test.given(&format!("{FAMILY}_bucket"), FIRST, "le=\"5\"", "0x90");
    let inf = "le=\"+Inf\"";
    test.given(&format!("{FAMILY}_bucket"), FIRST, inf, "0+1x90")
        .given(&format!("{FAMILY}_count"), FIRST, "", "0+1x90")
        .silent(80, NAME)
}
