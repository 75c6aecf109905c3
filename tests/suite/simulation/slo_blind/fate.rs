//! Pods of which each has a namespace and SLOs of its own, what befalls them around an hour in
//! which nobody sees it, and how they are to be judged.

use podinit_slo::SloFile;

use crate::support::scrape::Scrape;

/// Seconds.
pub const HOUR: u64 = 3_600;

/// The events of the SLOs on `network` and `scheduled_to_ready`: `good`, `bad`, or the reason why
/// the pod is excluded; empty while there is none.
pub type Verdicts = (&'static str, &'static str);

/// The pod that has missed a deadline before the hour.
pub const ACCUSED: &str = "accused";

const OPEN: Verdicts = ("", "");

/// When what happens to a pod, in seconds after the beginning of the hour, and what its verdicts
/// are.
#[derive(Clone, Debug)]
pub struct Fate {
    pub name: &'static str,
    /// `None` is before the hour
    pub created: Option<u64>,
    pub bound: Option<u64>,
    pub network: Option<u64>,
    pub ready: Option<u64>,
    pub removed: Option<u64>,
    /// Before the hour and throughout it
    pub blind: Verdicts,
    /// After a list; `None` where it does not tell of the pod
    pub listed: Option<Verdicts>,
    /// After the missed events have been delivered
    pub resumed: Verdicts,
    /// More than two minutes later, where that is something else
    pub later: Option<Verdicts>,
}

impl Fate {
    /// A pod that stands before the hour, is bound as it begins, and is judged in the same way
    /// whatever tells of it.
    fn of(name: &'static str, verdicts: Verdicts) -> Self {
        Self {
            name,
            created: None,
            bound: Some(0),
            network: None,
            ready: None,
            removed: None,
            blind: OPEN,
            listed: Some(verdicts),
            resumed: verdicts,
            later: None,
        }
    }

    fn bound_at(self, second: u64) -> Self {
        Self { created: Some(second - 1), bound: Some(second), ..self }
    }

    fn network_at(self, second: u64) -> Self {
        Self { network: Some(second), ..self }
    }

    fn ready_at(self, second: u64) -> Self {
        Self { ready: Some(second), ..self }
    }

    fn removed_at(self, second: u64) -> Self {
        Self { removed: Some(second), ..self }
    }

    /// The names of its SLOs.
    fn slos(&self) -> [String; 2] {
        [format!("{}-network", self.name), format!("{}-ready", self.name)]
    }

    pub fn is_of(&self, slo: &str) -> bool {
        self.slos().iter().any(|name| name == slo)
    }

    /// Before the hour and throughout it.
    pub fn before(&self) -> Option<Verdicts> {
        self.created.is_none().then_some(self.blind)
    }

    /// What the scrape says of it. It has at most one event for each SLO.
    pub fn verdicts(&self, scrape: &Scrape) -> (String, String) {
        let [network, ready] = self.slos().map(|slo| verdict(scrape, &slo));
        (network, ready)
    }
}

fn verdict(scrape: &Scrape, slo: &str) -> String {
    let pair = format!("slo=\"{slo}\"");
    let names = ["podinit_slo_events_total", "podinit_slo_excluded_total"];
    let series = names.iter().flat_map(|name| scrape.of_name(name));
    let events: Vec<(&str, f64)> =
        series.filter(|(series, value)| series.contains(&pair) && *value > 0.0).collect();
    match events[..] {
        [] => String::new(),
        [(series, 1.0)] => {
            let labels = series.split('"').collect::<Vec<_>>();
            let [.., value, _] = labels[..] else {
                panic!("no labels: {series}");
            };
            value.to_owned()
        }
        _ => panic!("judged more than once: {events:?}"),
    }
}

/// The SLOs of the pods, each with the default grace of 5 s.
pub fn slos(fates: &[Fate]) -> SloFile {
    let mut text = "slos:\n".to_owned();
    for fate in fates {
        let [network, ready] = fate.slos();
        for (name, interval, threshold) in
            [(network, "network", "10s"), (ready, "scheduled_to_ready", "2m")]
        {
            let namespace = fate.name;
            text += &format!(
                "- {{name: {name}, interval: {interval}, threshold: {threshold}, objective: 99, \
                 window: 30d, namespaces: {{include: [{namespace}]}}}}\n"
            );
        }
    }
    SloFile::parse("the test", text.as_bytes()).unwrap()
}

/// One pod of each kind.
pub fn all() -> Vec<Fate> {
    vec![
        // Bound so long before the hour that the first deadline has passed.
        Fate { bound: None, blind: ("bad", ""), ..Fate::of(ACCUSED, ("bad", "bad")) },
        Fate::of("swift", ("good", "good")).network_at(4).ready_at(100),
        Fate::of("late", ("bad", "bad")).network_at(60).ready_at(600),
        Fate::of("stuck", ("bad", "bad")),
        Fate::of("crashing", ("good", "bad")).network_at(3),
        // Exactly as long as it may take, and longer by less than the grace.
        Fate::of("punctual", ("good", "good")).bound_at(601).network_at(611).ready_at(721),
        Fate::of("in-grace", ("bad", "bad")).bound_at(701).network_at(712).ready_at(822),
        Fate::of("new-and-stuck", ("bad", "bad")).bound_at(1_001),
        Fate {
            listed: Some(("vanished", "vanished")),
            ..Fate::of("given-up", ("deleted", "deleted")).removed_at(1_800)
        },
        Fate {
            listed: Some(("vanished", "vanished")),
            ..Fate::of("swift-and-gone", ("good", "good"))
                .network_at(4)
                .ready_at(30)
                .removed_at(900)
        },
        Fate {
            listed: None,
            ..Fate::of("flash", ("deleted", "deleted")).bound_at(101).removed_at(200)
        },
        Fate { bound: None, ..Fate::of("pending", OPEN) },
        // Their deadlines have not passed when the hour ends.
        Fate { later: Some(("bad", "bad")), ..Fate::of("recent", OPEN).bound_at(3_595) },
        Fate {
            later: Some(("good", "bad")),
            ..Fate::of("recent-and-swift", ("good", "")).bound_at(3_595).network_at(3_598)
        },
    ]
}
