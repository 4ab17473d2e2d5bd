//! `reproduce` for the figures and the propositions: whole pages and pictures, the same on any number of threads, and not
//! twice.

use crate::common::Folder;
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

const EXPERIMENTS: [&str; 5] = ["illustration", "ranking", "contamination", "interpretation", "theory"];

fn reproduce(folder: &Folder, what: &[&str], out: &str, more: &[&str]) -> String {
    let args = [&["reproduce"], what, &["--quick", "--out", out], more].concat();
    let ran = folder.run(&args);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    ran.err
}

/// All files of a folder but the cells and the index, which know how long things took.
fn results(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let files = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let name = |path: &PathBuf| path.file_name().unwrap().to_str().unwrap().to_owned();
    let kept = files.filter(|path| path.is_file() && name(path) != "index.md");
    kept.map(|path| (name(&path), std::fs::read(path).unwrap())).collect()
}

fn has(name: &str, extension: &str) -> bool {
    Path::new(name).extension().is_some_and(|found| found == extension)
}

fn text(bytes: &[u8]) -> &str {
    std::str::from_utf8(bytes).unwrap()
}

fn assert_complete(files: &BTreeMap<String, Vec<u8>>) {
    let mut pictures = 0;
    for experiment in EXPERIMENTS {
        let page = text(&files[&format!("{experiment}.md")]);
        assert!(page.starts_with("# ") && page.contains("\n## "), "{experiment}");
        let mut words = page.split(|letter: char| !letter.is_alphanumeric());
        assert!(words.all(|word| word != "NaN" && word != "inf"), "{experiment}");
        for part in page.split("](").skip(1) {
            let picture = part.split_once(')').unwrap().0;
            let (png, svg) = (&files[picture], text(&files[&picture.replace(".png", ".svg")]));
            assert!(png.starts_with(b"\x89PNG") && png.ends_with(b"IEND\xaeB`\x82"), "{picture}");
            assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"), "{picture}");
            pictures += 1;
        }
        for table in page.split("\n\n").filter(|block| block.starts_with("| ")) {
            let columns: Vec<usize> = table.lines().map(|line| line.matches(" | ").count()).collect();
            assert!(columns.len() > 2 && columns.iter().all(|count| *count == columns[0]), "{table}");
        }
    }
    // Two maps, box plots, zones, three sheets of images, and one for each of four propositions.
    assert_eq!(pictures, 11);
    assert_eq!(files.keys().filter(|name| has(name, "png")).count(), 11);
    for (name, bytes) in files.iter().filter(|(name, _)| has(name, "csv")) {
        let mut rows = csv(text(bytes));
        let width = rows.next().unwrap();
        assert!(rows.all(|row| row == width) && text(bytes).lines().count() > 2, "{name}");
    }
}

/// How many fields each line has; none of the sheets quotes line ends.
fn csv(text: &str) -> impl Iterator<Item = usize> {
    text.lines().map(|line| line.split('"').step_by(2).map(|plain| plain.matches(',').count()).sum())
}

#[test]
fn everything_is_there_on_any_number_of_threads_and_is_not_done_twice() {
    let folder = Folder::new();
    reproduce(&folder, &EXPERIMENTS, "one", &["--threads", "1"]);
    let first = results(&folder.path("one"));
    assert_complete(&first);
    let images = text(&first["interpretation.md"]);
    assert!(images.contains("Made-up images") && images.contains("thin bar"), "{images}");

    reproduce(&folder, &EXPERIMENTS, "two", &["--threads", "3", "--quiet"]);
    let second = results(&folder.path("two"));
    assert!(first.keys().eq(second.keys()));
    for (name, bytes) in &first {
        assert!(*bytes == second[name], "{name} depends on threads");
    }

    // Pages and pictures come back from the cells alone; a cell that is gone is the only one computed.
    for name in first.keys() {
        std::fs::remove_file(folder.path("one").join(name)).unwrap();
    }
    std::fs::remove_file(folder.path("one").join("cells-quick/ranking/svm-4.json")).unwrap();
    let said = reproduce(&folder, &EXPERIMENTS, "one", &[]);
    assert_eq!(said.matches(" 0 of them computed now").count(), 4, "{said}");
    assert_eq!(said.matches(" 1 of them computed now").count(), 1, "{said}");
    assert!(said.contains("ranking: svm-4 ("), "{said}");
    assert!(results(&folder.path("one")) == first);
}

#[test]
fn real_images_have_names() {
    let Some(data) = std::env::var_os("LOSSDEPTH_DATA") else { return };
    let folder = Folder::new();
    reproduce(&folder, &["interpretation"], "out", &["--data", data.to_str().unwrap()]);
    let page = folder.read("out/interpretation.md");
    for word in ["sandal", "sneaker", "rather than T-shirts"] {
        assert!(page.contains(word), "{page}");
    }
    assert!(!page.contains("Made-up"));
}
