//! Checks links between dashboards, and from alerts to dashboards.

use std::collections::BTreeMap;

use super::checked_in;
use super::reading::{Dashboard, variables_of};

#[test]
fn links_lead_to_dashboards_and_take_variables_along() {
    let boards = checked_in();
    let by_uid: BTreeMap<String, &Dashboard> =
        boards.iter().map(|board| (board.text("/uid"), board)).collect();
    for board in &boards {
        let links = board.json["links"].as_array().unwrap();
        assert_eq!(links.len(), boards.len() - 1);
        for link in links {
            assert!(link["includeVars"] == true && link["keepTime"] == true);
        }
        for url in board.strings().filter(|text| text.starts_with("/d/")) {
            assert_leads_somewhere(&by_uid, &url);
        }
    }
}

/// Checks that the dashboard exists and has the variables that the address sets.
fn assert_leads_somewhere(boards: &BTreeMap<String, &Dashboard>, url: &str) {
    let (uid, query) = url.trim_start_matches("/d/").split_once('?').unwrap_or((&url[3..], ""));
    let target = boards.get(uid).unwrap_or_else(|| panic!("{url} leads nowhere"));
    let variables = target.variables();
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let name = match pair.strip_prefix("var-") {
            Some(pair) => pair.split('=').next().unwrap().to_owned(),
            None => variables_of(pair).into_iter().next().unwrap(),
        };
        let known = name.starts_with("__") || variables.contains_key(&name);
        assert!(known, "{url} sets {name}, which {uid} does not have");
    }
}

#[test]
fn alerts_link_to_dashboards() {
    let rules = crate::repository::rules::linked();
    let boards = checked_in();
    let by_uid: BTreeMap<String, &Dashboard> =
        boards.iter().map(|board| (board.text("/uid"), board)).collect();
    let mut links = 0;
    for line in rules.lines().filter(|line| line.contains("dashboard_url:")) {
        let (_, path) = line.split_once("DASHBOARD_URL/").unwrap();
        let path = format!("/d/{}", path.trim_end_matches('\''));
        assert_leads_somewhere(&by_uid, &path);
        links += 1;
    }
    assert!(links > 0);
}
