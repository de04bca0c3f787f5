//! Checks the layers of the crate by reading its `use` lines and paths: dependencies point down,
//! and never form a cycle.
//!
//! A module is a file together with the folder of the same name. A re-export is not a dependency:
//! code that uses an item through it depends on the file that defines the item. Tests are ignored.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fs;
use std::path::{Path, PathBuf};
use std::slice;
use std::sync::LazyLock;
use syn::visit::{self, Visit};
use syn::{
    Attribute, ExprMethodCall, Ident, ImplItem, ItemEnum, ItemImpl, ItemMod, ItemStruct, ItemUse,
    Macro, Type, UseTree, Visibility,
};

/// From bottom to top.
const LAYERS: &str = "domain formats config judge embedding store client app tui cli fuzzing";

/// Folders whose files must not form cycles either, including the files of a folder and the one
/// above them.
const ONE_WAY: [&str; 6] = ["app", "client", "embedding", "formats", "judge", "store"];

/// The file in which the core names the features.
const REGISTRY: &str = "registry";

/// A feature and another one that it uses.
const FEATURE_USES: [&str; 19] = [
    "battery methods",
    "drift methods",
    "drift prompts",
    "duel methods",
    "gate methods",
    "gate prompts",
    "lab duel",
    "lab lists",
    "lab methods",
    "lists methods",
    "measure methods",
    "prompts methods",
    "report accept",
    "report duel",
    "report measure",
    "report methods",
    "scale lab",
    "scale methods",
    "student scale",
];

/// A module, as `["store", "runs"]`, or a path in the code, as `["super", "runs", "Run"]`.
type Names = Vec<String>;

/// The imports and paths of one file.
#[derive(Default)]
struct Source {
    children: Vec<String>,
    /// Imported names, with their origin.
    imports: HashMap<String, Names>,
    /// Paths that it uses: imports that are not re-exports, and paths in the code.
    used: Vec<Names>,
    /// Types that it defines.
    types: Vec<String>,
    /// Visible functions and constants of types, each after its type.
    members: Vec<(String, String)>,
    /// Methods that it calls.
    called: Vec<String>,
}

impl Source {
    fn take_use(&mut self, tree: &UseTree, mut path: Names, inherited: bool) {
        let known = match tree {
            UseTree::Path(of) => {
                path.push(of.ident.to_string());
                return self.take_use(&of.tree, path, inherited);
            }
            UseTree::Group(group) => {
                return group
                    .items
                    .iter()
                    .for_each(|tree| self.take_use(tree, path.clone(), inherited));
            }
            UseTree::Name(of) if of.ident == "self" => path.last().cloned(),
            UseTree::Name(of) => {
                path.push(of.ident.to_string());
                path.last().cloned()
            }
            UseTree::Rename(of) => {
                path.push(of.ident.to_string());
                Some(of.rename.to_string())
            }
            UseTree::Glob(_) => None,
        };
        self.imports.extend(known.map(|name| (name, path.clone())));
        self.used.extend(inherited.then_some(path));
    }
}

fn is_test(attributes: &[Attribute]) -> bool {
    attributes
        .iter()
        .filter(|one| one.path().is_ident("cfg"))
        .any(|one| one.parse_args::<Ident>().is_ok_and(|of| of == "test"))
}

impl<'ast> Visit<'ast> for Source {
    fn visit_item_mod(&mut self, item: &'ast ItemMod) {
        if !is_test(&item.attrs) {
            let child = item.content.is_none().then(|| item.ident.to_string());
            self.children.extend(child);
            visit::visit_item_mod(self, item);
        }
    }

    fn visit_item_use(&mut self, item: &'ast ItemUse) {
        if !is_test(&item.attrs) {
            let inherited = matches!(item.vis, Visibility::Inherited);
            self.take_use(&item.tree, Names::new(), inherited);
        }
    }

    fn visit_item_struct(&mut self, item: &'ast ItemStruct) {
        self.types.push(item.ident.to_string());
        visit::visit_item_struct(self, item);
    }

    fn visit_item_enum(&mut self, item: &'ast ItemEnum) {
        self.types.push(item.ident.to_string());
        visit::visit_item_enum(self, item);
    }

    fn visit_item_impl(&mut self, item: &'ast ItemImpl) {
        if let (None, Type::Path(of)) = (&item.trait_, &*item.self_ty) {
            let of = of.path.segments.last().map(|of| of.ident.to_string());
            let names = item.items.iter().filter_map(|member| match member {
                ImplItem::Fn(of) => Some((&of.vis, &of.sig.ident)),
                ImplItem::Const(of) => Some((&of.vis, &of.ident)),
                _ => None,
            });
            let visible = names.filter(|(of, _)| !matches!(of, Visibility::Inherited));
            let of = of.unwrap_or_default();
            self.members
                .extend(visible.map(|(_, name)| (of.clone(), name.to_string())));
        }
        visit::visit_item_impl(self, item);
    }

    fn visit_expr_method_call(&mut self, call: &'ast ExprMethodCall) {
        self.called.push(call.method.to_string());
        visit::visit_expr_method_call(self, call);
    }

    fn visit_path(&mut self, path: &'ast syn::Path) {
        let names = path.segments.iter().map(|of| of.ident.to_string());
        self.used.push(names.collect());
        visit::visit_path(self, path);
    }

    // Visibility does not mean use.
    fn visit_visibility(&mut self, _: &'ast Visibility) {}

    // The arguments of a macro call have no syntax tree, so read their paths from the text.
    fn visit_macro(&mut self, call: &'ast Macro) {
        let text = call.tokens.to_string().replace(" :: ", "::");
        let names = text
            .split(|c: char| !(c.is_alphanumeric() || "_:".contains(c)))
            .map(|word| word.split("::").map(str::to_owned).collect());
        self.used.extend(names);
    }
}

/// The crate as described by its files.
#[derive(Default)]
struct Crate(BTreeMap<Names, Source>);

impl Crate {
    fn read(&mut self, module: Names) {
        let name = if module.is_empty() {
            "lib".to_owned()
        } else {
            module.join("/")
        };
        let path = format!("{}/src/{name}.rs", env!("CARGO_MANIFEST_DIR"));
        let mut source = Source::default();
        source.visit_file(&syn::parse_file(&fs::read_to_string(path).unwrap()).unwrap());
        for child in &source.children {
            self.read([&module[..], slice::from_ref(child)].concat());
        }
        self.0.insert(module, source);
    }

    /// The file that defines the item which a module uses by a path; the module itself for external
    /// items.
    ///
    /// The search ends at the registry, because the core may depend on it, but not on what it
    /// names.
    fn file_of(&self, module: &Names, path: &[String]) -> Names {
        let mut here = module.clone();
        for name in path {
            if here == [REGISTRY] {
                break;
            }
            let child = [&here[..], slice::from_ref(name)].concat();
            let import = self.0[&here].imports.get(name);
            match name.as_str() {
                "crate" => here.clear(),
                "self" => {}
                "super" => drop(here.pop()),
                _ if self.0.contains_key(&child) => here = child,
                _ => match import.filter(|from| from[0] != *name) {
                    Some(from) => here = self.file_of(&here, from),
                    None => break,
                },
            }
            if name.starts_with(char::is_uppercase) {
                break;
            }
        }
        here
    }
}

/// A module in the core layer that it belongs to: `features/duel/app/draft` is `app/duel/draft`.
fn place(module: Names) -> Names {
    let [features, name, layer, rest @ ..] = &module[..] else {
        return module;
    };
    let (layer, rest) = match (layer.as_str(), rest) {
        ("command", _) => ("cli", rest),
        ("screen", _) => ("tui screens", rest),
        ("merge", _) => ("store merge", rest),
        (layer, _) => (layer, rest),
    };
    let layer: Names = layer.split(' ').map(str::to_owned).collect();
    match features.as_str() {
        "features" => [&layer, slice::from_ref(name), rest].concat(),
        _ => module,
    }
}

/// Dependencies between files, each with a path that causes it.
type Arrows = BTreeMap<(Names, Names), String>;

static CRATE: LazyLock<Crate> = LazyLock::new(|| {
    let mut all = Crate::default();
    all.read(Names::new());
    all
});

static PATHS: LazyLock<Arrows> = LazyLock::new(|| {
    let mut arrows = BTreeMap::new();
    let is_layered = |module: &[String]| !module.is_empty() && module != [REGISTRY];
    for (module, source) in CRATE.0.iter().filter(|(module, _)| is_layered(module)) {
        for path in &source.used {
            let file = CRATE.file_of(module, path);
            if file != *module && is_layered(&file) {
                arrows.insert((module.clone(), file), path.join("::"));
            }
        }
    }
    arrows
});

/// The same between the places of files in the layers.
static ARROWS: LazyLock<Arrows> = LazyLock::new(|| {
    PATHS
        .iter()
        .map(|((from, to), path)| ((place(from.clone()), place(to.clone())), path.clone()))
        .collect()
});

/// Modules by name, each with those that it uses.
#[derive(Default)]
struct Graph(BTreeMap<String, BTreeSet<String>>);

impl Graph {
    fn insert(&mut self, from: String, to: String) {
        self.0.entry(to.clone()).or_default();
        self.0.entry(from).or_default().insert(to);
    }

    fn reach<'a>(&'a self, from: &'a str) -> BTreeSet<&'a str> {
        let (mut seen, mut next) = (BTreeSet::new(), vec![from]);
        while let Some(name) = next.pop() {
            let to = self.0[name].iter().map(String::as_str);
            next.extend(to.filter(|to| seen.insert(*to)));
        }
        seen
    }

    /// The groups of names that can be reached from each other.
    fn cycles(&self) -> BTreeSet<String> {
        let cycle = |name: &String| {
            let mut names = self.reach(name);
            names.retain(|other| self.reach(other).contains(name.as_str()));
            names.into_iter().collect::<Vec<_>>().join(" ")
        };
        self.0
            .keys()
            .map(cycle)
            .filter(|names| !names.is_empty())
            .collect()
    }
}

#[test]
fn the_core_reaches_features_through_the_registry() {
    let found = PATHS
        .iter()
        .filter(|((from, to), _)| from[0] != "features" && to[0] == "features")
        .map(|((from, _), path)| format!("{} uses {path}", from.join("/")));
    assert_eq!(found.collect::<Vec<_>>(), [""; 0]);
}

/// No path shows that a method of a core type is defined in a feature.
#[test]
fn the_core_uses_no_member_that_features_add_to_its_types() {
    let is_feature = |module: &Names| module.first().is_some_and(|layer| layer == "features");
    let (features, core): (Vec<_>, Vec<_>) =
        CRATE.0.iter().partition(|(module, _)| is_feature(module));
    let own: BTreeSet<_> = features
        .iter()
        .flat_map(|(_, source)| &source.types)
        .collect();
    let known: BTreeSet<_> = core
        .iter()
        .flat_map(|(_, source)| source.members.iter().map(|(_, name)| name))
        .collect();
    let added: BTreeSet<_> = features
        .iter()
        .flat_map(|(_, source)| &source.members)
        .filter(|(of, name)| !own.contains(of) && !known.contains(name))
        .map(|(_, name)| name)
        .collect();
    assert!(added.len() > 30, "only {} were found", added.len());
    let uses = |source: &Source| -> BTreeSet<String> {
        let members = source.used.iter().filter_map(|path| match &path[..] {
            [.., of, member] if of.starts_with(char::is_uppercase) => Some(member),
            _ => None,
        });
        source
            .called
            .iter()
            .chain(members)
            .filter(|name| added.contains(name))
            .cloned()
            .collect()
    };
    let found = core
        .iter()
        .filter(|(module, _)| **module != [REGISTRY])
        .map(|(module, source)| (module.join("/"), uses(source)))
        .filter(|(_, names)| !names.is_empty());
    assert_eq!(found.collect::<Vec<_>>(), []);
}

#[test]
fn features_use_only_the_features_that_are_listed() {
    let found: BTreeSet<String> = PATHS
        .keys()
        .filter(|(from, to)| from[0] == "features" && to[0] == "features")
        .filter_map(|(from, to)| Some((from.get(1)?, to.get(1)?)))
        .filter(|(from, to)| from != to)
        .map(|(from, to)| format!("{from} {to}"))
        .collect();
    assert_eq!(found, FEATURE_USES.map(str::to_owned).into());
}

#[test]
fn dependencies_between_layers_point_down() {
    let layer = |module: &Names| LAYERS.split(' ').position(|layer| layer == module[0]);
    assert!(ARROWS.len() > 500, "only {} were found", ARROWS.len());
    let runs_up = |from, to| layer(to).is_none() || layer(to) > layer(from);
    let up = ARROWS.iter().filter(|((from, to), _)| runs_up(from, to));
    let up = up.map(|((from, _), path)| format!("{} uses {path}", from.join("/")));
    assert_eq!(up.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn modules_in_a_folder_form_no_cycle() {
    let mut folders: BTreeMap<String, Graph> = BTreeMap::new();
    for (from, to) in ARROWS.keys() {
        let common = from
            .iter()
            .zip(to)
            .take_while(|(from, to)| from == to)
            .count();
        if let (Some(one), Some(other)) = (from.get(common), to.get(common)) {
            let folder = folders.entry(from[..common].join("/")).or_default();
            folder.insert(one.clone(), other.clone());
        }
    }
    let found = folders.iter().flat_map(|(folder, graph)| {
        graph
            .cycles()
            .into_iter()
            .map(move |names| format!("{folder}: {names}"))
    });
    assert_eq!(found.collect::<Vec<_>>(), [""; 0]);
}

#[test]
fn files_of_these_folders_form_no_cycle() {
    let mut files = Graph::default();
    for (from, to) in ARROWS.keys().filter(|(from, to)| from[0] == to[0]) {
        if ONE_WAY.contains(&from[0].as_str()) {
            files.insert(from.join("/"), to.join("/"));
        }
    }
    assert!(files.cycles().is_empty(), "{:#?}", files.cycles());
}

/// Files below a folder that mention a clock.
fn files_with_a_clock(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files_with_a_clock(&path, found);
        } else {
            let text = fs::read_to_string(&path).unwrap();
            let clocks = ["Instant", "SystemTime", "::now()", "now_ms()", "now_v7()"];
            found.extend(
                clocks
                    .iter()
                    .any(|clock| text.contains(clock))
                    .then_some(path),
            );
        }
    }
}

#[test]
fn domain_and_formats_read_no_clock() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let mut found = Vec::new();
    let folders = fs::read_dir(source.join("features"))
        .unwrap()
        .map(|feature| feature.unwrap().path().join("domain"))
        .chain([source.join("domain"), source.join("formats")]);
    for folder in folders.filter(|folder| folder.exists()) {
        files_with_a_clock(&folder, &mut found);
    }
    assert!(found.is_empty(), "{found:?}");
    files_with_a_clock(&source.join("client"), &mut found);
    assert!(found.contains(&source.join("client/clock.rs")));
}
