//! The floors of the crate, read from its `use` lines and paths: arrows point down, and never in a circle.
//!
//! A module is a file with the folder of its name. A re-export is no arrow: whoever uses what comes through it points at
//! the file where that is defined. Tests are left out.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::Path;

/// From the bottom up.
const FLOORS: [&str; 11] = [
    "domain",
    "formats",
    "config",
    "judge",
    "embedding",
    "store",
    "client",
    "app",
    "tui",
    "cli",
    "fuzzing",
];

/// Folders where the files form no circle either, those of a folder and the file above them included.
const ONE_WAY: [&str; 6] = ["app", "client", "embedding", "formats", "judge", "store"];

/// Circles that are still there: the folder, and the modules in it. Entries may only go.
const KNOWN_CIRCLES: [(&str, &[&str]); 8] = [
    ("domain/sampling/adaptive", &["judge_set", "state"]),
    ("formats/ai_scores", &["element", "read"]),
    ("judge/provider", &["batch", "remote_judge"]),
    (
        "tui",
        &[
            "drawing",
            "keymap",
            "message",
            "model",
            "navigation",
            "screens",
            "widgets",
        ],
    ),
    ("tui/screens", &["adjudication", "ruling"]),
    ("tui/screens", &["battle", "document"]),
    ("tui/screens", &["queue", "review"]),
    ("tui/widgets/heatmap", &["frame", "state"]),
];

/// A module, as `["store", "runs"]`.
type ModulePath = Vec<String>;

/// What one file declares and uses.
#[derive(Default)]
struct Source {
    /// Items and modules that it defines.
    items: BTreeSet<String>,
    /// Names that it brings in, with where from.
    imports: HashMap<String, Vec<String>>,
    globs: Vec<Vec<String>>,
    /// Paths that it uses: imports that are not re-exports, and paths in the code.
    used: Vec<Vec<String>>,
    /// Modules of tests.
    test_modules: Vec<String>,
}

/// Identifiers, `::` and single other characters of a source; comments, strings, characters and lifetimes are left out.
fn tokens(text: &str) -> Vec<String> {
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let (one, next) = (chars[at], chars.get(at + 1).copied());
        let word = |c: char| c.is_alphanumeric() || c == '_';
        if one == '/' && next == Some('/') {
            at += chars[at..].iter().take_while(|c| **c != '\n').count();
        } else if one == '/' && next == Some('*') {
            at += 2;
            while at + 1 < chars.len() && (chars[at], chars[at + 1]) != ('*', '/') {
                at += 1;
            }
            at += 2;
        } else if one == '"' {
            at += 1;
            while at < chars.len() && chars[at] != '"' {
                at += 1 + usize::from(chars[at] == '\\');
            }
            at += 1;
        } else if one == 'r' && matches!(next, Some('"' | '#')) && raw_string(&chars[at..]) > 0 {
            at += raw_string(&chars[at..]);
        } else if one == '\'' {
            let escaped = next == Some('\\');
            match chars[at + 1..]
                .iter()
                .skip(usize::from(escaped) + 1)
                .position(|c| *c == '\'')
            {
                Some(0) => at += 3 + usize::from(escaped),
                Some(length) if escaped => at += 4 + length,
                _ => at += 1,
            }
        } else if word(one) {
            let length = chars[at..].iter().take_while(|c| word(**c)).count();
            found.push(chars[at..at + length].iter().collect());
            at += length;
        } else {
            let path = one == ':' && next == Some(':');
            if !one.is_whitespace() {
                found.push(if path {
                    "::".to_owned()
                } else {
                    one.to_string()
                });
            }
            at += 1 + usize::from(path);
        }
    }
    found
}

/// Characters of the raw string that begins here; 0 where none does.
fn raw_string(chars: &[char]) -> usize {
    let marks = chars[1..].iter().take_while(|c| **c == '#').count();
    if chars.get(1 + marks) != Some(&'"') {
        return 0;
    }
    let end: String = std::iter::once('"')
        .chain((0..marks).map(|_| '#'))
        .collect();
    let text: String = chars[2 + marks..].iter().collect();
    let length = text.find(&end).map_or(0, |at| text[..at].chars().count());
    2 + marks + length + end.len()
}

/// The paths of a `use` tree that begins at `at`, with the name of each, and where it ends.
fn use_tree(
    tokens: &[String],
    mut at: usize,
    prefix: &[String],
    found: &mut Vec<(Vec<String>, String)>,
) -> usize {
    let mut path = prefix.to_vec();
    loop {
        match tokens[at].as_str() {
            "{" => {
                at += 1;
                while tokens[at] != "}" {
                    at = use_tree(tokens, at, &path, found);
                    at += usize::from(tokens[at] == ",");
                }
                return at + 1;
            }
            "::" => at += 1,
            name => {
                path.push(name.to_owned());
                at += 1;
                if tokens[at] == "::" {
                    continue;
                }
                let mut known = name.to_owned();
                if name == "self" {
                    path.pop();
                    known = path.last().cloned().unwrap_or_default();
                }
                if tokens[at] == "as" {
                    known.clone_from(&tokens[at + 1]);
                    at += 2;
                }
                found.push((path, known));
                return at;
            }
        }
    }
}

impl Source {
    fn read(text: &str) -> Self {
        let tokens = tokens(text);
        let mut source = Self::default();
        let (mut at, mut depth) = (0, 0usize);
        let mut test = false;
        while at < tokens.len() {
            let before = at.checked_sub(1).map_or("", |at| tokens[at].as_str());
            match tokens[at].as_str() {
                "#" if tokens[at..]
                    .iter()
                    .take(7)
                    .map(String::as_str)
                    .eq(["#", "[", "cfg", "(", "test", ")", "]"]) =>
                {
                    test = true;
                    at += 7;
                }
                "use" => {
                    let mut leaves = Vec::new();
                    at = use_tree(&tokens, at + 1, &[], &mut leaves);
                    for (path, name) in leaves.into_iter().filter(|_| !test) {
                        if name == "*" {
                            source.globs.push(path[..path.len() - 1].to_vec());
                        } else {
                            source.imports.entry(name).or_insert_with(|| path.clone());
                        }
                        if !matches!(before, "pub" | ")") {
                            source.used.push(path);
                        }
                    }
                    test = false;
                }
                "mod" if test => {
                    if tokens[at + 2] == ";" {
                        source.test_modules.push(tokens[at + 1].clone());
                        at += 3;
                    } else {
                        at = block_end(&tokens, at);
                    }
                    test = false;
                }
                "struct" | "enum" | "trait" | "union" | "type" | "fn" | "const" | "static"
                | "mod" => {
                    if depth == 0 {
                        let named = at + 1 + usize::from(tokens[at + 1] == "mut");
                        source.items.insert(tokens[named].clone());
                    }
                    test = false;
                    at += 1;
                }
                "{" => (depth, at) = (depth + 1, at + 1),
                "}" => (depth, at) = (depth.saturating_sub(1), at + 1),
                word if is_word(word) => {
                    let mut path = vec![word.to_owned()];
                    while at + 2 < tokens.len()
                        && tokens[at + 1] == "::"
                        && is_word(&tokens[at + 2])
                    {
                        at += 2;
                        path.push(tokens[at].clone());
                    }
                    if path.len() > 1 && !matches!(before, "." | "::") {
                        source.used.push(path);
                    }
                    at += 1;
                }
                _ => at += 1,
            }
        }
        source
    }
}

fn is_word(token: &str) -> bool {
    token.starts_with(|c: char| c.is_alphabetic() || c == '_')
}

/// Behind the block that begins after `at`.
fn block_end(tokens: &[String], mut at: usize) -> usize {
    let mut depth = 0usize;
    while at < tokens.len() {
        match tokens[at].as_str() {
            "{" => depth += 1,
            "}" if depth == 1 => return at + 1,
            "}" => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    at
}

/// The crate as its files say.
struct Crate(BTreeMap<ModulePath, Source>);

impl Crate {
    fn read() -> Self {
        let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
        let mut sources = BTreeMap::new();
        let mut folders = vec![root.clone()];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(&folder).unwrap() {
                let path = entry.unwrap().path();
                if path.is_dir() {
                    folders.push(path);
                } else if path.extension().is_some_and(|ending| ending == "rs") {
                    let inside = path.strip_prefix(&root).unwrap().with_extension("");
                    let names = inside.iter().map(|name| name.to_str().unwrap().to_owned());
                    let mut module: ModulePath = names.collect();
                    if module == ["lib"] {
                        module.clear();
                    }
                    if module != ["main"] {
                        sources.insert(module, Source::read(&fs::read_to_string(&path).unwrap()));
                    }
                }
            }
        }
        let tests: Vec<ModulePath> = sources
            .iter()
            .flat_map(|(module, source)| {
                let child =
                    |name: &String| [module.as_slice(), std::slice::from_ref(name)].concat();
                source.test_modules.iter().map(child).collect::<Vec<_>>()
            })
            .collect();
        sources.retain(|module, _| !tests.iter().any(|test| module.starts_with(test)));
        Self(sources)
    }

    /// Where what a module calls by a path is defined: the path of the item, or of as much of it as is ours.
    fn resolve(&self, module: &[String], path: &[String], depth: usize) -> Option<ModulePath> {
        let (first, rest) = path.split_first()?;
        let mut here = match first.as_str() {
            "crate" => Vec::new(),
            "self" => module.to_vec(),
            "super" => module[..module.len().checked_sub(1)?].to_vec(),
            name => self.lookup(module, name, depth)?,
        };
        for name in rest {
            let next = match name.as_str() {
                "super" => here.split_last().map(|(_, parent)| parent.to_vec()),
                name => self.lookup(&here, name, depth),
            };
            match next {
                Some(next) => here = next,
                None => break,
            }
        }
        Some(here)
    }

    fn lookup(&self, module: &[String], name: &str, depth: usize) -> Option<ModulePath> {
        let source = self.0.get(module).filter(|_| depth < 12)?;
        if source.items.contains(name) {
            return Some([module, &[name.to_owned()]].concat());
        }
        if let Some(path) = source.imports.get(name).filter(|path| **path != [name]) {
            return self.resolve(module, path, depth + 1);
        }
        let mut globs = source.globs.iter();
        globs.find_map(|glob| {
            let from = self.resolve(module, glob, depth + 1)?;
            self.lookup(&from, name, depth + 1)
        })
    }

    /// The file that holds a definition.
    fn file_of(&self, definition: &[String]) -> ModulePath {
        let mut file = definition;
        while !self.0.contains_key(file) {
            file = &file[..file.len() - 1];
        }
        file.to_vec()
    }

    /// Which file uses which, and by what path.
    fn arrows(&self) -> BTreeMap<(ModulePath, ModulePath), String> {
        let mut arrows = BTreeMap::new();
        for (module, source) in &self.0 {
            for path in &source.used {
                let Some(definition) = self.resolve(module, path, 0) else {
                    continue;
                };
                let file = self.file_of(&definition);
                if file != *module && !file.is_empty() && !module.is_empty() {
                    let arrow = arrows.entry((module.clone(), file));
                    arrow.or_insert_with(|| path.join("::"));
                }
            }
        }
        arrows
    }
}

/// The groups of names that can be reached from each other.
fn circles(arrows: &BTreeMap<String, BTreeSet<String>>) -> Vec<Vec<String>> {
    let reach = |from: &String| {
        let mut seen = BTreeSet::new();
        let mut next = vec![from.clone()];
        while let Some(name) = next.pop() {
            for to in arrows.get(&name).into_iter().flatten() {
                if seen.insert(to.clone()) {
                    next.push(to.clone());
                }
            }
        }
        seen
    };
    let reached: BTreeMap<&String, BTreeSet<String>> =
        arrows.keys().map(|name| (name, reach(name))).collect();
    let mut found: Vec<Vec<String>> = Vec::new();
    for (name, reaches) in &reached {
        if !reaches.contains(*name) || found.iter().flatten().any(|known| known == *name) {
            continue;
        }
        let back = |to: &&String| reached.get(*to).is_some_and(|back| back.contains(*name));
        found.push(reaches.iter().filter(back).cloned().collect());
    }
    found
}

#[test]
fn arrows_between_floors_point_down() {
    let floor = |module: &[String]| FLOORS.iter().position(|floor| *floor == module[0]);
    let arrows = Crate::read().arrows();
    let mut up = Vec::new();
    for ((from, to), path) in &arrows {
        match (floor(from), floor(to)) {
            (Some(from), Some(to)) if to <= from => {}
            _ => up.push(format!("{} uses {path}", from.join("/"))),
        }
    }
    assert!(
        arrows.len() > 500,
        "the sources were not read: {}",
        arrows.len()
    );
    assert!(up.is_empty(), "arrows that run up:\n{}", up.join("\n"));
}

#[test]
fn modules_beside_each_other_form_no_circle() {
    let mut beside: BTreeMap<String, BTreeMap<String, BTreeSet<String>>> = BTreeMap::new();
    for (from, to) in Crate::read().arrows().into_keys() {
        let common = from
            .iter()
            .zip(&to)
            .take_while(|(from, to)| from == to)
            .count();
        if common < from.len() && common < to.len() {
            let folder = beside.entry(from[..common].join("/")).or_default();
            folder.entry(to[common].clone()).or_default();
            folder
                .entry(from[common].clone())
                .or_default()
                .insert(to[common].clone());
        }
    }
    let mut found = Vec::new();
    for (folder, arrows) in &beside {
        let known = |names: &Vec<String>| {
            let mut entries = KNOWN_CIRCLES.iter().filter(|(of, _)| of == folder);
            entries.any(|(_, known)| names.iter().all(|name| known.contains(&name.as_str())))
        };
        let circles = circles(arrows).into_iter().filter(|names| !known(names));
        found.extend(circles.map(|names| format!("{folder}: {}", names.join(", "))));
    }
    assert!(found.is_empty(), "circles:\n{}", found.join("\n"));
}

#[test]
fn files_of_these_folders_form_no_circle() {
    let mut files: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for (from, to) in Crate::read().arrows().into_keys() {
        if from[0] == to[0] && ONE_WAY.contains(&from[0].as_str()) {
            files
                .entry(from.join("/"))
                .or_default()
                .insert(to.join("/"));
        }
    }
    let circles: Vec<String> = circles(&files)
        .iter()
        .map(|names| names.join(", "))
        .collect();
    assert!(circles.is_empty(), "circles:\n{}", circles.join("\n"));
}
