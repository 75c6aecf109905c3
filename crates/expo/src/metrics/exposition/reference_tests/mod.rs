//! The encoders against plain ones, which take the obvious way: the same bytes for any families.

#![allow(clippy::unwrap_used)]

mod families;
mod protobuf;
mod text;

use prometheus_client::encoding::prometheus_protobuf::prometheus_data_model as proto;
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use prost::Message;

use super::protobuf::ProtobufEncoder;
use super::text::{TextDialect, TextEncoder};
use crate::metrics::start_times::StartTimes;
use families::{Family, any_families, any_time, write};

proptest! {
    #[test]
    fn protobuf_is_what_prometheus_clients_types_encode(
        families in any_families(),
        start in proptest::option::of(any_time()),
    ) {
        let starts = StartTimes::new(start, ["a_total"].into_iter());
        let mut encoder = ProtobufEncoder::with_capacity(0, &starts);
        write(&families, &mut encoder);
        let body = encoder.finish();
        let mut reference = protobuf::Reference::new(&starts);
        write(&families, &mut reference);
        let expected: Vec<_> = reference.families.into_iter().filter(|family| !family.metric.is_empty()).collect();

        let mut read = Vec::new();
        let mut rest = body.as_slice();
        while !rest.is_empty() {
            read.push(proto::MetricFamily::decode_length_delimited(&mut rest).unwrap());
        }
        prop_assert_eq!(&read, &expected);

        let written = expected.iter().map(protobuf::delimited);
        prop_assert_eq!(body, written.collect::<Vec<_>>().concat());
    }

    #[test]
    fn text_is_what_a_plain_encoder_writes(families in any_families()) {
        for dialect in [TextDialect::Prometheus, TextDialect::OpenMetrics] {
            let mut encoder = TextEncoder::with_capacity(dialect, 0);
            write(&families, &mut encoder);
            let body = String::from_utf8(encoder.finish()).unwrap();
            let mut reference = text::Reference::new(dialect);
            write(&families, &mut reference);
            prop_assert_eq!(body, reference.finish());
        }
    }
}

/// Otherwise the properties say little.
#[test]
fn there_are_exemplars_and_empty_histograms_among_the_families() {
    let mut runner = proptest::test_runner::TestRunner::deterministic();
    let (mut exemplars, mut unused) = (0, 0);
    for _ in 0..64 {
        let families = any_families().new_tree(&mut runner).unwrap().current();
        for snapshot in families.iter().flat_map(Family::snapshots) {
            let buckets = 0..snapshot.buckets().count();
            exemplars += buckets.filter_map(|bucket| snapshot.exemplar(bucket)).count();
            unused += usize::from(snapshot.is_empty());
        }
    }
    assert!(exemplars > 100 && unused > 10, "{exemplars} exemplars, {unused} unused");
}
