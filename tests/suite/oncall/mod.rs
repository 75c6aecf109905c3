//! What whoever is on call reads: the API, the page, `problems` and `stuck`.

mod api;
mod api_schema;
mod event_messages;
mod odd_lives;
mod one_list;
mod page;
mod problems_ended;
mod problems_old;
mod strangers_text;
mod stuck;
