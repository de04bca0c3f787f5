//! Checks that the manifest contains no unused dependency.

use std::fmt::Write as _;
use std::path::Path;

fn sources(folder: &str, into: &mut String) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(path.to_str().unwrap(), into);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            writeln!(into, "{}", std::fs::read_to_string(&path).unwrap()).unwrap();
        }
    }
}

fn unused(manifest: &toml::Table, section: &str, folders: &[&str]) -> Vec<String> {
    let mut source = String::new();
    for folder in folders {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join(folder);
        sources(folder.to_str().unwrap(), &mut source);
    }
    let named = |name: &str| {
        let name = name.replace('-', "_");
        [
            format!("{name}::"),
            format!("use {name};"),
            format!("use {name} as"),
        ]
        .iter()
        .any(|path| source.contains(path))
    };
    let dependencies = manifest[section].as_table().unwrap();
    dependencies
        .keys()
        .filter(|name| !named(name))
        .cloned()
        .collect()
}

#[test]
fn every_dependency_is_used() {
    let manifest = concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml");
    let manifest: toml::Table = std::fs::read_to_string(manifest).unwrap().parse().unwrap();
    let none: [String; 0] = [];
    assert_eq!(unused(&manifest, "dependencies", &["src"]), none);
    let all = ["src", "tests", "benches"];
    assert_eq!(unused(&manifest, "dev-dependencies", &all), none);
    let unix = manifest["target"]["cfg(unix)"].as_table().unwrap();
    assert_eq!(unused(unix, "dependencies", &["src"]), none);
}
