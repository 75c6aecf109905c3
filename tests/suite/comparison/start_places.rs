//! Where pods do not start ([§15.7](crate::specification#s15-7)): with the image or registry that the cause is about, and
//! with no other.

use std::collections::{BTreeMap, BTreeSet};

use super::figures::compared;
use super::sides::{End, Fault, Pod, random};
use super::start_places_reference as reference;
use podinit_core::lifecycle::{Cause, Interval, TimestampMode};
use serde_json::Value;

/// Pods without a workload, one every 10 s, that become ready after 4 s. `change` makes each what it is.
fn pods(count: usize, change: impl Fn(usize, &mut Pod)) -> Vec<Pod> {
    let pod = |number: usize| {
        let mut pod = Pod {
            created: 1_770_000_000 + 10 * number as i64,
            node: format!("node-{}", number % 7),
            images: vec!["ghcr.io/mesh/proxy:1".to_owned(), format!("app-{}:1", number % 5)],
            durations: vec![(Interval::CreatedToReady, 4_000_000_000)],
            ..Pod::default()
        };
        change(number, &mut pod);
        if pod.end != End::Ready {
            pod.durations.clear();
        }
        pod
    };
    (0..count).map(pod).collect()
}

/// The pod waits in flight for what its second image does.
fn waits(pod: &mut Pod, cause: Cause) {
    pod.end = End::InFlight;
    pod.fault = Some(Fault { cause, image: 1, since: 1 });
}

/// The sentence, and the images and registries of which more pods do not start. The reference agrees.
fn told(change: impl Fn(usize, &mut Pod)) -> (String, Vec<String>) {
    let (before, after) = (pods(100, |_, _| {}), pods(100, change));
    let starts = compared(&before, &after, TimestampMode::Fused).not_started.unwrap();
    assert_eq!(starts.verdict.as_str(), "worse", "{starts:?}");
    let row = serde_json::to_value(&starts).unwrap();
    assert_places(&row, &before, &after);
    let parts = row["parts"].as_array().unwrap().iter();
    let of_images =
        parts.filter(|part| part["dimension"] == "image" || part["dimension"] == "registry");
    let values = of_images.map(|part| part["value"].as_str().unwrap().to_owned());
    let mut values: Vec<String> = values.collect();
    values.sort_unstable();
    (starts.text, values)
}

fn assert_places(row: &Value, before: &[Pod], after: &[Pod]) {
    let mut of_dimension: BTreeMap<&str, Vec<_>> = BTreeMap::new();
    for place in reference::places(before, after).into_iter().filter(|place| place.growth() > 0.0) {
        of_dimension.entry(place.dimension).or_default().push(place);
    }
    let mut expected = Vec::new();
    for places in of_dimension.values_mut() {
        places.sort_by(|one, other| other.growth().total_cmp(&one.growth()));
        expected.extend(places.iter().take(5));
    }
    let parts = row["parts"].as_array().unwrap();
    assert_eq!(parts.len(), expected.len(), "{parts:?} {expected:?}");
    for place in expected {
        let same =
            |part: &&Value| part["dimension"] == place.dimension && part["value"] == *place.value;
        let part = parts.iter().find(same).unwrap_or_else(|| panic!("{place:?} {parts:?}"));
        let counts = ["before", "after"]
            .map(|side| ["count", "of"].map(|name| part[side][name].as_u64().unwrap() as usize));
        assert_eq!(counts, [place.before, place.after], "{place:?}");
        assert!(
            (part["corrected_p_value"].as_f64().unwrap() - place.p_value).abs() < 1e-7,
            "{place:?} {part:?}"
        );
    }
    let expected = reference::only(before, after).filter(|_| row["verdict"] == "worse");
    let only = row["only"].as_object().map(|only| {
        let values = only["values"].as_array().unwrap().iter();
        let values: BTreeSet<String> =
            values.map(|value| value.as_str().unwrap().to_owned()).collect();
        (only["dimension"].as_str().unwrap().to_owned(), values)
    });
    assert_eq!(only, expected.map(|(dimension, values)| (dimension.to_owned(), values)));
}

#[test]
fn only_the_image_that_cannot_be_pulled_is_named() {
    let (text, values) = told(|number, pod| {
        if number % 5 == 1 {
            waits(pod, Cause::Image);
        }
    });
    assert!(
        text.contains(
            ", with image app-1 only; 20 of these wait for image (containers), before 0."
        ),
        "{text}"
    );
    assert_eq!(values, ["app-1"]);
}

#[test]
fn of_images_that_all_pods_have_the_one_that_cannot_be_pulled_is_named() {
    let fails = |is_alone: bool| {
        move |number: usize, pod: &mut Pod| {
            pod.images[1] = "app:1".to_owned();
            if number % 5 == 1 {
                waits(pod, Cause::Image);
            }
            if is_alone {
                pod.images[0] = "app:2".to_owned();
            }
        }
    };
    let (text, values) = told(fails(false));
    assert!(text.contains(", with image app only; "), "{text}");
    assert_eq!(values, ["app"]);
    let (text, _) = told(fails(true));
    assert!(!text.contains("only"), "{text}");
}

#[test]
fn a_registry_of_which_three_images_cannot_be_pulled_is_named() {
    let fails = |images: usize| {
        move |number: usize, pod: &mut Pod| {
            if number % 5 > 2 {
                pod.images[1] = "quay.io/other:1".to_owned();
            } else if number % 5 < images && number.is_multiple_of(2) {
                waits(pod, Cause::Image);
            }
        }
    };
    let (text, values) = told(fails(3));
    assert!(text.contains(", with registry docker.io only; "), "{text}");
    assert_eq!(values, ["app-0", "app-1", "app-2", "docker.io"]);
    let (text, values) = told(fails(2));
    assert!(text.contains(", with images app-1 and app-0 only; "), "{text}");
    assert_eq!(values, ["app-0", "app-1"]);
}

/// 20 pods of an image do not start, and so many others pull it later. The side begins with the first pod.
fn then_pulled(cause: Cause, pulls: usize) -> (String, Vec<String>) {
    told(|number, pod| {
        if (1..21).contains(&number) || number >= 100 - pulls {
            pod.images[1] = "late:1".to_owned();
        }
        match number {
            1..21 => waits(pod, cause),
            _ if number >= 100 - pulls => pod.pulled = Some((4, vec![0, 1])),
            _ => {}
        }
    })
}

#[test]
fn an_image_that_is_pulled_later_is_not_named() {
    let (text, values) = then_pulled(Cause::Image, 30);
    assert!(!text.contains("only"), "{text}");
    assert!(values.is_empty(), "{values:?}");
    // As many as half of the pods are not enough.
    let (text, values) = then_pulled(Cause::Pull, 10);
    assert!(text.contains(", with image late only; "), "{text}");
    assert_eq!(values, ["late"]);
}

#[test]
fn an_image_that_crashes_is_named_although_it_is_pulled() {
    let (text, values) = then_pulled(Cause::Crash, 30);
    assert!(
        text.contains(", with image late only; 20 of these wait for crash (containers), before 0."),
        "{text}"
    );
    assert_eq!(values, ["late"]);
}

#[test]
fn what_is_about_no_image_names_none() {
    let (text, values) = told(|number, pod| {
        if number % 5 == 1 {
            pod.end = End::InFlight;
        }
    });
    assert!(text.contains("); 20 of these wait for cni (network), before 0."), "{text}");
    assert!(values.is_empty(), "{values:?}");
}

/// A Job's pod fails by the container that crashed, and one that was deleted by what it waited for until then.
#[test]
fn pods_that_are_over_name_the_image_of_their_last_cause() {
    for (end, said) in [(End::Failed, "failed after crash"), (End::Deleted(60), "wait for crash")] {
        let (text, values) = told(|number, pod| {
            if number % 5 == 1 {
                waits(pod, Cause::Crash);
                pod.end = end;
            }
        });
        assert!(
            text.contains(&format!(", with image app-1 only; 20 of these {said} (containers)")),
            "{text}"
        );
        assert_eq!(values, ["app-1"]);
    }
}

/// Random pods with images that fail and are pulled at random. Of some sides after, those of one image or registry fail.
fn with_images(rng: &mut fastrand::Rng, is_after: bool) -> Vec<Pod> {
    let all = ["a.io/x:1", "a.io/y:2", "a.io/z@sha256:12", "b.io/x:1", "c:1"];
    let causes = [Cause::Image, Cause::Pull, Cause::Crash, Cause::Config];
    let causes = &causes[..[2, 4][rng.usize(..2)]];
    let rarely_pulled = [3, 60][rng.usize(..2)];
    let mut pods = random(rng, 150, false, 1.0);
    let failing = if is_after { rng.usize(..4) } else { 0 };
    for pod in &mut pods {
        pod.labels = None;
        pod.durations.retain(|(interval, _)| *interval == Interval::CreatedToReady);
        let first = rng.usize(..all.len());
        let images = all.iter().cycle().skip(first).take(rng.usize(1..4));
        pod.images = images.map(|image| (*image).to_owned()).collect();
        let mut image = rng.usize(..pod.images.len());
        if failing > 0 {
            let is_failing = first < failing;
            pod.end = if is_failing && rng.bool() { End::InFlight } else { End::Ready };
            image = 0;
        } else if rng.u32(..20) > 0 {
            pod.end = End::Ready;
        }
        let cause = causes[rng.usize(..causes.len())];
        let fault = Fault { cause, image, since: rng.i64(0..20) };
        let pulled = (0..pod.images.len()).filter(|_| rng.u32(..rarely_pulled) == 0).collect();
        match pod.end {
            End::Ready => pod.pulled = Some((rng.i64(0..30), pulled)),
            _ => pod.fault = Some(fault).filter(|_| rng.u32(..20) > 0),
        }
    }
    pods
}

#[test]
fn places_are_those_of_the_reference() {
    let (mut named, mut worse) = (BTreeSet::new(), 0);
    for seed in 0..60 {
        let mut rng = fastrand::Rng::with_seed(seed);
        let [before, after] = [false, true].map(|is_after| with_images(&mut rng, is_after));
        let Some(starts) = compared(&before, &after, TimestampMode::Fused).not_started else {
            continue;
        };
        let row = serde_json::to_value(&starts).unwrap();
        if row["verdict"] != "same" {
            assert_places(&row, &before, &after);
        }
        worse += usize::from(row["verdict"] == "worse");
        named.extend(row["only"]["dimension"].as_str().map(str::to_owned));
    }
    assert!(worse > 10, "{worse}");
    assert!(named.contains("image") && named.contains("registry"), "{named:?}");
}
