//! [§6](crate::specification#s6): deadlines in and out of sync.

use serde_json::Value;

use super::slo_deadlines::{bound, clock, network};
use super::{API, Example, example};
use crate::oracle::build::*;

pub(super) fn examples() -> Vec<Example> {
    let blind = |then: Vec<Value>| {
        let before = [at(0.0, list(&[])), at(1.0, added(&bound())), at(2.0, expired())];
        before.into_iter().chain(then).collect()
    };
    vec![
        example(
            "§6: \"While the watch is not in sync no deadline passes: a blind exporter accuses nobody\"",
            network(API),
            blind(vec![clock(40.0), at(50.0, modified(&bound()))]),
            "",
        ),
        example(
            "§6: \"what is found overdue after the resync is judged\"",
            network(API),
            blind(vec![clock(40.0), at(50.0, list(&[bound()]))]),
            "slo network bad 1",
        ),
        example(
            "§6: \"judged by API times\"",
            network(API),
            blind(vec![at(50.0, list(&[bound().yes(NETWORK, 11.0)]))]),
            "slo network good 1",
        ),
        example(
            "§6: out of sync \"An interval found longer than the threshold is bad at once\" all the same",
            network(API),
            blind(vec![at(50.0, modified(&bound().yes(NETWORK, 12.0)))]),
            "slo network bad 1",
        ),
        example(
            "§8: deadlines that passed before an ERROR fire first",
            network(API),
            vec![at(1.0, added(&bound())), at(17.0, expired())],
            "slo network bad 1",
        ),
        example(
            "§8: a bookmark annotated initial-events-end closes a list, and so regains sync",
            network(API),
            blind(vec![
                at(40.0, added(&bound())),
                at(41.0, bookmark(false)),
                at(42.0, bookmark(true)),
            ]),
            "slo network bad 1",
        ),
        example(
            "§5.4, in a streamed list: what is absent vanishes",
            network(API),
            blind(vec![at(42.0, bookmark(true))]),
            "slo network excluded vanished 1",
        ),
        example(
            "§5.4: \"Nothing is inferred from a list that did not complete\", sync neither",
            network(API),
            blind(vec![at(40.0, page(&[bound()])), clock(50.0)]),
            "",
        ),
        example(
            "§8: the stream that turns out to be the first list begins anew: a deadline before it is preexisting",
            network(API),
            vec![at(1.0, added(&bound())), clock(20.0), at(21.0, bookmark(true))],
            "slo network excluded preexisting 1",
        ),
    ]
}
