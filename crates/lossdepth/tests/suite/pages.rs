//! The Rust that README and the pages show is the Rust of this file.

use std::path::{Path, PathBuf};

#[test]
fn what_the_pages_show_runs() -> Result<(), lossdepth::DepthError> {
    use lossdepth::{Depth, Reference, Scale};

    let sample = Reference::new(&[[1.0, 2.0], [2.0, 1.0], [3.0, 3.5], [2.5, 2.0]])?;
    let depth = Depth::logistic().reg(0.01).scale(Scale::Standard).fit(&sample)?;
    let fits = depth.score(&[[2.0, 2.3], [9.0, -4.0]])?;
    assert!(fits[0].depth > fits[1].depth && fits[0].error <= 1e-6);
    Ok(())
}

#[test]
fn every_block_of_rust_is_in_this_file() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let one_line = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    let here = one_line(include_str!("pages.rs"));
    let mut pages = vec![root.join("README.md")];
    add_pages(&root.join("docs"), &mut pages);
    let mut blocks = 0;
    for page in pages {
        let text = std::fs::read_to_string(&page).unwrap();
        for block in text.split("```rust\n").skip(1) {
            let code = block.split("```").next().unwrap();
            assert!(
                here.contains(&one_line(code)),
                "{} shows Rust that no test runs:\n{code}",
                page.display()
            );
            blocks += 1;
        }
    }
    assert!(blocks >= 2, "{blocks}");
}

/// Adds all pages below a folder.
fn add_pages(folder: &Path, pages: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            add_pages(&path, pages);
        } else if path.extension().is_some_and(|ending| ending == "md") {
            pages.push(path);
        }
    }
}
