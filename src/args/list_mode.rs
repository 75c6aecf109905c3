//! `--list`: how the API server is asked for the list with which a watch begins.

use clap::ValueEnum;

use crate::watch::config::ListMode;

/// The ways. `--help` shows what is said of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum ListArg {
    /// In one answer from the API server's cache, which costs it least; in pages where that does not arrive
    Whole,
    /// In pages of 500 pods
    Pages,
    /// As the beginning of a watch (WatchList, KEP-3157); in pages where the API server offers none
    Stream,
}

impl From<ListArg> for ListMode {
    fn from(list: ListArg) -> Self {
        match list {
            ListArg::Whole => Self::Whole,
            ListArg::Pages => Self::Pages,
            ListArg::Stream => Self::Stream,
        }
    }
}
