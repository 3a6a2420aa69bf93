//! What we depend on: licences we may use, crates we may not, and no crate from outside the registry.

#![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic, reason = "a test fails by panicking")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Licences that go together with Apache-2.0; an expression passes if one alternative of each part is here.
const ALLOWED: [&str; 12] = [
    "Apache-2.0",
    "Apache-2.0 WITH LLVM-exception",
    "BSD-2-Clause",
    "BSD-3-Clause",
    "BSL-1.0",
    "CC0-1.0",
    "ISC",
    "MIT",
    "MIT-0",
    "OpenSSL",
    "Unicode-3.0",
    "Zlib",
];

/// Crates that must not come in, with the reason.
const BANNED: [(&str, &str); 6] = [
    ("serde_yml", "unsound and archived: RUSTSEC-2025-0068"),
    ("libyml", "unsound: RUSTSEC-2025-0067"),
    ("openssl-sys", "TLS is rustls with aws-lc-rs"),
    ("ring", "a second TLS provider beside aws-lc-rs"),
    ("native-tls", "TLS is rustls with aws-lc-rs"),
    ("notify", "mounted files swap a symlink: they are read by content"),
];

/// Crates of which two versions are in the tree because their users have not moved yet.
const KNOWN_DUPLICATES: [&str; 2] = ["base64", "syn"];

/// A crate that is compiled: name, version, licence, and where it is from if not from the registry.
struct Package {
    name: String,
    version: String,
    licence: String,
    source: String,
}

/// All crates that are compiled for this platform, those of tests and builds among them.
fn packages() -> Vec<Package> {
    let output = Command::new(env!("CARGO"))
        .args([
            "tree",
            "--locked",
            "--edges=normal,build,dev",
            "--prefix=none",
            "--no-dedupe",
            "--format={p}|{l}",
        ])
        .args(["--manifest-path", concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")])
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let text = String::from_utf8(output.stdout).unwrap();
    let lines: BTreeSet<&str> = text.lines().filter(|line| !line.is_empty()).collect();
    lines.into_iter().map(package).collect()
}

/// Reads `name v1.2.3 (where it is from)|licence`.
fn package(line: &str) -> Package {
    let (package, licence) = line.split_once('|').unwrap();
    let mut words = package.replace("(proc-macro)", "");
    let source = words.find('(').map(|at| words.split_off(at)).unwrap_or_default();
    let (name, version) = words.trim().split_once(' ').unwrap();
    Package { name: name.into(), version: version.into(), licence: licence.into(), source }
}

/// Whether an SPDX expression can be satisfied by allowed licences. Parentheses bind, AND binds tighter than OR;
/// the old `A/B` means OR.
fn is_allowed(expression: &str) -> bool {
    let spaced = expression.replace('/', " OR ").replace('(', " ( ").replace(')', " ) ");
    let words: Vec<&str> = spaced.split_whitespace().collect();
    let mut rest = words.as_slice();
    let allowed = any_of(&mut rest);
    allowed && rest.is_empty()
}

fn any_of(rest: &mut &[&str]) -> bool {
    let mut allowed = all_of(rest);
    while let ["OR", tail @ ..] = *rest {
        *rest = tail;
        allowed |= all_of(rest);
    }
    allowed
}

fn all_of(rest: &mut &[&str]) -> bool {
    let mut allowed = one(rest);
    while let ["AND", tail @ ..] = *rest {
        *rest = tail;
        allowed &= one(rest);
    }
    allowed
}

fn one(rest: &mut &[&str]) -> bool {
    match *rest {
        ["(", tail @ ..] => {
            *rest = tail;
            let allowed = any_of(rest);
            *rest = rest.strip_prefix(&[")"]).unwrap_or(rest);
            allowed
        }
        [licence, "WITH", exception, tail @ ..] => {
            *rest = tail;
            ALLOWED.contains(&format!("{licence} WITH {exception}").as_str())
        }
        [licence, tail @ ..] => {
            *rest = tail;
            ALLOWED.contains(licence)
        }
        [] => false,
    }
}

#[test]
fn licence_expressions_are_understood() {
    for good in ["MIT", "MIT/Apache-2.0", "GPL-3.0 OR MIT", "(MIT OR GPL-3.0) AND Unicode-3.0"] {
        assert!(is_allowed(good), "{good}");
    }
    for bad in ["GPL-3.0", "MIT AND GPL-3.0", "", "(GPL-3.0 OR LGPL-2.1) AND MIT"] {
        assert!(!is_allowed(bad), "{bad}");
    }
}

#[test]
fn every_licence_may_be_used() {
    for package in packages() {
        assert!(is_allowed(&package.licence), "{} has licence {:?}", package.name, package.licence);
    }
}

#[test]
fn no_banned_crate_and_nothing_from_outside_the_registry() {
    let packages = packages();
    assert!(packages.len() > 100, "only {} crates were found", packages.len());
    for package in packages {
        let banned = BANNED.iter().find(|(banned, _)| *banned == package.name);
        assert!(banned.is_none(), "{banned:?} is in the tree");
        assert!(
            package.name == "sundown" || package.source.is_empty(),
            "{} is from {}",
            package.name,
            package.source
        );
    }
}

#[test]
fn no_unknown_duplicate() {
    let mut versions: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for package in packages() {
        versions.entry(package.name).or_default().insert(package.version);
    }
    for (name, versions) in versions.iter().filter(|(_, versions)| versions.len() > 1) {
        assert!(
            KNOWN_DUPLICATES.contains(&name.as_str()),
            "{name} is there {} times: {versions:?}",
            versions.len()
        );
    }
}
