//! Tests of the alerts that belong to one SLO.

use super::super::promql::number;
use super::super::recording_rules::{BUDGET, BURN_RATES, BurnRate};
use super::super::rule_file::YamlPairs;
use super::super::slo_alerts::{
    BUDGET_BURN, KEEP_FIRING_FOR, MIN_BAD_PODS, RULES_OUTDATED, SEVERAL, budget_burn, outdated,
};
use super::format::{ELSEWHERE, FIRST, SECOND, Target, Test, TestInputs};
use podinit_slo::Slo;

/// Pods per minute: enough that a ratio can lie just beside any threshold.
const PODS: u64 = 100_000;

/// How long the outage lasts in tests of the recovery, in minutes.
const OUTAGE: u64 = 10;

#[derive(Clone, Copy)]
struct Subject<'a> {
    inputs: TestInputs<'a>,
    slo: &'a Slo,
}

/// The labels of bad pods in the stage `containers`.
fn of(cause: &str) -> String {
    format!("stage=\"containers\", cause=\"{cause}\"")
}

pub(super) fn tests(inputs: TestInputs<'_>, slo: &Slo) -> Vec<Test> {
    let subject = Subject { inputs, slo };
    let mut tests = vec![
        subject.everything_fails(),
        subject.main_cause(),
        subject.two_halves(),
        subject.no_main_cause(),
        subject.another_cause_before(),
        subject.nothing_fails(),
        subject.low_traffic(),
        subject.page_in_time(),
        subject.counters_reset(),
        subject.exporter_restarts(),
        subject.clusters_do_not_mix(),
        subject.rules_outdated(),
        subject.budget_remains(),
    ];
    for rate in &BURN_RATES {
        tests.push(subject.beside_the_threshold(rate));
        tests.push(subject.recovery(rate));
    }
    tests
}

impl Subject<'_> {
    fn test(self, what: &str) -> Test {
        (self.inputs).test(format!("{}: {what}", self.slo.rule.name))
    }

    fn given(self, test: Test, target: Target, good: &str, bad: &str) -> Test {
        let name = &self.slo.rule.name;
        [("good", good), ("bad", bad)].into_iter().fold(test, |test, (result, values)| {
            let own = format!("result=\"{result}\", slo=\"{name}\"");
            test.given("podinit_slo_events_total", target, &own, values)
        })
    }

    fn all(self) -> String {
        format!("alertname=\"{BUDGET_BURN}\", slo=\"{}\"", self.slo.rule.name)
    }

    fn of(self, rate: &BurnRate) -> String {
        format!("{}, long_window=\"{}\"", self.all(), rate.long)
    }

    /// Good and bad pods per minute at `share` times the objective's budget.
    fn rates(self, share: f64) -> (u64, u64) {
        let bad = (PODS as f64 * share * self.slo.budget_ratio()).round() as u64;
        (PODS - bad, bad)
    }

    fn everything_fails(self) -> Test {
        let test = self.given(self.test("everything fails"), FIRST, "0+0x20", "0+1x20");
        let alerts = BURN_RATES.iter().map(|rate| {
            let alert = budget_burn(self.slo, rate, &self.inputs.options.job);
            self.inputs.expected(&alert, &self.of_cause(SEVERAL), "100%")
        });
        test.silent(0, BUDGET_BURN).fires(10, BUDGET_BURN, alerts.collect())
    }

    /// The labels that remain, with a cause.
    fn of_cause(self, cause: &str) -> YamlPairs {
        let mut labels = self.inputs.lasting_of_pods();
        labels.push(("cause", cause.to_owned()));
        labels
    }

    /// Adds counters of bad pods by stage, cause and namespace of the pods.
    fn given_causes(self, test: Test, causes: &[(&str, &str)]) -> Test {
        causes.iter().fold(test, |test, (labels, values)| {
            let own = format!("slo=\"{}\", {labels}", self.slo.rule.name);
            let metric = "podinit_slo_bad_causes_total";
            test.given(metric, FIRST, &own, *values)
        })
    }

    /// The cause of at least half of the bad pods, over stages and namespaces, is the alert's.
    fn main_cause(self) -> Test {
        let test =
            self.given(self.test("most pods miss it for one cause"), FIRST, "0x10", "0+10x10");
        let team = |name| format!("exported_namespace=\"{name}\"");
        let [a, b] = ["a", "b"].map(team);
        let causes = [
            (format!("stage=\"init\", cause=\"image\", {a}"), "0+2x10"),
            (format!("stage=\"containers\", cause=\"image\", {b}"), "0+5x10"),
            (format!("stage=\"containers\", cause=\"probe\", {b}"), "0+3x10"),
        ];
        let causes = causes.each_ref().map(|(labels, values)| (labels.as_str(), *values));
        let test = self.given_causes(test, &causes);
        let test = ["a", "b"].into_iter().fold(test, |test, name| {
            let own = format!("stage=\"containers\", cause=\"image\", {}", team(name));
            test.given("podinit_waiting_pods", FIRST, &own, "5x10")
        });
        // Another cluster's, whose exporter has no events, so that it has no alert of its own.
        let elsewhere = format!(
            "slo=\"{}\", stage=\"init\", cause=\"crash\", exported_namespace=\"c\"",
            self.slo.rule.name
        );
        let test = test.given("podinit_slo_bad_causes_total", ELSEWHERE, &elsewhere, "0+9x10");
        let of = |cause, shared| format!("cause=\"{cause}\", {shared}");
        let test = [
            (FIRST, of("image", "dimension=\"node\", value=\"node-a0\""), "122x10"),
            (FIRST, of("image", "dimension=\"none\", value=\"\""), "30x10"),
            // The largest problem of the cluster is another.
            (FIRST, of("probe", "dimension=\"none\", value=\"\""), "130x10"),
            (ELSEWHERE, of("image", "dimension=\"none\", value=\"\""), "500x10"),
        ]
        .into_iter()
        .fold(test, |test, (target, own, pods)| {
            test.given("podinit_problem_pods", target, &own, pods)
        });
        let alerts = BURN_RATES.iter().map(|rate| {
            let alert = budget_burn(self.slo, rate, &self.inputs.options.job);
            let labels = self.of_cause("image");
            let causes = format!(" Causes in the last {}: image 70, probe 30.", rate.short);
            // Only the increase of the last five minutes is less than all.
            let five = rate.short.as_minutes() == 5;
            let [causes, namespaces] = match five {
                true => [
                    causes.replace("70", "35").replace("30", "15"),
                    " Namespaces: b 40, a 10.".to_owned(),
                ],
                false => [causes, " Namespaces: b 80, a 20.".to_owned()],
            };
            let found = [&*causes, &*namespaces, " (image, node node-a0: 122 pods)"];
            self.inputs.expected_with(&alert, &labels, "100%", &found)
        });
        test.fires(10, BUDGET_BURN, alerts.collect())
    }

    /// Half is enough. Two halves are one alert.
    fn two_halves(self) -> Test {
        let test = self.given(self.test("pods miss it for two causes"), FIRST, "0x10", "0+10x10");
        let test = self.given_causes(test, &[(&of("image"), "0+5x10"), (&of("crash"), "0+5x10")]);
        let all = self.all();
        test.counts(10, &format!("{all}, cause=~\"image|crash\""), BURN_RATES.len()).counts(
            10,
            &all,
            BURN_RATES.len(),
        )
    }

    /// Where no cause has half, the alert says so, and is one alert.
    fn no_main_cause(self) -> Test {
        let test = self.given(self.test("pods miss it for three causes"), FIRST, "0x10", "0+12x10");
        let causes = ["image", "crash", "probe"].map(of);
        let causes = causes.each_ref().map(|labels| (labels.as_str(), "0+4x10"));
        let all = self.all();
        self.given_causes(test, &causes)
            .counts(10, &format!("{all}, cause=\"{SEVERAL}\""), BURN_RATES.len())
            .counts(10, &all, BURN_RATES.len())
    }

    /// An older fault with another cause is still in the long window.
    fn another_cause_before(self) -> Test {
        let test = self.test("another cause has most of the long window");
        let test = self.given(test, FIRST, "0x60", "0+10x60");
        let causes = [(of("crash"), "0+10x40 400x20"), (of("image"), "0x40 0+10x20")];
        let causes = causes.each_ref().map(|(labels, values)| (labels.as_str(), *values));
        let page = self.of(&BURN_RATES[0]);
        self.given_causes(test, &causes)
            .counts(40, &format!("{page}, cause=\"crash\""), 1)
            .counts(60, &format!("{page}, cause=\"image\""), 1)
            .counts(60, &page, 1)
    }

    fn nothing_fails(self) -> Test {
        self.given(self.test("nothing fails, then nothing starts"), FIRST, "0+9x20 180x20", "0x40")
            .silent(20, BUDGET_BURN)
            .silent(40, BUDGET_BURN)
    }

    fn low_traffic(self) -> Test {
        let below = MIN_BAD_PODS - 1;
        let good = "0x30";
        let few = format!("0+1x{below} {below}x5 {MIN_BAD_PODS}x5");
        self.given(self.test("all of few pods fail"), FIRST, good, &few)
            .counts(u64::from(MIN_BAD_PODS) + 2, &self.all(), 0)
            .counts(u64::from(MIN_BAD_PODS) + 6, &self.all(), BURN_RATES.len())
    }

    fn beside_the_threshold(self, rate: &BurnRate) -> Test {
        let what = format!("just below and just above {} times the budget", number(rate.factor));
        let exact = PODS as f64 * rate.factor * self.slo.budget_ratio();
        let flow = |bad: f64| (format!("0+{}x10", PODS as f64 - bad), format!("0+{bad}x10"));
        let below = flow((exact - 0.5).floor().max(0.0));
        let above = flow((exact + 0.5).floor() + 1.0);
        let test = self.given(self.test(&what), FIRST, &below.0, &below.1);
        let test = self.given(test, ELSEWHERE, &above.0, &above.1);
        let (here, there) = (FIRST.cluster, ELSEWHERE.cluster);
        test.counts(10, &format!("{}, cluster=\"{here}\"", self.of(rate)), 0).counts(
            10,
            &format!("{}, cluster=\"{there}\"", self.of(rate)),
            1,
        )
    }

    /// The short window ends the alert, after `keep_firing_for`.
    fn recovery(self, rate: &BurnRate) -> Test {
        let what = format!("recovery from an outage, as {} sees it", rate.short);
        let ends = OUTAGE + rate.short.as_minutes() + KEEP_FIRING_FOR.as_minutes() + 2;
        let good = format!("0+0x{OUTAGE} {PODS}+{PODS}x{ends}");
        let lost = OUTAGE * PODS;
        let bad = format!("0+{PODS}x{OUTAGE} {lost}x{ends}");
        self.given(self.test(&what), FIRST, &good, &bad).counts(OUTAGE, &self.of(rate), 1).counts(
            ends,
            &self.of(rate),
            0,
        )
    }

    /// An hour of good pods, then only bad ones: the page fires when the arithmetic says so.
    fn page_in_time(self) -> Test {
        let page = &BURN_RATES[0];
        let minutes = 60.0 * page.factor * self.slo.budget_ratio();
        let early = 60 + (minutes.floor() as u64).saturating_sub(1);
        let late = 60 + minutes.ceil() as u64 + 1;
        let what =
            format!("an outage pages after {} minutes", number((minutes * 10.0).round() / 10.0));
        let good = format!("0+{PODS}x60 {}x{late}", 60 * PODS);
        let bad = format!("0x60 {PODS}+{PODS}x{late}");
        self.given(self.test(&what), FIRST, &good, &bad).counts(early, &self.of(page), 0).counts(
            late,
            &self.of(page),
            1,
        )
    }

    /// One cluster has half of its budget left; another one has spent its budget many times over.
    fn budget_remains(self) -> Test {
        let budget = self.slo.budget_ratio();
        let (good, bad) = self.rates(0.5);
        let flow = |rate: u64| format!("0+{rate}x10");
        let test = self.test("what is left of the error budget");
        let test = self.given(test, FIRST, &flow(good), &flow(bad));
        let test = self.given(test, ELSEWHERE, "0x10", &flow(PODS));
        let left =
            [(FIRST, 1.0 - bad as f64 / PODS as f64 / budget), (ELSEWHERE, 1.0 - 1.0 / budget)];
        left.into_iter().fold(test, |test, (target, left)| {
            let series = format!(
                "{BUDGET}{{cluster=\"{}\", slo=\"{}\", window=\"{}\"}}",
                target.cluster, self.slo.rule.name, self.slo.window
            );
            let expr = format!(
                "count(abs({series} - {}) < 1e-6 * {})",
                number(left),
                number(1.0 / budget)
            );
            test.evaluates(10, expr, 1)
        })
    }

    fn counters_reset(self) -> Test {
        let (good, bad) = self.rates(0.5);
        let twice = |rate: u64| format!("0+{rate}x5 0+{rate}x5");
        // All failures come after the reset; the counter was higher before it than it gets later.
        let after = format!("{}x5 0+{PODS}x5", 1000 * PODS);
        let test = self.given(self.test("counters reset"), FIRST, &twice(good), &twice(bad));
        let test = self.given(test, ELSEWHERE, "0x11", &after);
        let (here, there) = (FIRST.cluster, ELSEWHERE.cluster);
        test.counts(10, &format!("{}, cluster=\"{here}\"", self.all()), 0).counts(
            10,
            &format!("{}, cluster=\"{there}\"", self.all()),
            BURN_RATES.len(),
        )
    }

    fn exporter_restarts(self) -> Test {
        let before = |rate: u64| format!("0+{rate}x5 stale");
        let after = |rate: u64| format!("_x6 0+{rate}x5");
        let elsewhere = Target { number: 2, ..ELSEWHERE };
        let (good, bad) = self.rates(0.5);
        let test = self.test("the exporter restarts");
        let test = self.given(test, FIRST, &before(good), &before(bad));
        let test = self.given(test, SECOND, &after(good), &after(bad));
        let test = self.given(test, ELSEWHERE, &before(0), &before(PODS));
        let test = self.given(test, elsewhere, &after(0), &after(PODS));
        let (here, there) = (FIRST.cluster, ELSEWHERE.cluster);
        test.counts(11, &format!("{}, cluster=\"{here}\"", self.all()), 0).counts(
            11,
            &format!("{}, cluster=\"{there}\"", self.all()),
            BURN_RATES.len(),
        )
    }

    /// Good pods in one cluster do not make up for bad pods in another.
    fn clusters_do_not_mix(self) -> Test {
        let test = self.test("another cluster starts many more pods");
        let test = self.given(test, FIRST, "0x10", "0+10x10");
        self.given(test, ELSEWHERE, "0+100000x10", "0x10")
            .counts(10, &format!("{}, cluster=\"{}\"", self.all(), FIRST.cluster), BURN_RATES.len())
            .counts(10, &self.all(), BURN_RATES.len())
    }

    fn rules_outdated(self) -> Test {
        let name = &self.slo.rule.name;
        let own = format!("slo=\"{name}\"");
        let objective = number(self.slo.objective_ratio());
        let threshold = number(self.slo.threshold_seconds());
        let inputs = self.inputs;
        // The exporter has no series for the other SLOs all along.
        let all = inputs.file.slos.iter().map(|slo| {
            let alert = outdated(slo, &inputs.options.job);
            inputs.expected(&alert, &inputs.lasting(), "")
        });
        // Until minute 10 the threshold matches the rules; then it differs; at the end the series are gone.
        self.test("the exporter has another SLO file")
            .given("up", FIRST, "", "1x140")
            .given("podinit_slo_objective_ratio", FIRST, &own, format!("{objective}x100 stale"))
            .given(
                "podinit_slo_threshold_seconds",
                FIRST,
                &own,
                format!("{threshold}x10 {threshold}9x50 {threshold}x40 stale"),
            )
            .given(
                "podinit_slo_window_seconds",
                FIRST,
                &own,
                format!("{}x100 stale", number(self.slo.window_seconds())),
            )
            .given("up", ELSEWHERE, "", "0x140")
            .counts(10, &format!("alertname=\"{RULES_OUTDATED}\", {own}"), 0)
            .counts(40, &format!("alertname=\"{RULES_OUTDATED}\", {own}"), 0)
            .fires(42, RULES_OUTDATED, all.collect())
            .counts(70, &format!("alertname=\"{RULES_OUTDATED}\", {own}"), 0)
            .counts(135, &format!("alertname=\"{RULES_OUTDATED}\", {own}"), 1)
    }
}
