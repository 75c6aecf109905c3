//! Label and field selectors, as far as pods and Events need them.

use std::sync::Arc;

use super::resource::Resource;

/// What selectors match.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Selectable {
    /// `metadata.labels`
    pub labels: Arc<[(String, String)]>,
    /// `spec.nodeName`, empty while the pod is not bound
    pub node_name: String,
    /// `status.phase`
    pub phase: String,
    /// The fields of an Event
    pub fields: Vec<(&'static str, String)>,
}

impl Selectable {
    fn field(&self, field: &str) -> &str {
        match field {
            "spec.nodeName" => &self.node_name,
            "status.phase" => &self.phase,
            _ => (self.fields.iter())
                .find(|(name, _)| *name == field)
                .map_or("", |(_, value)| value),
        }
    }
}

/// A field that objects can be selected by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Field {
    Name,
    Namespace,
    Of(&'static str),
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum Requirement {
    LabelIn(String, Vec<String>),
    LabelNotIn(String, Vec<String>),
    LabelExists(String),
    LabelAbsent(String),
    FieldIs(Field, String),
    FieldIsNot(Field, String),
}

/// A conjunction of requirements; the empty one accepts everything.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Selector(Vec<Requirement>);

impl Selector {
    /// Parses `labelSelector` and `fieldSelector`; the error is the message of the API's answer.
    pub fn parse(
        resource: Resource,
        labels: Option<&str>,
        fields: Option<&str>,
    ) -> Result<Self, String> {
        let mut requirements = Vec::new();
        for term in split_terms(labels.unwrap_or_default()) {
            requirements.push(label_requirement(term)?);
        }
        for term in split_terms(fields.unwrap_or_default()) {
            requirements.push(field_requirement(resource, term)?);
        }
        Ok(Self(requirements))
    }

    /// Whether it accepts everything.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether it accepts the object `namespace`/`name`.
    pub fn matches(&self, namespace: &str, name: &str, object: &Selectable) -> bool {
        let label = |wanted: &str| {
            (object.labels.iter())
                .find(|(name, _)| name == wanted)
                .map(|(_, value)| value)
        };
        let field = |field: Field| match field {
            Field::Name => name,
            Field::Namespace => namespace,
            Field::Of(field) => object.field(field),
        };
        self.0.iter().all(|requirement| match requirement {
            Requirement::LabelIn(name, values) => {
                label(name).is_some_and(|value| values.contains(value))
            }
            Requirement::LabelNotIn(name, values) => {
                label(name).is_none_or(|value| !values.contains(value))
            }
            Requirement::LabelExists(name) => label(name).is_some(),
            Requirement::LabelAbsent(name) => label(name).is_none(),
            Requirement::FieldIs(name, value) => field(*name) == value,
            Requirement::FieldIsNot(name, value) => field(*name) != value,
        })
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
    if let Some((name, values)) = set_of(term, " notin ") {
        return Ok(Requirement::LabelNotIn(name, values?));
    }
    if let Some((name, values)) = set_of(term, " in ") {
        return Ok(Requirement::LabelIn(name, values?));
    }
    if let Some((name, value)) = term.split_once("!=") {
        return Ok(Requirement::LabelNotIn(owned(name), vec![owned(value)]));
    }
    if let Some((name, value)) = term.split_once("==").or_else(|| term.split_once('=')) {
        return Ok(Requirement::LabelIn(owned(name), vec![owned(value)]));
    }
    let (name, absent) = match term.strip_prefix('!') {
        Some(name) => (name.trim(), true),
        None => (term, false),
    };
    if name.is_empty() || name.contains(char::is_whitespace) {
        return Err(format!("unable to parse requirement: found '{term}'"));
    }
    Ok(if absent {
        Requirement::LabelAbsent(owned(name))
    } else {
        Requirement::LabelExists(owned(name))
    })
}

/// `name in (a, b)`
fn set_of(term: &str, operator: &str) -> Option<(String, Result<Vec<String>, String>)> {
    let (name, set) = term.split_once(operator)?;
    let values = (set.trim().strip_prefix('('))
        .and_then(|set| set.strip_suffix(')'))
        .map(|set| set.split(',').map(owned).collect())
        .ok_or_else(|| format!("unable to parse requirement: found '{set}', expected: '('"));
    Some((owned(name), values))
}

fn field_requirement(resource: Resource, term: &str) -> Result<Requirement, String> {
    let not = term.split_once("!=");
    let is = term.split_once("==").or_else(|| term.split_once('='));
    let Some((name, value)) = not.or(is) else {
        return Err(format!(
            "invalid selector: '{term}'; can't understand '{term}'"
        ));
    };
    let field = match name.trim() {
        "metadata.name" => Field::Name,
        "metadata.namespace" => Field::Namespace,
        other => match resource.fields().iter().find(|field| **field == other) {
            Some(field) => Field::Of(field),
            None => return Err(format!("field label not supported: {other}")),
        },
    };
    Ok(if not.is_some() {
        Requirement::FieldIsNot(field, owned(value))
    } else {
        Requirement::FieldIs(field, owned(value))
    })
}

fn owned(text: &str) -> String {
    text.trim().to_owned()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use super::*;

    fn accepts(labels: &str, fields: &str) -> bool {
        let object = Selectable {
            labels: Arc::from([("app".to_owned(), "web".to_owned())]),
            node_name: "node-1".to_owned(),
            phase: "Running".to_owned(),
            ..Selectable::default()
        };
        Selector::parse(Resource::Pods, Some(labels), Some(fields))
            .unwrap()
            .matches("shop", "web-1", &object)
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
            selector.matches("shop", "web-1.18a", &event)
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
