//! The answer of a wait: a line while it goes on, and the end as text, Markdown or JSON.

use podinit_oncall::problems::Problem;
use podinit_text::document::{DocumentFormat, TextDocument};
use podinit_text::human_time::seconds;
use podinit_text::strangers_text;
use podinit_text::words::{capitalized, count};
use serde::Serialize;

/// The status that a shell gives a command that SIGINT ended.
pub const INTERRUPTED: u8 = 130;

/// The answer of a wait.
#[derive(Clone, Debug, Serialize)]
pub struct WaitAnswer {
    pub outcome: WaitOutcome,
    /// The exit status
    pub status: u8,
    /// How long it took
    pub seconds: f64,
    /// Of all, in the order in which they were named
    pub targets: Vec<TargetAnswer>,
}

/// How a wait has ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitOutcome {
    Done,
    Failed,
    TimedOut,
    Interrupted,
}

/// What is known of a target.
#[derive(Clone, Debug, Serialize)]
pub struct TargetAnswer {
    /// Such as `deployment/web`
    pub target: String,
    pub namespace: String,
    pub outcome: TargetOutcome,
    /// How long it was waited for
    pub seconds: f64,
    /// All of this in one or two sentences
    pub sentence: String,
    /// The new revision, as the API calls it; `null` where it is not known, or there is only one
    pub revision: Option<String>,
    /// The revisions that were the new one before, while it was waited for
    pub replaced: Vec<String>,
    pub pods: PodCounts,
    /// Why it has failed
    pub why: Option<String>,
    /// What is missing, as its controller counts
    pub going: Option<String>,
    /// What the pod waits for that has waited longest
    pub waits: Option<String>,
    /// The pod that took longest, of one that is done
    pub slowest: Option<SlowestPod>,
    /// The problems of the pods of the new revision
    pub problems: Vec<Problem>,
    /// What the controller says
    pub controller: Vec<String>,
    /// What is to be known besides: a pause, a partition, rights that are missing
    pub notes: Vec<String>,
    /// The last lines of containers that crashed
    pub logs: Vec<ContainerLog>,
    /// A command that shows more
    pub next_command: String,
}

/// How far a target is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum TargetOutcome {
    Waiting,
    Done,
    Failed,
}

/// The pods of a target.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct PodCounts {
    pub wanted: usize,
    /// Those of the new revision that are ready, or have succeeded
    pub ready: usize,
    /// Those of older revisions that are left
    pub old: usize,
}

/// The pod that took longest to be ready.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SlowestPod {
    pub pod: String,
    pub seconds: f64,
    /// Its longest stage
    pub stage: &'static str,
    pub stage_seconds: f64,
}

/// The last lines of a container.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ContainerLog {
    pub pod: String,
    pub container: String,
    pub lines: Vec<String>,
}

impl TargetAnswer {
    /// The same with its sentence.
    pub(crate) fn with_sentence(self) -> Self {
        let (target, took) = (&self.target, seconds(self.seconds.floor()));
        let sentence = match self.outcome {
            TargetOutcome::Done => self.is_done(&took),
            TargetOutcome::Failed => self.has_failed(&took),
            TargetOutcome::Waiting => {
                let figures = [self.figures()].into_iter().chain(self.notes.iter().cloned());
                let parts: Vec<String> = figures.chain(self.going.clone()).collect();
                format!("{}{target} is not done after {took}: {}.", self.wrong(), parts.join("; "))
            }
        };
        Self { sentence, ..self }
    }

    /// That the new revision has taken the place of one that was the new one before.
    fn replacement(&self, takes: &str) -> Option<String> {
        let new = self.revision.as_deref().unwrap_or_default();
        self.replaced.last().map(|old| format!("revision {new} {takes} the place of {old}"))
    }

    /// How many pods are ready, and how many old ones are left.
    fn figures(&self) -> String {
        let PodCounts { wanted, ready, old } = self.pods;
        let which = if self.revision.is_some() { " of the new revision" } else { "" };
        let left = match old {
            0 => String::new(),
            old => format!(", {} left", count(old, "old one", "old ones")),
        };
        format!("{ready} of {}{which} ready{left}", count(wanted, "pod", "pods"))
    }

    /// One line while it is waited for.
    pub fn line(&self) -> String {
        if self.outcome != TargetOutcome::Waiting {
            return self.sentence.clone();
        }
        let waits = self.controller.first().or(self.waits.as_ref()).or(self.going.as_ref());
        let parts = self.replacement("has taken").into_iter().chain(self.notes.iter().cloned());
        let parts = parts.chain(waits.cloned()).map(|part| format!("; {part}"));
        format!("{}: {}{}", self.target, self.figures(), parts.collect::<String>())
    }

    fn is_done(&self, took: &str) -> String {
        let target = &self.target;
        let is = match target.split('/').next() {
            Some("job") => "is complete",
            Some("pod") => "is ready",
            _ if target.contains('/') => "is rolled out",
            _ => "are ready",
        };
        let pods = match self.pods.wanted {
            0 => "it wants no pods".to_owned(),
            _ => self.figures(),
        };
        let slowest = self.slowest.as_ref().map(|slowest| {
            let SlowestPod { pod, seconds: all, stage, stage_seconds } = slowest;
            let (all, part) = (seconds(all.round()), seconds(stage_seconds.round()));
            format!("the slowest, {pod}, took {all}, of which {part} in {stage}")
        });
        let replaced = self.replacement("took").map(|replaced| replaced + " meanwhile");
        let parts = [pods].into_iter().chain(slowest).chain(replaced);
        let parts: Vec<String> = parts.chain(self.notes.iter().cloned()).collect();
        format!("{target} {is} after {took}: {}.", parts.join("; "))
    }

    /// What is wrong, where and since when: of its pods, or else what its controller says and what its slowest pod waits
    /// for.
    fn wrong(&self) -> String {
        if let Some(problem) = self.problems.first() {
            return problem.sentence.clone() + " ";
        }
        let said = self.controller.first().map(|said| capitalized(said));
        let parts = said.iter().chain(&self.waits);
        parts.map(|part| format!("{part}. ")).collect()
    }

    fn has_failed(&self, took: &str) -> String {
        let target = &self.target;
        let wrong = self.wrong();
        let why = self.why.as_deref().unwrap_or_default().trim_end_matches('.');
        let why = match wrong.contains(why) {
            true => String::new(),
            false => format!(": {why}"),
        };
        let going = self.going.as_ref().filter(|_| wrong.is_empty());
        let going = going.map(|going| format!("; {going}")).unwrap_or_default();
        format!("{wrong}{target} has failed after {took}{why}; {}{going}.", self.figures())
    }

    /// Adds it to a document.
    fn write(&self, document: &mut TextDocument) {
        document.answer(&self.sentence);
        if self.outcome == TargetOutcome::Done {
            return;
        }
        let others = self.problems.iter().skip(1).map(|problem| problem.sentence.clone());
        let said = self.controller.iter().skip(usize::from(self.problems.is_empty()));
        for line in others.chain(said.map(|said| capitalized(said) + ".")) {
            let line = document.escaped(&line);
            document.sentence(&line);
        }
        let indent = if document.format == DocumentFormat::Markdown { "" } else { "  " };
        for ContainerLog { pod, container, lines } in &self.logs {
            let of = document.escaped(&format!("Last lines of container {container} of {pod}:"));
            document.sentence(&of);
            let lines = lines.iter().map(|line| format!("{indent}{}", document.name(line)));
            document.list(lines.collect::<Vec<_>>());
        }
        let next = document.name(&self.next_command);
        document.labelled("Next", &next);
    }
}

impl WaitAnswer {
    /// The answer of a wait that has ended so.
    pub(crate) fn new(outcome: WaitOutcome, targets: Vec<TargetAnswer>) -> Self {
        let status = match outcome {
            WaitOutcome::Done => 0,
            WaitOutcome::Failed => 3,
            WaitOutcome::TimedOut => 4,
            WaitOutcome::Interrupted => INTERRUPTED,
        };
        let seconds = targets.iter().map(|target| target.seconds).fold(0.0, f64::max);
        Self { outcome, status, seconds, targets }
    }

    /// For a terminal, or in Markdown. What has failed comes first.
    pub fn to_document(&self, format: DocumentFormat) -> String {
        let mut document = TextDocument::new(format);
        let mut targets: Vec<&TargetAnswer> = self.targets.iter().collect();
        targets.sort_by_key(|target| match target.outcome {
            TargetOutcome::Failed => 0,
            TargetOutcome::Waiting => 1,
            TargetOutcome::Done => 2,
        });
        for target in targets {
            target.write(&mut document);
        }
        document.finish()
    }

    /// As one JSON object.
    ///
    /// # Errors
    /// None: every answer can be serialized.
    pub fn to_json(&self) -> serde_json::Result<String> {
        strangers_text::json(self)
    }
}
