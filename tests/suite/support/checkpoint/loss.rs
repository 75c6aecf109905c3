//! What a crash leaves of what was not synced.

use super::choices::Choices;
use super::disk::{Contents, Loss};

/// In bytes; small, so that a small document has several.
const PAGE: usize = 32;

/// Each name stands for any of the files that it stood for since the directory was synced, and each
/// file has some of the bytes that it got since it was synced. So a rename may survive without the
/// contents, the contents without the rename, and of a rename either half.
impl Loss for Choices {
    fn name(&mut self, files: usize) -> usize {
        self.pick(files)
    }

    fn contents(&mut self, contents: &Contents) -> Vec<u8> {
        let left = left(contents);
        left[self.pick(left.len())].clone()
    }
}

/// All of the new bytes, none, the first pages of them, or all but a page; a page that is missing
/// reads as zeros.
fn left(Contents { live, durable, .. }: &Contents) -> Vec<Vec<u8>> {
    if live == durable {
        return vec![live.clone()];
    }
    let mut left = vec![live.clone(), durable.clone()];
    for page in (0..live.len()).step_by(PAGE) {
        left.push(live[..page].to_vec());
        let mut hole = live.clone();
        let end = live.len().min(page + PAGE);
        hole[page..end].fill(0);
        left.push(hole);
    }
    left.push(vec![0; live.len()]);
    left.sort();
    left.dedup();
    left
}
