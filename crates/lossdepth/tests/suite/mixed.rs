//! Samples with categories: which columns belong together, and what every method makes of them.

use lossdepth::data::{GroupKind, Layout};
use lossdepth::{DepthError, Reference};

fn sample() -> Reference {
    Reference::new(&[[1.5, 2.0, 0.0], [0.5, 0.0, 2.0], [0.0, 0.0, 2.0]]).unwrap()
}

#[test]
fn a_layout_must_be_that_of_the_columns() {
    use GroupKind::{Category, Gap, Number};
    let good = [(0, Number, 1), (1, Category, 2)];
    let kept = sample().with_layout(Layout::new(good)).unwrap();
    assert_eq!(kept.clone().layout(), Some(&Layout::new(good)));
    assert!(sample().with_layout(Layout::new([(0, Number, 1), (0, Gap, 2)])).is_ok());
    assert_eq!(sample().with_layout(Layout::numbers(3)).unwrap().layout(), None, "numbers are the default");
    let bad = [
        (vec![(0, Number, 1), (1, Category, 1)], "the layout has 2 encoded columns, the rows have 3"),
        (vec![(0, Number, 1), (1, Category, 3)], "group 1 of the layout"),
        (vec![(0, Number, 1), (1, Category, 0), (2, Category, 2)], "group 1 of the layout"),
        (vec![(0, Number, 3)], "column 0 is a number, but has 3 encoded columns"),
        (vec![(0, Number, 1), (7, Category, 2)], "is of column 7, but there are 2 groups only"),
        (vec![(0, Category, 2), (1, Number, 1)], "row 0 must have exactly one number other than 0 among its"),
        (vec![(0, Category, 3)], "encoded columns 0 to 2, the levels of column 0"),
        (vec![], "the layout has 0 encoded columns"),
    ];
    for (groups, message) in bad {
        match sample().with_layout(Layout::new(groups)) {
            Err(DepthError::Table(text)) => assert!(text.contains(message), "{text} | {message}"),
            other => panic!("{message}: {other:?}"),
        }
    }
}

#[test]
fn a_layout_from_a_file_is_checked() {
    let text = r#"{"groups": [{"column": 0, "kind": "number", "start": 0, "width": 1},
                              {"column": 1, "kind": "category", "start": 18446744073709551615, "width": 2}]}"#;
    let layout: Layout = serde_json::from_str(text).unwrap();
    assert!(matches!(sample().with_layout(layout), Err(DepthError::Table(_))));
}
