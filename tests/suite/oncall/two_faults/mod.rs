//! Two to five faults at once ([§13.5](crate::specification#s13-5), [§13.6](crate::specification#s13-6)): what is told
//! of them is compared with what was put in.

mod kinds;
mod list;

use std::fmt;

use kinds::FaultKind;
use list::{List, ListedPod};
use podinit_oncall::problems::Problem;

/// So many random lists.
const LISTS: u64 = 300;
/// At least so many of a hundred pods have the reason of their own fault in a sentence of theirs.
const LEAST_TOLD: f64 = 90.0;
/// At most so many are silently under the reason of another fault.
const MOST_MISLED: f64 = 1.0;
/// At most so many of a hundred pairs of pods of one fault are in different problems.
const MOST_TORN: f64 = 10.0;

/// Of some, how many.
#[derive(Clone, Copy, Default)]
struct Share {
    some: usize,
    all: usize,
}

impl Share {
    fn add(&mut self, is_one: bool) {
        self.some += usize::from(is_one);
        self.all += 1;
    }

    fn percent(self) -> f64 {
        100.0 * self.some as f64 / self.all.max(1) as f64
    }
}

impl fmt::Display for Share {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:.1} % ({} of {})", self.percent(), self.some, self.all)
    }
}

/// What was made of lists.
#[derive(Clone, Copy, Default)]
struct Measure {
    /// Pods whose own fault's reason is told
    told: Share,
    /// Pods that are silently under the reason of another
    misled: Share,
    /// Pairs of pods of one fault that are in different problems
    torn: Share,
}

impl Measure {
    fn add(&mut self, list: &List) {
        let places: Vec<Option<usize>> = list.pods.iter().map(|pod| list.problem_of(pod)).collect();
        for (pod, place) in list.pods.iter().zip(&places) {
            let sentence = place.map_or("", |place| &list.problems()[place].sentence);
            let says = |kind: &&FaultKind| kind.signs.iter().any(|sign| sentence.contains(sign));
            let is_told = says(&list.faults[pod.fault]);
            self.told.add(is_told);
            self.misled
                .add(!is_told && !says_of_how_many(sentence) && list.faults.iter().any(says));
        }
        for (position, (pod, place)) in list.pods.iter().zip(&places).enumerate() {
            for (other, other_place) in list.pods.iter().zip(&places).skip(position + 1) {
                if pod.fault == other.fault {
                    self.torn.add(place != other_place);
                }
            }
        }
    }

    /// How far a list is from what is right, in pods.
    fn badness(&self) -> usize {
        self.misled.some + self.told.all - self.told.some
    }

    fn is_good(&self) -> bool {
        self.told.percent() >= LEAST_TOLD
            && self.misled.percent() <= MOST_MISLED
            && self.torn.percent() <= MOST_TORN
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { told, misled, torn } = self;
        write!(
            formatter,
            "told of their own fault: {told}; silently under another: {misled}; pairs torn apart: {torn}"
        )
    }
}

/// Whether it says "(20 of 36)".
fn says_of_how_many(sentence: &str) -> bool {
    let is_number = |word: &str| {
        !word.is_empty() && word.bytes().all(|byte| byte.is_ascii_digit() || byte == b',')
    };
    let is_part = |text: &str| {
        let words: Vec<&str> = text.split(')').next().unwrap().split(' ').collect();
        matches!(words[..], [some, "of", all] if is_number(some) && is_number(all))
    };
    sentence.split('(').skip(1).any(is_part)
}

/// What was put into a list, and what was found.
fn described(list: &List) -> String {
    let mut text = format!("list {}\n", list.seed);
    for (position, kind) in list.faults.iter().enumerate() {
        let pods = move || list.pods.iter().filter(move |pod| pod.fault == position);
        let problems: std::collections::BTreeSet<_> =
            pods().map(|pod| list.problem_of(pod)).collect();
        let (cause, sign, first) = (kind.waits.1.as_str(), kind.signs[0], pods().next().unwrap());
        text += &format!(
            "  put in: {} pods, {cause}, {sign}, {:?}, in problems {problems:?}: {}\n",
            pods().count(),
            kind.reach,
            first.text
        );
    }
    for (place, problem) in list.problems().iter().enumerate() {
        text += &format!("  found {place}: {}\n", problem.sentence);
    }
    text
}

#[test]
fn each_fault_is_told_of_the_pods_that_have_it() {
    let mut all = Measure::default();
    let mut worst = Vec::new();
    for list in (0..LISTS).map(List::new) {
        let mut own = Measure::default();
        own.add(&list);
        all.add(&list);
        worst.push((own.badness(), described(&list)));
    }
    worst.sort_by_key(|(badness, _)| std::cmp::Reverse(*badness));
    let worst: String = worst.iter().take(6).map(|(_, text)| &**text).collect();
    assert!(all.is_good(), "{all}\n{worst}");
}

/// The fault whose reason a sentence quotes first, and which words of it.
fn quoted(list: &List, problem: &Problem) -> Option<&'static str> {
    let signs = list.faults.iter().flat_map(|kind| kind.signs);
    let places = signs.filter_map(|sign| Some((problem.sentence.find(*sign)?, *sign)));
    places.min().map(|(_, sign)| sign)
}

#[test]
fn a_reason_that_fewer_than_nine_tenths_have_is_quoted_with_their_number() {
    for list in (0..LISTS).map(List::new) {
        for (place, problem) in list.problems().iter().enumerate() {
            let Some(sign) = quoted(&list, problem) else {
                continue;
            };
            let mut having = Share::default();
            let of_it = |pod: &&ListedPod| list.problem_of(pod) == Some(place);
            list.pods.iter().filter(of_it).for_each(|pod| having.add(list.is_told(pod, sign)));
            let is_said = 10 * having.some >= 9 * having.all || says_of_how_many(&problem.sentence);
            assert!(is_said, "{having} have {sign:?}: {}\n{}", problem.sentence, described(&list));
        }
    }
}

#[test]
fn the_pods_that_are_named_have_the_text_that_is_quoted() {
    for list in (0..LISTS).map(List::new) {
        for (place, problem) in list.problems().iter().enumerate() {
            let Some(sign) = quoted(&list, problem) else {
                continue;
            };
            let of_it = |pod: &&ListedPod| list.problem_of(pod) == Some(place);
            let having =
                list.pods.iter().filter(of_it).filter(|pod| list.is_told(pod, sign)).count();
            for named in problem.oldest.iter().take(having) {
                let pod = (list.pods.iter())
                    .find(|pod| pod.name == named.name && pod.namespace == named.namespace)
                    .unwrap();
                let said = format!("{named:?} has {}: {}", pod.text, problem.sentence);
                assert!(list.is_told(pod, sign), "{said}\n{}", described(&list));
            }
        }
    }
}
