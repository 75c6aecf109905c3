//! Rule 15.7 of the specification, read once more: where pods do not start.

use std::collections::BTreeSet;

use super::reference::{holm, values};
use super::sides::{End, Fault, Pod};
use super::starts_reference::{counted, fisher};
use podinit_core::lifecycle::Cause;

/// A value of a dimension: pods that did not start, of how many, before and after, and the corrected p-value.
#[derive(Clone, Debug)]
pub struct ExpectedPlace {
    pub dimension: &'static str,
    pub value: String,
    pub before: [usize; 2],
    pub after: [usize; 2],
    pub p_value: f64,
}

impl ExpectedPlace {
    pub fn growth(&self) -> f64 {
        self.points() * self.after[1] as f64
    }

    fn points(&self) -> f64 {
        let [before, after] = [self.before, self.after].map(|[count, of]| count as f64 / of as f64);
        after - before
    }

    fn is_no_chance(&self) -> bool {
        self.points() >= 0.01 && self.p_value < 0.01
    }
}

/// In the order in which one is named of those that say as much.
const DIMENSIONS: [&str; 7] =
    ["node", "nodepool", "zone", "image", "registry", "workload", "namespace"];

type Told<'a> = (&'a Pod, bool);

/// What it is that keeps a pod from starting, where it is an image.
fn fault((pod, has_started): Told<'_>) -> Option<Fault> {
    pod.fault.filter(|_| !has_started && pod.end != End::Rejected)
}

fn is_of_pull(told: Told<'_>) -> bool {
    fault(told).is_some_and(|fault| [Cause::Image, Cause::Pull].contains(&fault.cause))
}

fn registry(image: &str) -> &str {
    image.split_once('/').map_or("docker.io", |(first, _)| match first.contains(['.', ':']) {
        true => first,
        false => "docker.io",
    })
}

/// The images or registries of the images of `pod` with these numbers.
fn of_images(pod: &Pod, dimension: &str, numbers: impl Iterator<Item = usize>) -> BTreeSet<String> {
    let images = numbers.map(|number| pod.images[number].clone()).collect();
    let images = values(&Pod { images, ..pod.clone() }, "image").into_iter();
    let shown = |image: String| match dimension {
        "registry" => registry(&image).to_owned(),
        _ => image,
    };
    images.map(shown).collect()
}

/// The values of a pod, before innocent ones are left out.
fn has(told: Told<'_>, dimension: &str) -> BTreeSet<String> {
    let (pod, has_started) = told;
    match dimension {
        "image" | "registry" if has_started => of_images(pod, dimension, 0..pod.images.len()),
        "registry" if !is_of_pull(told) => BTreeSet::new(),
        "image" | "registry" => {
            of_images(pod, dimension, fault(told).iter().map(|fault| fault.image))
        }
        _ => values(pod, dimension).into_iter().collect(),
    }
}

/// Whether an image or registry is not to blame for the pulls of it that fail.
fn is_innocent(after: &[Told<'_>], dimension: &str, value: &str) -> bool {
    let of_value =
        after.iter().filter(|told| is_of_pull(**told) && has(**told, dimension).contains(value));
    let of_value: Vec<Told<'_>> = of_value.copied().collect();
    let first = |told: &Told<'_>| told.0.created + fault(*told).unwrap().since;
    let mut times: Vec<i64> = of_value.iter().map(first).collect();
    times.sort_unstable();
    // Of an even number the later one.
    let Some(median) = times.iter().rev().nth((times.len().max(1) - 1) / 2) else { return false };
    let pulls = after.iter().filter(|(pod, _)| match &pod.pulled {
        Some((seconds, images)) if pod.end == End::Ready => {
            pod.created + seconds > *median
                && of_images(pod, dimension, images.iter().copied()).contains(value)
        }
        _ => false,
    });
    let images: BTreeSet<String> = of_value.iter().flat_map(|told| has(*told, "image")).collect();
    pulls.count() as f64 > times.len() as f64 / 2.0 || dimension == "registry" && images.len() < 3
}

/// The values of every dimension with at least 5 pods after.
pub fn places(before: &[Pod], after: &[Pod]) -> Vec<ExpectedPlace> {
    let (_, sides) = counted(before, after);
    let sum = |pods: Vec<Told<'_>>| [pods.iter().filter(|told| !told.1).count(), pods.len()];
    let mut found = Vec::new();
    for dimension in DIMENSIONS {
        let all: BTreeSet<String> =
            sides[1].iter().flat_map(|told| has(*told, dimension)).collect();
        for value in all {
            let is_innocent = is_innocent(&sides[1], dimension, &value);
            let [own, later] = [0, 1].map(|side| {
                let pods = sides[side].iter().copied().filter(|told| {
                    has(*told, dimension).contains(&value) && !(is_innocent && is_of_pull(*told))
                });
                sum(pods.collect())
            });
            let before = if own[1] < 5 { sum(sides[0].clone()) } else { own };
            if later[1] >= 5 {
                let p_value = fisher([before, later]);
                found.push(ExpectedPlace { dimension, value, before, after: later, p_value });
            }
        }
    }
    let p_values: Vec<f64> = found.iter().map(|place| place.p_value).collect();
    for (place, corrected) in found.iter_mut().zip(holm(&p_values)) {
        place.p_value = corrected;
    }
    found
}

/// The dimension and values that the sentence names, of pods without pools and zones.
pub fn only(before: &[Pod], after: &[Pod]) -> Option<(&'static str, BTreeSet<String>)> {
    let (_, sides) = counted(before, after);
    let share =
        |side: &[Told<'_>]| side.iter().filter(|told| !told.1).count() as f64 / side.len() as f64;
    let growth = (share(&sides[1]) - share(&sides[0])) * sides[1].len() as f64;
    let places = places(before, after);
    let few = |dimensions: &[&'static str], most_pods: usize| {
        let mut best: Option<(&'static str, BTreeSet<String>)> = None;
        for dimension in dimensions {
            let of_dimension = places.iter().filter(|place| place.dimension == *dimension);
            let mut grown: Vec<_> = of_dimension.collect();
            grown.sort_by(|one, other| other.growth().total_cmp(&one.growth()));
            let (mut part, mut pods, mut names) = (0.0, 0, BTreeSet::new());
            for place in grown.into_iter().take(5).filter(|place| place.is_no_chance()) {
                if part < 0.9 * growth {
                    part += place.growth();
                    pods += place.after[1];
                    names.insert(place.value.clone());
                }
            }
            let is_fewer = best.as_ref().is_none_or(|(_, best)| names.len() < best.len());
            if part >= 0.9 * growth && 4 * pods <= most_pods && is_fewer {
                best = Some((dimension, names));
            }
        }
        best
    };
    few(&DIMENSIONS, 3 * sides[1].len()).or_else(|| {
        let (dimension, names) = few(&["image", "registry"], usize::MAX)?;
        let all =
            sides[1].iter().flat_map(|(pod, _)| of_images(pod, dimension, 0..pod.images.len()));
        let has_others = all.collect::<BTreeSet<_>>() != names;
        has_others.then_some((dimension, names))
    })
}
