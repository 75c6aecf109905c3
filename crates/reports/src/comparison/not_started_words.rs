//! What the row of the pods that did not start says in words.

use super::answer_words::in_words;
use super::not_started::{MARGIN, MostOfIncrease, NotStarted, StartVerdict, Starts};
use super::together::Together;
use podinit_text::words::{count, points};

impl NotStarted {
    /// `More pods do not start: 42 of 585 → 208 of 571 (…).`
    pub(super) fn in_words(&self) -> String {
        let counts = format!("{} → {}", self.before.pods, self.after.pods);
        let [low, high] = self.interval;
        let size =
            format!("{}, between {} and {}", points(self.difference), points(low), points(high));
        let more = self.most.as_ref().map(more);
        match self.verdict {
            StartVerdict::Worse => {
                let more = more.unwrap_or_else(|| "More pods do not start".to_owned());
                format!("{more}: {counts} ({size}){}{}.", self.place(), self.grown())
            }
            StartVerdict::Better => format!("Fewer pods do not start: {counts} ({size})."),
            StartVerdict::Same | StartVerdict::Unclear => {
                let about = if self.together == Together::Pods { "" } else { "about " };
                let seen = self.worse_from.map_or_else(String::new, |from| {
                    let growth = from as f64 / self.after.pods.of as f64 - self.before.share;
                    let points = points(growth);
                    format!(" From {about}{from} after on ({points}) it would have been seen.")
                });
                match more {
                    Some(more) => format!(
                        "{more}: {counts} ({size}). That may be chance, since pods of a workload fail together."
                    ),
                    None if self.difference.abs() >= MARGIN => {
                        let which = if self.difference > 0.0 { "more" } else { "fewer" };
                        format!(
                            "Cannot tell whether {which} pods do not start: {counts} ({size}).{seen}"
                        )
                    }
                    None => format!(
                        "No difference in how many pods do not start: {counts} ({size}).{seen}"
                    ),
                }
            }
        }
    }

    /// Whether the answer begins with it: more pods do not start, or those of one workload.
    pub(super) fn is_said_first(&self) -> bool {
        self.verdict == StartVerdict::Worse || self.most.is_some()
    }

    /// The reason that grew most: `; 171 of these wait for cni (network), before 3`.
    fn grown(&self) -> String {
        let most = self.reasons.first().filter(|one| one.after > one.before);
        most.map_or_else(String::new, |one| {
            let what = one.reason.in_words(one.after);
            format!("; {} of these {what}, before {}", one.after, one.before)
        })
    }

    /// Where nearly all of them are: `, in zone b only`.
    fn place(&self) -> String {
        self.only.as_ref().map_or_else(String::new, |only| format!(", {} only", in_words(only)))
    }

    /// Each reason with its counts.
    pub(super) fn reasons_in_words(&self) -> String {
        let reasons = self
            .reasons
            .iter()
            .map(|one| format!("{} {} → {}", one.reason.in_words(2), one.before, one.after));
        reasons.collect::<Vec<_>>().join(", ")
    }

    /// The pods that do not count; `None` where all do.
    pub(super) fn left_out(&self) -> Option<String> {
        let side = |name: &str, starts: Starts| {
            let too_new = (starts.too_new > 0)
                .then(|| count(starts.too_new, "is too new to tell", "are too new to tell"));
            let earlier = (starts.earlier > 0).then(|| {
                count(starts.earlier, "is older than the recording", "are older than the recording")
            });
            let parts: Vec<String> = [too_new, earlier].into_iter().flatten().collect();
            (!parts.is_empty()).then(|| format!("{name} {}", parts.join(" and ")))
        };
        let sides = [side("before", self.before), side("after", self.after)];
        let sides: Vec<String> = sides.into_iter().flatten().collect();
        (!sides.is_empty()).then(|| sides.join(", "))
    }
}

/// `20 more pods do not start, all of shop/Deployment/checkout`
fn more(MostOfIncrease { workload, pods, of }: &MostOfIncrease) -> String {
    let part = if pods >= of { "all".to_owned() } else { format!("{pods} of them") };
    format!("{of} more pods do not start, {part} of {workload}")
}
