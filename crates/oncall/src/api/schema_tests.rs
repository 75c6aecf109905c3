//! The schema of the API is that of its types.

#![allow(clippy::unwrap_used)]

use crate::api::model::{ApiFailure, ApiStartup, Page};
use crate::problems::Problems;
use crate::rollouts::Rollouts;
use schemars::generate::SchemaSettings;
use serde_json::Value;

/// The schema of every answer, by the types of the answers.
fn schema() -> String {
    let mut generator = SchemaSettings::draft2020_12().for_serialize().into_generator();
    let answers = [
        generator.subschema_for::<Page<ApiStartup<'_>>>(),
        generator.subschema_for::<Problems>(),
        generator.subschema_for::<Rollouts>(),
        generator.subschema_for::<ApiStartup<'_>>(),
        generator.subschema_for::<ApiFailure>(),
    ];
    let mut definitions = generator.take_definitions(true);
    definitions.values_mut().for_each(closed);
    let mut definitions = Value::Object(definitions);
    tidy(&mut definitions);
    let schema = serde_json::json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "podinit API, version 1",
        "description": "Answers of /api/v1. Fields may be added; a client ignores those that it does not know. \
                        What is not known is left out.",
        "oneOf": answers,
        "$defs": definitions,
    });
    serde_json::to_string_pretty(&schema).unwrap() + "\n"
}

/// Leaves out that a field that is left out may be null, and what only the documentation of Rust links to.
fn tidy(schema: &mut Value) {
    match schema {
        Value::Object(object) => {
            if let Some(Value::String(text)) = object.get_mut("description") {
                let parts = text.split("([\u{a7}").map(|part| match part.split_once("))") {
                    Some((_, rest)) => rest,
                    None => part.trim_end(),
                });
                let whole: String = parts.collect();
                *text = whole
                    .replace('\n', " ")
                    .replace("`None`", "null")
                    .replace("[`", "`")
                    .replace("`]", "`");
            }
            let required = object.get("required").cloned().unwrap_or_default();
            let is_required = |name: &str| {
                let mut all = required.as_array().into_iter().flatten();
                all.any(|one| one == name)
            };
            if let Some(Value::Object(fields)) = object.get_mut("properties") {
                fields.values_mut().for_each(closed);
                let optional = fields.iter_mut().filter(|(name, _)| !is_required(name));
                optional.for_each(|(_, field)| never_null(field));
            }
            object.remove("default");
            object.values_mut().for_each(tidy);
        }
        Value::Array(all) => all.iter_mut().for_each(tidy),
        _ => {}
    }
}

/// An object has no fields but those that the schema has.
fn closed(schema: &mut Value) {
    let Value::Object(schema) = schema else {
        return;
    };
    if schema.contains_key("properties") {
        schema.insert("unevaluatedProperties".to_owned(), false.into());
    }
}

fn never_null(field: &mut Value) {
    let Value::Object(field) = field else { return };
    if let Some(Value::Array(types)) = field.get_mut("type") {
        types.retain(|one| one != "null");
        let only = types[0].clone();
        field["type"] = only;
    }
    if let Some(Value::Array(texts)) = field.get_mut("enum") {
        texts.retain(|one| !one.is_null());
    }
    if let Some(Value::Array(mut either)) = field.remove("anyOf") {
        either.retain(|one| one["type"] != "null");
        let Value::Object(only) = either.remove(0) else {
            return;
        };
        field.extend(only);
    }
}

#[test]
fn the_schema_is_that_of_the_types() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/src/api/schema.json");
    if std::env::var_os("UPDATE_GOLDEN").is_some() {
        std::fs::write(path, schema()).unwrap();
    }
    assert_eq!(std::fs::read_to_string(path).unwrap(), schema());
}
