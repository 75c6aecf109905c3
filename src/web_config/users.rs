//! `basic_auth_users`: names and bcrypt hashes of passwords.

use std::collections::HashMap;
use std::fmt;

use base64::Engine;
use base64::alphabet::BCRYPT;
use base64::engine::GeneralPurpose;
use base64::engine::general_purpose::NO_PAD;

use crate::config_file::yaml::{Fault, Node, Section, Value};

/// The greatest cost of a hash: a check takes 2^cost rounds, which is several seconds here, and every
/// wrong password causes one.
pub const MAX_COST: u32 = 16;
const MIN_COST: u32 = 4;

/// Users and the bcrypt hashes of their passwords.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct Users {
    /// Hashes and their costs, by name
    hashes: HashMap<Box<str>, (Box<str>, u32)>,
    cost: u32,
}

/// Without names and hashes.
impl fmt::Debug for Users {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Users({})", self.hashes.len())
    }
}

impl Users {
    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.hashes.is_empty()
    }

    /// The bcrypt hash of a user's password, and its cost.
    pub fn hash_of(&self, name: &str) -> Option<(&str, u32)> {
        let (hash, cost) = self.hashes.get(name)?;
        Some((hash, *cost))
    }

    /// The greatest cost of their hashes.
    pub const fn cost(&self) -> u32 {
        self.cost
    }

    pub(super) fn of(root: &Section<'_>, node: &Node) -> Result<Self, Fault> {
        const KEY: &str = "basic_auth_users";
        let Value::Map(entries) = &node.value else {
            let why = format!(
                "must be a map of names to bcrypt hashes ({{}} for none), is {}",
                root.kind(node)
            );
            return Err(root.fault(KEY, node, why));
        };
        let mut users = Self::default();
        for entry in entries {
            // A name could be a password that lacks its colon, so it is not repeated.
            let fault = |why: &str| Err(Fault::new(entry.line, KEY, why));
            if entry.key.contains(':') {
                return fault("the name on this line has a colon, which no client can send");
            }
            let Value::Text(hash) = &entry.node.value else {
                return fault(NO_HASH);
            };
            let Some(cost) = cost_of(hash) else {
                return fault(NO_HASH);
            };
            if cost > MAX_COST {
                let why = format!(
                    "the hash on this line has cost {cost}; above {MAX_COST} a check takes too long"
                );
                return fault(&why);
            }
            users.cost = users.cost.max(cost);
            let hash = (hash.as_str().into(), cost);
            users.hashes.insert(entry.key.as_str().into(), hash);
        }
        Ok(users)
    }
}

const NO_HASH: &str =
    "the user on this line has no bcrypt hash, such as `htpasswd -nBC 10 \"\"` makes";

/// The cost of a bcrypt hash: `$2y$10$`, then 22 characters of salt and 31 of hash.
fn cost_of(hash: &str) -> Option<u32> {
    let versions = ["$2a$", "$2b$", "$2x$", "$2y$"];
    let rest = versions.iter().find_map(|version| hash.strip_prefix(version))?;
    let (cost, digest) = rest.split_once('$')?;
    let base64 = GeneralPurpose::new(&BCRYPT, NO_PAD);
    let is_base64 = |text: &str| base64.decode(text).is_ok();
    let (salt, hash) = digest.split_at_checked(22)?;
    if cost.len() != 2 || hash.len() != 31 || !is_base64(salt) || !is_base64(hash) {
        return None;
    }
    let cost = cost.parse().ok()?;
    (MIN_COST..=31).contains(&cost).then_some(cost)
}
