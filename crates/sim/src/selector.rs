//! Label and field selectors, as far as pods and Events need them.

use super::object::{ObjectKey, Resource, Selectable};

#[derive(Clone, Debug, PartialEq, Eq)]
enum Rule {
    In(Vec<String>),
    NotIn(Vec<String>),
    Exists,
    Absent,
}

#[derive(Clone, Debug, PartialEq, Eq)]
struct Requirement {
    name: String,
    rule: Rule,
}

impl Requirement {
    fn accepts(&self, value: Option<&str>) -> bool {
        let is_one_of =
            |values: &[String]| value.is_some_and(|value| values.iter().any(|one| one == value));
        match &self.rule {
            Rule::In(values) => is_one_of(values),
            Rule::NotIn(values) => !is_one_of(values),
            Rule::Exists => value.is_some(),
            Rule::Absent => value.is_none(),
        }
    }
}

/// A conjunction of requirements; the empty one accepts everything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Selector {
    labels: Vec<Requirement>,
    fields: Vec<Requirement>,
}

impl Selector {
    /// Parses `labelSelector` and `fieldSelector`; the error is the message of the API's answer.
    pub fn parse(
        resource: Resource,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> Result<Self, String> {
        let labels = split_terms(labels.unwrap_or_default()).map(label_requirement);
        let fields = split_terms(fields.unwrap_or_default());
        Ok(Self {
            labels: labels.collect::<Result<_, _>>()?,
            fields: (fields.map(|term| field_requirement(resource, term)))
                .collect::<Result<_, _>>()?,
        })
    }

    /// Whether it accepts everything.
    pub fn is_empty(&self) -> bool {
        self.labels.is_empty() && self.fields.is_empty()
    }

    /// Whether it accepts the object at `key`.
    pub fn matches(&self, key: &ObjectKey, object: &Selectable) -> bool {
        let label = |wanted: &str| {
            let mut labels = object.labels.iter();
            labels.find_map(|(name, value)| (name == wanted).then_some(value.as_str()))
        };
        let field = |wanted: &str| match wanted {
            "metadata.name" => &*key.name,
            "metadata.namespace" => &*key.namespace,
            _ => (object.fields.iter())
                .find_map(|(name, value)| (*name == wanted).then_some(value.as_str()))
                .unwrap_or_default(),
        };
        self.labels.iter().all(|one| one.accepts(label(&one.name)))
            && (self.fields.iter()).all(|one| one.accepts(Some(field(&one.name))))
    }
}

/// Splits at commas that are not within parentheses.
fn split_terms(text: &str) -> impl Iterator<Item = &str> {
    let mut depth = 0;
    text.split(move |letter| {
        match letter {
            '(' => depth += 1,
            ')' => depth -= 1,
            _ => {}
        }
        letter == ',' && depth == 0
    })
    .map(str::trim)
    .filter(|term| !term.is_empty())
}

fn label_requirement(term: &str) -> Result<Requirement, String> {
    if let Some((name, values)) = term.split_once(" notin ") {
        return Ok(requirement(name, Rule::NotIn(set(values)?)));
    }
    if let Some((name, values)) = term.split_once(" in ") {
        return Ok(requirement(name, Rule::In(set(values)?)));
    }
    if let Some(equality) = equality(term) {
        return Ok(equality);
    }
    let (name, rule) = match term.strip_prefix('!') {
        Some(name) => (name.trim(), Rule::Absent),
        None => (term, Rule::Exists),
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("unable to parse requirement: found '{term}'"));
    }
    Ok(requirement(name, rule))
}

fn field_requirement(resource: Resource, term: &str) -> Result<Requirement, String> {
    let equality = equality(term)
        .ok_or_else(|| format!("invalid selector: '{term}'; can't understand '{term}'"))?;
    let name = equality.name.as_str();
    let known = ["metadata.name", "metadata.namespace"].contains(&name);
    match known || resource.fields().contains(&name) {
        true => Ok(equality),
        false => Err(format!("field label not supported: {name}")),
    }
}

fn requirement(name: &str, rule: Rule) -> Requirement {
    Requirement {
        name: name.trim().to_owned(),
        rule,
    }
}

/// `name=value`, `name==value` or `name!=value`
fn equality(term: &str) -> Option<Requirement> {
    let owned = |value: &str| vec![value.trim().to_owned()];
    if let Some((name, value)) = term.split_once("!=") {
        return Some(requirement(name, Rule::NotIn(owned(value))));
    }
    let (name, value) = term.split_once("==").or_else(|| term.split_once('='))?;
    Some(requirement(name, Rule::In(owned(value))))
}

/// `(a, b)`
fn set(text: &str) -> Result<Vec<String>, String> {
    let values = text
        .trim()
        .strip_prefix('(')
        .and_then(|set| set.strip_suffix(')'));
    let values = values
        .ok_or_else(|| format!("unable to parse requirement: found '{text}', expected: '('"))?;
    Ok(values
        .split(',')
        .map(|value| value.trim().to_owned())
        .collect())
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use std::sync::Arc;

    use super::*;

    fn accepts(labels: &str, fields: &str) -> bool {
        let object = Selectable {
            labels: Arc::from([("app".to_owned(), "web".to_owned())]),
            fields: vec![
                ("spec.nodeName", "node-1".to_owned()),
                ("status.phase", "Running".to_owned()),
            ],
        };
        Selector::parse(Resource::Pods, Some(labels), Some(fields))
            .unwrap()
            .matches(&ObjectKey::new("shop", "web-1"), &object)
    }

    #[test]
    fn label_selectors_are_equality_based_and_set_based() {
        for accepted in [
            "",
            "app=web",
            "app==web",
            "app",
            "!tier",
            "app!=db",
            "tier!=x",
            "app in (db, web)",
            "app notin (db),!tier",
            "tier notin (a)",
        ] {
            assert!(accepts(accepted, ""), "{accepted}");
        }
        for refused in [
            "app=db",
            "app!=web",
            "!app",
            "tier",
            "app in (db)",
            "app notin (web)",
            "app,tier",
        ] {
            assert!(!accepts(refused, ""), "{refused}");
        }
    }

    #[test]
    fn field_selectors_know_the_fields_of_pods() {
        assert!(accepts("", "metadata.name=web-1,metadata.namespace==shop"));
        assert!(accepts("", "spec.nodeName=node-1,status.phase!=Pending"));
        assert!(!accepts("", "status.phase=Pending"));
    }

    #[test]
    fn events_are_selected_by_what_they_are_about() {
        let event = Selectable {
            fields: vec![("involvedObject.kind", "Pod".to_owned())],
            ..Selectable::default()
        };
        let accepts = |fields| {
            let selector = Selector::parse(Resource::Events, None, Some(fields)).unwrap();
            selector.matches(&ObjectKey::new("shop", "web-1.18a"), &event)
        };
        assert!(accepts("involvedObject.kind=Pod") && !accepts("involvedObject.kind=Node"));
        assert!(Selector::parse(Resource::Events, None, Some("status.phase=x")).is_err());
    }

    #[test]
    fn what_cannot_be_parsed_is_an_error() {
        for (labels, fields) in [
            ("a b", ""),
            ("a in b", ""),
            ("", "x"),
            ("", "spec.color=red"),
        ] {
            assert!(Selector::parse(Resource::Pods, Some(labels), Some(fields)).is_err());
        }
    }
}
