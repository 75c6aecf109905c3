//! As much of JSON Schema as podinit's own uses. What it does not know fails the test.

use serde_json::Value;

/// Panics unless `value` is what `schema` says of the definition `name`.
pub fn check(schema: &Value, name: &str, value: &Value) {
    let reference = format!("#/$defs/{name}");
    if let Err(fault) = fits(schema, &schema["$defs"][name], value) {
        panic!("{reference}: {fault}: {value}");
    }
}

fn fits(root: &Value, schema: &Value, value: &Value) -> Result<(), String> {
    for (keyword, says) in schema.as_object().expect("a schema is an object") {
        let holds = match keyword.as_str() {
            "description" | "format" | "default" => true,
            "const" => value == says,
            "oneOf" => {
                let all = says.as_array().unwrap().iter();
                all.filter(|one| fits(root, one, value).is_ok()).count() == 1
            }
            "anyOf" => {
                let mut all = says.as_array().unwrap().iter();
                all.any(|one| fits(root, one, value).is_ok())
            }
            "$ref" => {
                let path = says.as_str().unwrap().trim_start_matches('#');
                let target = root.pointer(path).expect("a reference leads somewhere");
                fits(root, target, value).map(|()| true)?
            }
            "type" => match says {
                Value::Array(types) => types.iter().any(|says| is_of_type(says, value)),
                says => is_of_type(says, value),
            },
            "enum" => says.as_array().unwrap().contains(value),
            "minimum" => value.as_f64() >= says.as_f64(),
            "maxItems" => value.as_array().unwrap().len() as u64 <= says.as_u64().unwrap(),
            "required" => {
                let mut names = says.as_array().unwrap().iter();
                names.all(|name| value.get(name.as_str().unwrap()).is_some())
            }
            "properties" => {
                for (name, property) in says.as_object().unwrap() {
                    if let Some(field) = value.get(name) {
                        fits(root, property, field).map_err(|fault| format!("{name}: {fault}"))?;
                    }
                }
                true
            }
            "additionalProperties" => {
                let declared = schema.get("properties");
                let is_declared = |name: &str| declared.is_some_and(|all| all.get(name).is_some());
                let fields = value.as_object().unwrap().iter();
                for (name, field) in fields.filter(|(name, _)| !is_declared(name)) {
                    match says {
                        Value::Bool(false) => return Err(format!("there is no field {name}")),
                        other => fits(root, other, field)?,
                    }
                }
                true
            }
            "unevaluatedProperties" => {
                let declared = declared(root, schema, value);
                let mut names = value.as_object().unwrap().keys();
                match names.find(|name| !declared.contains(&name.as_str())) {
                    Some(name) => return Err(format!("there is no field {name}")),
                    None => true,
                }
            }
            "items" => {
                for item in value.as_array().unwrap() {
                    fits(root, says, item)?;
                }
                true
            }
            other => panic!("the keyword {other} is not known here"),
        };
        if !holds {
            return Err(format!("{keyword} {says} does not hold"));
        }
    }
    Ok(())
}

/// The fields that a schema has for an object, also in those of its branches that the object fits.
fn declared<'a>(root: &Value, schema: &'a Value, value: &Value) -> Vec<&'a str> {
    let properties = schema.get("properties").and_then(Value::as_object);
    let names = properties.into_iter().flat_map(|all| all.keys());
    let branches = ["oneOf", "anyOf"].map(|keyword| schema.get(keyword).and_then(Value::as_array));
    let branches = branches.into_iter().flatten().flatten();
    let fitting = branches.filter(|one| fits(root, one, value).is_ok());
    let inside = fitting.flat_map(|one| declared(root, one, value));
    names.map(String::as_str).chain(inside).collect()
}

fn is_of_type(says: &Value, value: &Value) -> bool {
    match says.as_str().unwrap() {
        "object" => value.is_object(),
        "array" => value.is_array(),
        "string" => value.is_string(),
        "number" => value.is_number(),
        "integer" => value.is_i64() || value.is_u64(),
        "boolean" => value.is_boolean(),
        "null" => value.is_null(),
        other => panic!("type {other}"),
    }
}
