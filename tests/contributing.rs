//! The worked example of CONTRIBUTING.md: one file and one line make a rule that the policy and `check` know.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::fs;
use std::path::Path;
use std::process::{Command, Output};

fn copy(from: &Path, to: &Path) {
    fs::create_dir_all(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let entry = entry.unwrap();
        let target = to.join(entry.file_name());
        if entry.file_type().unwrap().is_dir() {
            copy(&entry.path(), &target);
        } else {
            fs::copy(entry.path(), target).unwrap();
        }
    }
}

/// The Rust blocks of the document.
fn blocks(text: &str) -> Vec<&str> {
    text.split("```rust\n").skip(1).map(|rest| rest.split("```").next().unwrap()).collect()
}

#[test]
fn the_worked_example_compiles_and_fires() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let folder = tempfile::tempdir().unwrap();
    let copied = folder.path();
    copy(&root.join("src"), &copied.join("src"));
    copy(&root.join("policies"), &copied.join("policies"));
    fs::copy(root.join("Cargo.lock"), copied.join("Cargo.lock")).unwrap();
    let manifest = fs::read_to_string(root.join("Cargo.toml")).unwrap();
    let without_benches = manifest.split("[[bench]]").next().unwrap().to_owned()
        + manifest
            .split_once("[dependencies]")
            .map(|(_, rest)| format!("[dependencies]{rest}"))
            .unwrap()
            .as_str();
    // Another name for the binary: the one of this build is under test elsewhere.
    let renamed = without_benches.replace("name = \"sundown\"\npath", "name = \"worked-example\"\npath");
    assert_ne!(renamed, without_benches);
    fs::write(copied.join("Cargo.toml"), renamed).unwrap();

    let document = fs::read_to_string(root.join("CONTRIBUTING.md")).unwrap();
    let [file, line] = blocks(&document)[..] else { panic!("want two blocks of Rust") };
    fs::write(copied.join("src/rules/zero_grace.rs"), file).unwrap();
    let registry = copied.join("src/rules/mod.rs");
    let list = fs::read_to_string(&registry).unwrap();
    let last = "    statefulset_replacement,\n";
    assert!(list.contains(last));
    fs::write(&registry, list.replace(last, &format!("{last}{line}"))).unwrap();

    fs::write(
        copied.join("pod.yaml"),
        "apiVersion: v1\nkind: Pod\nmetadata: {name: p}\nspec:\n  terminationGracePeriodSeconds: 0\n  tolerations: [{key: preemptible, operator: Exists}]\n",
    )
    .unwrap();
    let Output { stdout, stderr, .. } = Command::new(env!("CARGO"))
        .args(["run", "--quiet", "--locked", "--offline", "--", "check", "pod.yaml"])
        .current_dir(copied)
        // The dependencies are built there already.
        .env("CARGO_TARGET_DIR", root.join("target"))
        .output()
        .unwrap();
    let text = String::from_utf8(stdout).unwrap();
    assert!(text.contains("warning[zero-grace]"), "{text}\n{}", String::from_utf8_lossy(&stderr));
}
