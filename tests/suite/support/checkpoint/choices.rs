//! The choices that a scenario makes: every combination of them, or those of a seed.

use podinit_sim::rng::Rng;

/// A scenario asks this for everything that can go one way or another. With the same choices, it goes
/// the same way again.
pub struct Choices {
    /// The choices so far: which, of how many
    choices: Vec<(usize, usize)>,
    at: usize,
    rng: Option<Rng>,
}

impl Choices {
    fn new(rng: Option<Rng>) -> Self {
        let choices = Vec::new();
        Self { choices, at: 0, rng }
    }

    /// The choices of `seed`.
    pub fn seeded(seed: u64) -> Self {
        Self::new(Some(Rng::new(seed)))
    }

    /// A number below `of`.
    pub fn pick(&mut self, of: usize) -> usize {
        assert!(of > 0, "nothing to choose from");
        if self.at == self.choices.len() {
            let first = self.rng.as_mut().map_or(0, |rng| rng.below(of as u64));
            self.choices.push((first as usize, of));
        }
        let (chosen, known) = self.choices[self.at];
        assert_eq!(known, of, "the scenario does not only depend on its choices");
        self.at += 1;
        chosen
    }

    /// True in one of `of` cases.
    pub fn one_in(&mut self, of: usize) -> bool {
        self.pick(of) == of - 1
    }

    /// Turns to the next combination of choices; false after the last.
    fn turn(&mut self) -> bool {
        self.at = 0;
        while let Some((chosen, of)) = self.choices.pop() {
            if chosen + 1 < of {
                self.choices.push((chosen + 1, of));
                return true;
            }
        }
        false
    }
}

/// Runs `scenario` with every combination of choices. Returns how many those are, or the first
/// fault with the choices that lead to it.
pub fn every(scenario: impl Fn(&mut Choices) -> Result<(), String>) -> Result<u64, String> {
    let mut choices = Choices::new(None);
    for ran in 1.. {
        scenario(&mut choices)
            .map_err(|fault| format!("{fault}; choices {:?}", choices.choices))?;
        if !choices.turn() {
            return Ok(ran);
        }
    }
    unreachable!("the count does not end");
}

/// Runs `scenario` with the choices of each seed below `seeds`.
pub fn some(
    seeds: u64,
    scenario: impl Fn(&mut Choices) -> Result<(), String>,
) -> Result<u64, String> {
    for seed in 0..seeds {
        scenario(&mut Choices::seeded(seed)).map_err(|fault| format!("{fault}; seed {seed}"))?;
    }
    Ok(seeds)
}
