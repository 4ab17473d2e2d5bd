//! `lossdepth plot`: files that are pictures, with everything in them, or a word on why not.

use crate::common::{Folder, Ran, TABLE, assert_snapshot};

fn run(folder: &Folder, args: &str) -> Ran {
    folder.run(&["plot"].into_iter().chain(args.split_whitespace()).collect::<Vec<_>>())
}

fn drawn(folder: &Folder, args: &str) -> String {
    let ran = run(folder, &format!("{args} --out map.svg"));
    assert!(matches!(ran.code, Some(0 | 1)), "{args}: {}", ran.err);
    assert_eq!(ran.out, "");
    folder.read("map.svg")
}

/// What a picture says, tag by tag.
fn words(svg: &str) -> Vec<&str> {
    svg.split("<text ").skip(1).map(|text| text.split(['>', '<']).nth(1).unwrap()).collect()
}

/// Sixty rows of some columns around two centres.
fn cloud(columns: usize) -> String {
    let header: Vec<String> = (0..columns).map(|j| format!("c{j}")).collect();
    let number = |i: usize, j: usize| {
        let wave = ((i * 37 + j * 101) as f64 * 0.7548).fract() + ((i * 53 + j * 29) as f64 * 0.5698).fract();
        wave * (1.0 + j as f64) + if i.is_multiple_of(2) { 4.0 } else { 0.0 }
    };
    let row = |i: usize| (0..columns).map(|j| format!("{:.3}", number(i, j))).collect::<Vec<_>>().join(",");
    let rows: Vec<String> =
        (0..60).map(|i| format!("{},{}", row(i), if i % 10 == 0 { "odd" } else { "usual" })).collect();
    format!("{},kind\n{}\n", header.join(","), rows.join("\n"))
}

#[test]
fn a_png_has_the_size_that_was_asked_for() {
    let folder = Folder::with(cloud(2));
    let ran = run(&folder, "data.csv --label kind --size 640x480 --grid 24 --out map.png");
    assert_eq!((ran.code, ran.out.as_str(), ran.err.as_str()), (Some(0), "", ""));
    let bytes = std::fs::read(folder.path("map.png")).unwrap();
    assert_eq!(&bytes[..8], b"\x89PNG\r\n\x1a\n");
    let number = |at: usize| u32::from_be_bytes(bytes[at..at + 4].try_into().unwrap());
    assert_eq!((number(16), number(20)), (640, 480));
    assert_eq!(&bytes[bytes.len() - 8..bytes.len() - 4], b"IEND");
    assert_eq!(folder.list(), ["data.csv", "map.png"]);
}

#[test]
fn a_map_has_names_ticks_contours_a_legend_and_a_caption() {
    let folder = Folder::with(cloud(2));
    let svg = drawn(
        &folder,
        "data.csv --label kind --reg 0.01 --colour depth --top 0 --contamination 0 --title Title --grid 48",
    );
    assert!(svg.starts_with("<svg xmlns=") && svg.ends_with("</svg>\n"));
    let words = words(&svg);
    for expected in ["c0", "c1", "Title", "depth", "kind: usual (54)", "kind: odd (6)"] {
        assert!(words.contains(&expected), "{expected}: {words:?}");
    }
    assert!(
        words
            .iter()
            .any(|text| text.starts_with("Logistic regression depth (reg 0.01) of the 60 rows of data.csv"))
    );
    // Numbers on the lines are turned and have a halo.
    let labels = svg.lines().filter(|line| line.starts_with("<text") && line.contains("paint-order")).count();
    assert!(labels >= 5, "{labels}");
    // Every row is there.
    assert_eq!(svg.matches("<circle").count(), 54 + 1);
    assert_eq!(svg.matches("<path d=").count(), 6 + 1);
}

#[test]
fn a_map_shows_percentiles_outliers_and_names_unless_told_otherwise() {
    let folder = Folder::with(cloud(2) + "90,90,odd\n");
    let svg = drawn(&folder, "data.csv --exclude kind --method svm --top 3 --contamination 0.1 --grid 24");
    let found = words(&svg);
    assert!(found.contains(&"percentile") && !found.contains(&"depth"), "{found:?}");
    // 0.1 of 61 rows is 6; the oddest, row 60, is named.
    assert!(found.contains(&"outliers: oddest 10 % (6)") && found.contains(&"60"), "{found:?}");
    assert!(found.join(" ").contains("the share of the reference that is at most as deep"), "{found:?}");
    let svg = drawn(
        &folder,
        "data.csv --exclude kind --method svm --colour depth --top 0 --contamination 0 --grid 24",
    );
    let found = words(&svg);
    assert!(found.contains(&"depth") && !found.iter().any(|word| word.contains("outliers")), "{found:?}");
    // Lines at depths go with colours of depths.
    let svg = drawn(&folder, "data.csv --exclude kind --method svm --levels 0.5 --grid 24");
    assert!(words(&svg).contains(&"depth"));
    let ran = run(&folder, "data.csv --exclude kind --contamination 0.7 --out map.svg");
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("it must be between 0 and 0.5"), "{}", ran.err);
}

#[test]
fn the_caption_says_which_plane() {
    let folder = Folder::with(cloud(4));
    let svg = drawn(&folder, "data.csv --label kind --scale standard --grid 16");
    let all = words(&svg).join(" ");
    assert!(
        all.contains("first principal axis (") && all.contains("Depth in all 4 columns, on the plane"),
        "{all}"
    );
    let svg = drawn(&folder, "data.csv --label kind --axes c3,c1 --grid 16");
    let all = words(&svg).join(" ");
    assert!(all.contains("on the plane of c3 and c1 with the others at their medians"), "{all}");
    let svg = drawn(&folder, "data.csv --columns c3,c1 --grid 16");
    assert!(!words(&svg).join(" ").contains("plane"));
}

#[test]
fn every_method_can_be_drawn() {
    let folder = Folder::with(cloud(2));
    let methods = [
        "logistic",
        "hinge",
        "squared-hinge",
        "exponential",
        "svm",
        "klr",
        "gp",
        "forest",
        "mlp",
        "halfspace",
    ];
    for method in methods {
        let svg = drawn(&folder, &format!("data.csv --label kind --method {method} --grid 12"));
        assert!(svg.contains("<image"), "{method}");
    }
}

#[test]
fn zones_and_bagplots_are_polygons() {
    let folder = Folder::with(cloud(2));
    for method in ["logistic", "halfspace"] {
        let svg =
            drawn(&folder, &format!("data.csv --label kind --method {method} --zones 0.5,0.9 --grid 32"));
        let words = words(&svg);
        assert!(words.contains(&"deepest 50 %") && words.contains(&"deepest 90 %"), "{words:?}");
        assert!(!svg.contains("<image"));
    }
    assert_eq!(
        words(&drawn(&folder, "data.csv --label kind --zones 4 --grid 16"))
            .iter()
            .filter(|w| w.starts_with("deepest"))
            .count(),
        4
    );
    let svg = drawn(&folder, "data.csv --columns c0,c1 --method halfspace --bagplot");
    for expected in ["bag", "loop", "fence", "median", "rows"] {
        assert!(words(&svg).contains(&expected), "{expected}");
    }
}

#[test]
fn one_column_is_a_curve_with_a_rug() {
    let folder = Folder::with(cloud(2));
    let svg = drawn(&folder, "data.csv --columns c1 --reg 0.1");
    assert!(words(&svg).contains(&"c1") && words(&svg).contains(&"depth"));
    assert!(words(&svg).join(" ").contains("standard errors of the sampling"));
    // Methods without a standard error have no band.
    for method in ["auto", "forest"] {
        let svg = drawn(&folder, &format!("data.csv --columns c1 --method {method}"));
        assert!(!words(&svg).join(" ").contains("standard errors") && !svg.contains("NaN"), "{method}");
    }
}

#[test]
fn degenerate_data_makes_a_picture_too() {
    for text in [
        "1,2\n3,4\n",
        "5,5\n5,5\n5,5\n",
        "1,0\n2,0\n3,0\n",
        "1\n1\n",
        "1,2,3\n1,2,3\n",
        "1e99,1e-99\n-1e99,2e-99\n",
        "1e9,1\n1000000001,2\n",
    ] {
        let folder = Folder::with(text);
        for args in ["", "--zones 0.5", "--method forest", "--method svm"] {
            let ran = run(&folder, &format!("data.csv --grid 8 --size 300x300 {args} --out a.png"));
            let curve = ran.err.contains("one column makes a curve");
            assert!(matches!(ran.code, Some(0 | 1)) || curve, "{text:?} {args}: {}", ran.err);
        }
        let ran = run(&folder, "data.csv --method halfspace --bagplot --out a.svg");
        assert!(matches!(ran.code, Some(0)) || ran.err.contains("two columns"), "{text:?}: {}", ran.err);
    }
}

#[test]
fn what_cannot_be_drawn_is_said() {
    let folder = Folder::with(TABLE);
    let cases = [
        ("--columns x,y --out a.jpg", "the name must end in .png or .svg"),
        ("--columns x,y", "--out <FILE>"),
        ("--columns x,y --bagplot --out a.png", "`--bagplot` needs `--method halfspace`"),
        ("--columns x --zones 0.5 --out a.png", "one column makes a curve"),
        ("--columns x,y --zones 1.5 --out a.png", "`1.5` is not between 0 and 1"),
        ("--columns x,y --levels 0.5,x --out a.png", "`x` is not between 0 and 1"),
        (
            "--columns x,y,kind --axes x,z --out a.png",
            "`--axes` must be `pca` or two of `x`, `y`, `kind`, got `x,z`",
        ),
        ("--columns x,y --size 10x10 --out a.png", "each side must be from 200 to 10000 pixels"),
        ("--columns x,y --size 10 --out a.png", "`10` is not of the form"),
        ("--columns x,y --grid 1 --out a.png", "1 is not in 8..=2048"),
        ("--columns x,y --out no/where.png", "no/where.png: cannot write: no such folder"),
    ];
    for (args, expected) in cases {
        let ran = run(&folder, &format!("data.csv {args}"));
        assert_eq!(ran.code, Some(2), "{args}");
        assert!(ran.err.contains(expected), "{args}: {}", ran.err);
    }
    let ran = folder.run(&["plot", "data.csv", "--as", "id=number", "--out", "a.png"]);
    assert!(ran.err.contains("column `id` holds texts such as `a`"), "{}", ran.err);
    assert_eq!(folder.list(), ["data.csv"]);
}

#[test]
fn names_cannot_break_the_picture() {
    let folder = Folder::with(
        "\"<b>&\",\"a \"\" very long name, which goes on and on and on and on and on and on and on and on\"\n1,2\n3,5\n4,1\n",
    );
    let svg = drawn(&folder, "data.csv --grid 8");
    assert!(words(&svg).contains(&"&lt;b&gt;&amp;"));
    assert!(words(&svg).iter().any(|text| text.ends_with('…')));
}

#[test]
fn the_picture_is_the_same_for_any_number_of_threads() {
    let folder = Folder::with(cloud(3));
    let one = drawn(&folder, "data.csv --label kind --method svm --grid 16 --threads 1");
    let two = drawn(&folder, "data.csv --label kind --method svm --grid 16 --threads 2");
    assert!(one == two);
}

#[test]
fn the_help_is_as_it_was() {
    assert_snapshot("plot-help.txt", &run(&Folder::new(), "--help").out);
}

#[test]
fn a_model_draws_like_the_reference_it_was_fitted_to() {
    let folder = Folder::with(cloud(3));
    folder.write("new.csv", "c2,c0,c1\n1,2,3\n4,5,6\n");
    let ran =
        folder.run(&["fit", "data.csv", "--columns", "c0,c1,c2", "--reg", "0.1", "--out", "m.safetensors"]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let image = |svg: &str| svg.split("<image").nth(1).unwrap().split("/>").next().unwrap().to_owned();
    let by_model = drawn(&folder, "new.csv --model m.safetensors --grid 12");
    let by_table = drawn(&folder, "new.csv --reference data.csv --columns c0,c1,c2 --reg 0.1 --grid 12");
    assert!(image(&by_model) == image(&by_table));
}

#[test]
fn evaluate_draws_a_curve_for_every_method() {
    let folder = Folder::with(cloud(2));
    let ran = folder.run(&[
        "evaluate",
        "data.csv",
        "--label",
        "kind",
        "--methods",
        "logistic,forest,knn",
        "--plot",
        "roc.svg",
    ]);
    assert_eq!(ran.code, Some(0), "{}", ran.err);
    let svg = folder.read("roc.svg");
    let words = words(&svg);
    for method in ["logistic (AUC 0.", "forest (AUC 0.", "knn (AUC 0."] {
        assert!(words.iter().any(|text| text.starts_with(method)), "{method}: {words:?}");
    }
    assert!(words.contains(&"outliers found"));
}
