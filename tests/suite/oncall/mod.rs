//! What whoever is on call reads: the API, the page, `problems` and `stuck`.

mod api;
mod event_messages;
mod kube_events;
mod odd_lives;
mod one_list;
mod page;
mod problems_ended;
mod problems_looks;
mod problems_old;
mod rollouts;
mod says_more;
mod strangers_text;
mod stuck;
mod two_faults;
mod wait;
