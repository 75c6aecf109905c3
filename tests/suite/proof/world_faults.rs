//! Faults that are not the API server's answers: unseen deletions, the machine's clock, a stopped or killed
//! process, a restored backup.

use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::time::Instant;

use crate::proof::classes::Class;
use crate::proof::server_faults::Break;
use crate::proof::trial::World;

impl World {
    pub async fn inject(&mut self) {
        let part = *self.rng.pick(&self.parts);
        let rng = match part.is_of_shards() {
            true => &mut self.shard_rng,
            false => &mut self.rng,
        };
        part.inject(&mut self.server.lock().faults, rng);
        match part {
            Class::UnseenDeletions => {
                let history = &mut self.server.lock().history;
                for _ in 0..1 + self.rng.below(4) {
                    let nth = self.rng.below(self.lives.living() as u64) as usize;
                    self.lives.remove_unseen(nth, history);
                }
                // A watch that is opened from before the deletions gets 410, as an open one does:
                // it would never learn of them.
                history.compact();
            }
            Class::ClockStepped => {
                let hour = 3_600_000_000_000;
                let steps = [-hour, hour, 90_000_000_000, -90_000_000_000];
                let step = match self.offset.load(Ordering::Relaxed) {
                    0 => *self.rng.pick(&steps),
                    _ => 0,
                };
                self.offset.store(step, Ordering::Relaxed);
            }
            Class::Stopped => self.stop_and_continue().await,
            Class::RolledBack => self.back_up_or_restore(),
            Class::ColdRestart if self.rng.chance(0.3) => self.restart(false).await,
            Class::Restart => self.restart(false).await,
            Class::RestartInGap => self.restart(true).await,
            Class::ShardsKilled => self.strike_shards(false).await,
            Class::ShardsRenumbered => {
                let half = self.left <= self.trial.pods / 2;
                self.strike_shards(half).await;
            }
            _ => {}
        }
        self.server.changed.notify_waiters();
    }

    /// The process is stopped while the world goes on: when it continues, all its deadlines have
    /// passed, and all that happened is there to be read.
    async fn stop_and_continue(&mut self) {
        let longest = if self.rng.chance(0.2) { 600_000 } else { 20_000 };
        let by = Duration::from_millis(200 + self.rng.below(longest));
        let until = Instant::now() + by;
        let mut at = Instant::now();
        while at < until {
            at = (at + Duration::from_millis(500)).min(until);
            self.live(at);
        }
        tokio::time::advance(by).await;
    }

    fn back_up_or_restore(&mut self) {
        let mut state = self.server.lock();
        match self.backup.take() {
            None => self.backup = Some((state.history.number(), self.lives.clone())),
            Some((number, lives)) => {
                let undone: Vec<_> = state.history.after(number).to_vec();
                for log in &mut state.logs {
                    log.damaged.extend(undone.iter().copied());
                    log.gap(number);
                    log.rolled_back = true;
                }
                state.history.roll_back(number);
                state.faults.break_watches(Break::Reset);
                self.lives = lives;
                // No version is written until every watch has been opened again: once the server is past
                // the version of a watch, the watch cannot find out about the restore.
                self.frozen_until = Instant::now() + Duration::from_secs(5);
                self.lives.resume(self.time(self.frozen_until), self.rng.next_u64());
            }
        }
    }

    /// The process is killed and another one is started, which knows what the checkpoint says, or
    /// nothing. The server may forget meanwhile what came after that.
    async fn restart(&mut self, gap: bool) {
        self.kill(0).await;
        let down = Duration::from_millis(self.rng.below(30_000));
        self.live_until(Instant::now() + down).await;
        if gap {
            self.server.lock().history.compact();
        }
        self.start_process(0);
    }
}
