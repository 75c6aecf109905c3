//! The table of trials and their results.

use std::fmt;
use std::num::NonZero;
use std::sync::Mutex;
use std::thread;

use crate::proof::audit::Fault;
use crate::proof::classes::Class;
use crate::proof::trial::{Report, Trial};

/// How many findings of a trial are printed.
const TOLD: usize = 12;

/// One class.
#[derive(Clone, Debug, Default)]
struct Row {
    trials: u64,
    pods: usize,
    versions: usize,
    delivered: usize,
    lists: usize,
    withheld: usize,
    lost: usize,
    double: usize,
    wrong: usize,
}

impl Row {
    fn add(&mut self, report: &Report) {
        self.trials += 1;
        self.pods += report.discovered;
        self.versions += report.versions;
        self.delivered += report.delivered;
        self.lists += report.lists;
        self.withheld += report.withheld;
        self.lost += report.findings.pods(Fault::Lost);
        self.double += report.findings.pods(Fault::Double);
        self.wrong += report.findings.pods(Fault::Wrong);
    }
}

/// All classes, with what was found.
#[derive(Debug)]
pub struct Table {
    seeds: (u64, u64),
    rows: Vec<(Class, Row)>,
    found: Vec<String>,
}

impl Table {
    /// Runs `trials` trials of each class, or of `only` one, from the seed `first` on, each of `pods` pods.
    pub fn of(only: Option<Class>, first: u64, trials: u64, pods: u32) -> Self {
        let classes = Class::ALL.iter().copied();
        let classes = classes.filter(|class| only.is_none_or(|only| only == *class));
        let todo: Vec<Trial> = (first..first + trials)
            .flat_map(|seed| classes.clone().map(move |class| Trial::new(class, seed, pods)))
            .collect();
        let next = Mutex::new(todo.into_iter());
        let table = Mutex::new(Self {
            seeds: (first, first + trials - 1),
            rows: classes.map(|class| (class, Row::default())).collect(),
            found: Vec::new(),
        });
        let work = || {
            loop {
                let trial = next.lock().unwrap().next();
                let Some(trial) = trial else {
                    return;
                };
                let report = trial.run();
                table.lock().unwrap().add(trial, &report);
            }
        };
        let threads = thread::available_parallelism().map_or(1, NonZero::get);
        thread::scope(|scope| {
            for _ in 0..threads {
                scope.spawn(work);
            }
        });
        table.into_inner().unwrap()
    }

    fn add(&mut self, trial: Trial, report: &Report) {
        for (class, row) in &mut self.rows {
            if *class == trial.class {
                row.add(report);
            }
        }
        if !report.findings.is_empty() {
            let (class, seed, pods) = (trial.class.name(), trial.seed, trial.pods);
            let found = in_words(report);
            let what = format!("PROOF_CLASS={class} PROOF_SEED={seed} PROOF_PODS={pods}\n{found}");
            self.found.push(what);
        }
    }

    /// How many pods were counted in all.
    pub fn pods(&self) -> usize {
        self.rows.iter().map(|(_, row)| row.pods).sum()
    }

    pub fn is_clean(&self) -> bool {
        self.found.is_empty()
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (first, last) = self.seeds;
        writeln!(f, "Seeds {first} to {last} of every class.\n")?;
        writeln!(
            f,
            "| fault class | `PROOF_CLASS` | trials (pods) | versions written | events delivered | withheld | \
             lists | lost | double | wrong |"
        )?;
        writeln!(f, "|---|---|---:|---:|---:|---:|---:|---:|---:|---:|")?;
        let mut all = Row::default();
        for (class, row) in &self.rows {
            let (title, name) = (class.title(), format!("`{}`", class.name()));
            write_row(f, title, &name, row)?;
            all.pods += row.pods;
            all.versions += row.versions;
            all.delivered += row.delivered;
            all.withheld += row.withheld;
            all.lists += row.lists;
            all.lost += row.lost;
            all.double += row.double;
            all.wrong += row.wrong;
        }
        write_row(f, "**all**", "", &all)?;
        self.found.iter().take(20).try_for_each(|found| writeln!(f, "\n{found}"))
    }
}

fn write_row(f: &mut fmt::Formatter<'_>, title: &str, name: &str, row: &Row) -> fmt::Result {
    let Row { pods, versions, delivered, withheld, lists, lost, double, wrong, .. } = row;
    writeln!(
        f,
        "| {title} | {name} | {pods} | {versions} | {delivered} | {withheld} | {lists} | {lost} | \
         {double} | {wrong} |"
    )
}

/// What a trial has found.
pub fn in_words(report: &Report) -> String {
    let mut text = format!(
        "{:?}: {} pods, {} of them counted, {} versions; {} events delivered, {} withheld, {} lists",
        report.parts,
        report.pods,
        report.discovered,
        report.versions,
        report.delivered,
        report.withheld,
        report.lists
    );
    let all = report.findings.all();
    for finding in all.iter().take(TOLD) {
        let pod = finding.pod.map_or("all pods".to_owned(), |pod| format!("pod {pod}"));
        text += &format!("\n  {:?}: {pod}: {}", finding.fault, finding.what);
    }
    if all.len() > TOLD {
        text += &format!("\n  and {} more", all.len() - TOLD);
    }
    text
}
