//! Is it the registry, and is Kubernetes' own promise kept? Everything here but the kubelet's metric
//! needs `--evidence events`.

use super::super::board::{Board, row};
use super::super::panel::{Kind, Panel, Target};
use super::super::promql::{Histogram, RATE, rate_by, series};
use super::super::variable::{HISTOGRAM, Variable, label};

const REGISTRY: Variable = label(
    "registry",
    (
        r#"podinit_images_total{cluster=~"$cluster", job=~"$job", instance=~"$instance"}"#,
        "registry",
    ),
    ".*",
);

const CHOSEN: &str = r#"registry=~"$registry""#;

const PULLS: Histogram<'static> =
    Histogram { family: "podinit_image_pull_duration_seconds", matchers: CHOSEN };
const WAITS: Histogram<'static> =
    Histogram { family: "podinit_image_pull_wait_seconds", matchers: CHOSEN };
const SLI: Histogram<'static> =
    Histogram { family: "podinit_pod_start_sli_duration_seconds", matchers: "" };

/// What the kubelets say themselves, under whatever job Prometheus scrapes them.
const KUBELET: &str = r#"histogram_quantile(0.99, sum by (le) (rate(kubelet_pod_start_sli_duration_seconds_bucket{cluster=~"$cluster"}[$__rate_interval])))"#;

pub(super) fn board() -> Board {
    Board {
        file: "images-and-sli",
        uid: "podinit-images",
        title: "Images and startup SLI",
        description: "Image pulls by registry, and Kubernetes' official pod startup SLI; needs --evidence events",
        variables: vec![REGISTRY, HISTOGRAM],
        rows: vec![
            row("Slow registry", vec![durations(), waits(), failures(), speed()]),
            row("Official startup SLI", vec![official(), counted()]),
            row("Events", vec![results(), up(), dropped()]),
        ],
    }
}

fn durations() -> Panel {
    Panel::new(
        Kind::Lines,
        "Pull duration by registry",
        "s",
        "Nine pulls in ten took no longer than this, the wait for other pulls of the same kubelet aside.",
        vec![Target::new(PULLS.quantile("0.9", "registry", RATE), "{{registry}}").with_exemplars()],
    )
    .logarithmic()
}

fn waits() -> Panel {
    Panel::new(
        Kind::Lines,
        "Wait before the pull by registry",
        "s",
        "How long nine pulls in ten waited for other pulls of the same kubelet (serializeImagePulls, maxParallelImagePulls). Long waits with short pulls are the kubelet's setting, not the registry.",
        vec![Target::new(WAITS.quantile("0.9", "registry", RATE), "{{registry}}")],
    )
    .logarithmic()
}

fn failures() -> Panel {
    let failed = rate_by("registry", "podinit_image_pull_failures_total", CHOSEN);
    let pulled =
        rate_by("registry", "podinit_images_total", r#"registry=~"$registry", source="pulled""#);
    Panel::new(
        Kind::Lines,
        "Failed pulls by registry",
        "percentunit",
        "The share of containers whose image could not be pulled, of those that needed a pull.",
        vec![Target::new(format!("{failed}\n/\n(({failed} + {pulled}) > 0)"), "{{registry}}")],
    )
}

fn speed() -> Panel {
    let bytes = rate_by("registry", "podinit_image_pull_bytes_total", CHOSEN);
    Panel::new(
        Kind::Lines,
        "Bytes pulled per second by registry",
        "Bps",
        "Sizes of the images pulled, as kubelets from 1.31 on state them, per second.",
        vec![Target::new(bytes, "{{registry}}")],
    )
}

fn official() -> Panel {
    Panel::new(
        Kind::Lines,
        "Startup SLI, 99th percentile",
        "s",
        "Creation until all containers have started, without image pulls and init containers, over schedulable, stateless pods: Kubernetes promises 5 s (the line). The kubelet's own figure has waits for capacity inside and wants all containers running at once, so it is mostly the higher one.",
        vec![
            Target::new(SLI.quantile("0.99", "", RATE), "podinit").with_exemplars(),
            Target::new(KUBELET, "kubelet"),
        ],
    )
    .steps("green", &[(5.0, "red")])
    .logarithmic()
}

fn counted() -> Panel {
    Panel::new(
        Kind::Stack,
        "Pods left out of the startup SLI, per second",
        "short",
        "By reason. static, preexisting, gated, unschedulable, stateful: pods outside of the promise. no_evidence: Events came too late or not at all. Other reasons are how the pod ended.",
        vec![Target::new(
            format!("{} > 0", rate_by("reason", "podinit_pod_start_sli_excluded_total", "")),
            "{{reason}}",
        )],
    )
}

fn results() -> Panel {
    Panel::new(
        Kind::Stack,
        "Images of containers per second",
        "short",
        "Images that were pulled or present (on the node already). Failed are containers whose image could not be pulled at least once.",
        vec![
            Target::new(rate_by("source", "podinit_images_total", CHOSEN), "{{source}}"),
            Target::new(
                format!(
                    "sum(rate({}[$__rate_interval]))",
                    series("podinit_image_pull_failures_total", CHOSEN)
                ),
                "failed",
            ),
        ],
    )
}

fn up() -> Panel {
    Panel::new(
        Kind::Stat,
        "Evidence",
        "none",
        "Whether podinit may read Events and does. Empty without --evidence events.",
        vec![Target::new(
            format!("min by (source) ({})", series("podinit_evidence_up", "")),
            "{{source}}",
        )],
    )
    .steps("red", &[(1.0, "green")])
    .words(&[("0", "no access", "red"), ("1", "read", "green")])
    .sized(4, 8)
}

fn dropped() -> Panel {
    Panel::new(
        Kind::Stack,
        "Events dropped and lost per second",
        "short",
        "Events that told podinit nothing: of finished pods, of other objects (other) or of pods that it does not know. Most Events are. Lost Events did not reach the accounting: the queue was full, or they could not be read.",
        vec![
            Target::new(
                rate_by("reason", "podinit_kube_events_ignored_total", ""),
                "{{reason}}",
            ),
            Target::new(
                rate_by("reason", "podinit_kube_events_lost_total", ""),
                "lost: {{reason}}",
            ),
        ],
    )
    .sized(8, 8)
}
