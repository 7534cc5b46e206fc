//! Other programs can open a model file: Python's safetensors, where it is installed.

mod support;

use serde_json::Value;
use std::process::Command;
use support::{Place, SMALL, flats};

const SCRIPT: &str = r#"
import hashlib, json, math, sys
from safetensors import safe_open

path = sys.argv[1]
with safe_open(path, framework="np") as file:
    metadata = file.metadata()
    assert list(metadata) == ["dkp"], metadata.keys()
    text = metadata["dkp"]

    def in_order(pairs):
        assert pairs == sorted(pairs, key=lambda p: p[0]), "keys are not sorted"
        return dict(pairs)

    description = json.loads(text, object_pairs_hook=in_order)
    tensors = {name: file.get_tensor(name) for name in file.keys()}

# the digest of the file with the digest's digits as zeros
bytes = open(path, "rb").read()
digest = description["sha256"]
assert hashlib.sha256(bytes.replace(digest.encode(), b"0" * 64)).hexdigest() == digest

model = description["contents"]["model"]
positive = {p["name"] for p in model["parameters"] if p["constraint"] == "positive"}
learned = {}
for name, values in tensors.items():
    name = name.removeprefix("parameters.")
    if name in positive and values.size == 1:
        learned[name] = math.exp(float(values.reshape(-1)[0]))
print(json.dumps({
    "format": description["format"],
    "learned": learned,
    "inducing": list(tensors["parameters.inducing.inputs"].shape),
    "held_out": list(tensors["kept.held_out.mean"].shape),
}))
"#;

/// A Python that has safetensors, or none, which is said; a failure where DKP_REQUIRE says so.
fn python() -> Option<String> {
    let python = std::env::var("DKP_PYTHON").unwrap_or_else(|_| "python3".to_string());
    let works =
        Command::new(&python).args(["-c", "import safetensors, numpy"]).output().is_ok_and(|o| o.status.success());
    if works {
        return Some(python);
    }
    let required = std::env::var("DKP_REQUIRE").is_ok_and(|v| !v.is_empty());
    assert!(!required, "DKP_REQUIRE is set, but {python} has no safetensors and numpy");
    println!("skipped: {python} has no safetensors and numpy (DKP_PYTHON names another)");
    None
}

#[test]
fn python_opens_a_model_file() {
    let Some(python) = python() else { return };
    let place = Place::new();
    place.write("flats.csv", flats());
    let flags =
        ["train", "flats.csv", "--target", "price", "--ignore", "id,sold,kind", "--input-layer", "omega", "--quiet"];
    place.done(&[&flags[..], &SMALL].concat());
    let output = Command::new(python).args(["-c", SCRIPT, "flats.dkp"]).current_dir(place.path()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let seen: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(seen["format"], 2);
    assert_eq!(seen["inducing"], serde_json::json!([7, 15]));
    assert_eq!(seen["held_out"], serde_json::json!([12]));
    let told: Value = serde_json::from_str(&place.done(&["inspect", "flats.dkp", "--json"]).out).unwrap();
    let learned = seen["learned"].as_object().unwrap();
    assert!(learned.len() >= 6, "{learned:?}");
    for (name, value) in learned {
        let (a, b) = (value.as_f64().unwrap(), told["learned"][name].as_f64().unwrap());
        assert!((a / b - 1.0).abs() < 1e-12, "{name}: {a} and {b}");
    }
}
