//! [§6.10](crate::specification#s6-10): SLOs about startups on existing capacity, or with present images.

use super::{BOTH, EVENTS, Example, NODES, example, ready, selecting, slos};
use crate::oracle::build::*;
use crate::oracle::build_evidence::heard;
use crate::oracle::build_nodes::node;
use crate::oracle::reading::Options;
use serde_json::Value;

const CAPACITY: [bool; 2] = [true, false];
const IMAGES: [bool; 2] = [false, true];

pub(super) fn examples() -> Vec<Example> {
    [capacity(), images(), both(), ends()].concat()
}

/// An SLO on the whole startup, which a [`ready`] pod takes 10 s for.
fn whole(options: Options, by: [bool; 2], seconds: f64) -> Options {
    selecting(by, slos(options, [("created_to_ready", seconds)]))
}

fn waiting() -> Value {
    at(0.5, added(&pod("a").no(SCHEDULED, 0.0)))
}

fn old_node() -> Value {
    at(0.2, added(&node("n").created(-60.0)))
}

fn new_node(second: f64) -> Value {
    at(second, added(&node("n").created(second.floor())))
}

fn scheduled(second: f64) -> Value {
    let pod = pod("a").yes(SCHEDULED, second.floor()).on("n");
    at(second, modified(&pod))
}

/// Time passes.
fn clock(seconds: f64) -> Value {
    at(seconds, added(&node("clock").created(seconds.floor())))
}

fn capacity() -> Vec<Example> {
    let on_n = || at(10.5, modified(&ready("a").on("n")));
    vec![
        example(
            "§6.10: a startup on a node that was there counts, as good",
            whole(NODES, CAPACITY, 10.0),
            vec![old_node(), waiting(), on_n()],
            "slo created_to_ready good 1",
        ),
        example(
            "§6.10: and as bad",
            whole(NODES, CAPACITY, 9.0),
            vec![old_node(), waiting(), on_n()],
            "slo created_to_ready bad 1",
        ),
        example(
            "§6.10: \"excluded as `capacity` […] as soon as it is known that its startup is not selected\"",
            whole(NODES, CAPACITY, 60.0),
            vec![waiting(), new_node(2.0), scheduled(3.0)],
            "slo created_to_ready excluded capacity 1",
        ),
        example(
            "§6.10: \"Capacity that is known and `unknown` is not `existing`\"",
            whole(NODES, CAPACITY, 60.0),
            vec![waiting(), scheduled(3.0)],
            "slo created_to_ready excluded capacity 1",
        ),
        example(
            "§6.10: \"stays undecided\": past its deadline, and not scheduled",
            whole(NODES, CAPACITY, 10.0),
            vec![old_node(), waiting(), clock(15.5)],
            "",
        ),
        example(
            "§6.10: \"comes when the startup is known to be selected\"",
            whole(NODES, CAPACITY, 10.0),
            vec![old_node(), waiting(), clock(15.5), scheduled(20.0)],
            "slo created_to_ready bad 1",
        ),
        example(
            "§6.10: a pod past its deadline that a new node takes counts for nothing",
            whole(NODES, CAPACITY, 10.0),
            vec![waiting(), clock(15.5), new_node(18.0), scheduled(20.0)],
            "slo created_to_ready excluded capacity 1",
        ),
        example(
            "§6.10: \"Nothing later changes what is held\"",
            whole(NODES, CAPACITY, 10.0),
            vec![old_node(), waiting(), clock(15.5), at(16.0, modified(&ready("a").on("n")))],
            "slo created_to_ready bad 1",
        ),
        example(
            "§6.10: \"An exclusion by 6.4 does not wait\"",
            selecting(CAPACITY, slos(NODES, [("init", 10.0)])),
            vec![waiting()],
            "slo init excluded not_entered 1",
        ),
        example(
            "§6.10: \"It comes before one by this rule that the same delivery brings\"",
            whole(NODES, CAPACITY, 10.0),
            vec![waiting(), at(3.0, modified(&pod("a").yes(SCHEDULED, 3.0).phase("Failed")))],
            "slo created_to_ready excluded failed 1",
        ),
    ]
}

const PULLED: &str = "Successfully pulled image \"nginx\" in 2s (3s including waiting)";
const PRESENT: &str = "Container image \"nginx\" already present on machine";

fn told(message: &str, second: f64) -> Value {
    at(second, heard(&pod("a"), "Pulled", message, second))
}

fn images() -> Vec<Example> {
    vec![
        example(
            "§6.10: a startup whose images were present counts",
            whole(EVENTS, IMAGES, 10.0),
            vec![waiting(), told(PRESENT, 4.0), at(10.5, modified(&ready("a")))],
            "slo created_to_ready good 1",
        ),
        example(
            "§6.10: \"excluded as […] `images` as soon as it is known\"",
            whole(EVENTS, IMAGES, 60.0),
            vec![waiting(), told(PULLED, 4.0)],
            "slo created_to_ready excluded images 1",
        ),
        example(
            "§6.10: what is good waits until the images are known",
            selecting(IMAGES, slos(EVENTS, [("scheduling", 10.0)])),
            vec![waiting(), scheduled(3.0)],
            "",
        ),
        example(
            "§6.10: and comes with the Event that tells of them",
            selecting(IMAGES, slos(EVENTS, [("scheduling", 10.0)])),
            vec![waiting(), scheduled(3.0), told(PRESENT, 4.0)],
            "slo scheduling good 1",
        ),
    ]
}

fn both() -> Vec<Example> {
    vec![
        example(
            "§6.10: \"Where both hold, `capacity` is the reason\"",
            whole(BOTH, [true, true], 9.0),
            vec![
                at(0.5, added(&pod("a").unschedulable(0.0))),
                at(0.6, added(&node("n").created(1.0))),
                scheduled(3.0),
                told(PULLED, 4.0),
            ],
            "slo created_to_ready excluded capacity 1",
        ),
        example(
            "§6.10: images that were pulled are known before the capacity is",
            whole(BOTH, [true, true], 9.0),
            vec![waiting(), told(PULLED, 1.0)],
            "slo created_to_ready excluded images 1",
        ),
    ]
}

fn ends() -> Vec<Example> {
    vec![
        example(
            "§6.10: \"a held event becomes `capacity`\" when the pod is deleted before it is scheduled",
            whole(NODES, CAPACITY, 10.0),
            vec![waiting(), clock(15.5), at(20.0, deleted(&pod("a").no(SCHEDULED, 0.0)))],
            "slo created_to_ready excluded capacity 1",
        ),
        example(
            "§6.10: \"A pod that ends with the interval open is excluded with its outcome\"",
            whole(NODES, CAPACITY, 10.0),
            vec![waiting(), at(9.0, deleted(&pod("a").no(SCHEDULED, 0.0)))],
            "slo created_to_ready excluded deleted 1",
        ),
        example(
            "§6.10: \"What is not known when the startup ends is not selected\"",
            whole(EVENTS, IMAGES, 10.0),
            vec![waiting(), at(10.5, modified(&ready("a")))],
            "slo created_to_ready excluded images 1",
        ),
    ]
}
