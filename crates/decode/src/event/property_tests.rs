//! Random Events, mutilated at random, against a plain reading of the same fields from a
//! `serde_json::Value`.

#![allow(clippy::unwrap_used)]

use proptest::prelude::*;
use serde_json::Value;

use super::tests::event;
use super::*;
use podinit_core::rfc3339;
use podinit_testing::random::{any_event, same_in_every_run};

proptest! {
    #![proptest_config(same_in_every_run(512))]

    #[test]
    fn every_object_of_kind_event_is_read_as_its_fields_say(object in any_event()) {
        let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
        let read = event(&object);
        let involved = &object["involvedObject"];
        let uid = text(&involved["uid"]);
        let of_pod = involved["kind"].as_str().is_none_or(|kind| kind == "Pod") && !uid.is_empty();
        let namespaces = [&object["metadata"], involved].map(|stated| text(&stated["namespace"]));
        let (own, of_pod_stated) = (namespaces[0].as_str(), namespaces[1].as_str());
        let is_its_own = own.is_empty() || of_pod_stated.is_empty() || own == of_pod_stated;
        let pod = (of_pod && is_its_own).then(|| PodUid::from_text(&uid));
        prop_assert_eq!(read.uid(), pod);
        if let Some(pod) = read.pod {
            prop_assert_eq!(&*pod.name, text(&involved["name"]));
            let stated = namespaces.iter().find(|stated| !stated.is_empty());
            prop_assert_eq!(&*pod.namespace, stated.map_or("", |stated| stated.as_str()));
        }
        let reporter = match text(&object["reportingComponent"]).as_str() {
            "" => text(&object["source"]["component"]),
            reporter => reporter.to_owned(),
        };
        prop_assert_eq!(read.from_kubelet, reporter == "kubelet");
        prop_assert_eq!(read.first, rfc3339::parse(&text(&object["firstTimestamp"])));
        let time = |value: &Value| rfc3339::parse(&text(value));
        let once = time(&object["eventTime"]);
        let occurred = EventOccurrence {
            first: time(&object["firstTimestamp"]).or(once),
            last: time(&object["lastTimestamp"]).or(time(&object["series"]["lastObservedTime"])).or(once),
        };
        prop_assert_eq!(read.occurred, occurred);
        prop_assert_eq!(read.named, instant_in_name(&text(&object["metadata"]["name"])));
        let mut context = DecodeContext::default();
        prop_assert_eq!(read.container, container(&text(&involved["fieldPath"]), &mut context));
        let (reason, message) = (text(&object["reason"]), text(&object["message"]));
        let expected = match (reason.as_str(), once) {
            ("Scheduled", Some(at)) => EventReason::Scheduled(at),
            _ => reason_of(&reason, &message, &mut context),
        };
        prop_assert_eq!(read.reason, expected);
    }

    #[test]
    fn no_message_makes_it_panic(reason in "(Pulled|Failed|FailedCreatePodSandBox)", message in "\\PC{0,40}") {
        let mut context = DecodeContext::default();
        for head in ["", "Successfully pulled image \"", "Successfully pulled image \"a\" in "] {
            let _ = reason_of(&reason, &format!("{head}{message}"), &mut context);
        }
    }
}
