//! Pages as a whole: what is in the bytes, and what must not be.

use super::*;

/// A page with `rows` odd rows of `columns` numbers and a category each.
fn sample(rows: usize, columns: usize) -> Page {
    let depths: Vec<f64> = (0..500).map(|i| 0.2 + 0.7 * f64::from(i) / 500.0).collect();
    let p: Vec<f64> = (1..=500).map(|i| f64::from(i) / 500.0).collect();
    let values: Vec<f64> = (0..500).map(|i| f64::from(i * 37 % 101)).collect();
    let column = |j: usize| {
        let distribution = if j + 1 < columns {
            Distribution::numbers(&values)
        } else {
            Distribution::levels([("north", 300), ("south", 200)])
        };
        let usual = distribution.usual();
        Column {
            name: format!("column {j}"),
            kind: "number".into(),
            gaps: 0,
            usual,
            distribution,
            masked: false,
        }
    };
    let cells = |i: usize| -> Vec<Cell> {
        let number = |j: usize| {
            let value = (1000 + i * 7 + j) as f64;
            Cell::Number { text: value.to_string(), value }
        };
        (0..columns - 1).map(number).chain([Cell::Text("atlantis".into())]).collect()
    };
    let row = |i: usize| OddRow {
        name: format!("ORD-{i}"),
        row: i as u64,
        depth: depths[i % 500],
        error: 1e-10,
        stderr: Some(0.01),
        p_value: p[i % 500],
        percentile: p[i % 500],
        cells: cells(i),
        reasons: vec![Reason {
            columns: vec![i % columns],
            sentence: "highest of all; nine in ten are 5 to 95".into(),
        }],
        contributions: (0..columns).map(|j| if j == i % columns { 1.0 } else { 0.1 }).collect(),
        counterfactual: Some(Counterfactual {
            columns: vec![i % columns],
            values: vec!["20".into()],
            depth: 0.5,
            percentile: 0.5,
            sentence: format!("Would be ordinary if column {} were 20.", i % columns),
        }),
        neighbours: (0..3).map(|k| Neighbour { name: format!("near {k}"), cells: cells(k) }).collect(),
    };
    let axis = |j: usize| {
        let at = |n: usize| (0..n).map(|i| (i * 31 % 97) as f64 / 3.0).collect::<Vec<f64>>();
        MapAxis::new(format!("column {j}"), &at(2000), &at(rows)).of_column(j)
    };
    Page {
        title: "Odd rows in orders.csv".into(),
        data: Source { name: "orders.csv".into(), rows: 500, columns: columns as u64, gaps: 3, repeated: 2 },
        reference: None,
        columns: (0..columns).map(column).collect(),
        left_out: vec![LeftOut { name: "id".into(), why: "all different".into() }],
        findings: vec![Finding {
            columns: vec![0],
            sentence: "column 0 has 7 words among its numbers.".into(),
        }],
        depths: Histogram::new(&depths),
        thresholds: Thresholds::new(&p, &depths, PValues::Ranks).unwrap(),
        rows: (0..rows).map(row).collect(),
        map: Some(Map {
            axes: (0..columns - 1).map(axis).collect(),
            start: [0, 1],
            percentiles: (0..2000).map(|i| f64::from(i) / 2000.0).collect(),
            names: (0..2000).map(|i| format!("ORD-{i}")).collect(),
            of: 2000,
        }),
        drift: None,
        method: Method {
            sentences: vec!["A depth.".into()],
            settings: vec![Fact::new("reg", "1")],
            audit: vec![Fact::new("SHA-256", "abc")],
        },
    }
}

/// The data that the script gets.
fn data(html: &str) -> serde_json::Value {
    let start = html.find("id=\"report-data\">").unwrap() + "id=\"report-data\">".len();
    let end = start + html[start..].find("</script>").unwrap();
    serde_json::from_str(&html[start..end]).unwrap()
}

const LIMIT: usize = 3_000_000;

#[test]
fn the_same_page_gives_the_same_bytes() {
    let page = sample(40, 6);
    assert_eq!(page.to_html(), page.clone().to_html());
}

#[test]
fn numbers_reach_the_script_unchanged() {
    let page = sample(40, 6);
    let data = data(&page.to_html());
    for (row, view) in page.rows.iter().zip(data["rows"].as_array().unwrap()) {
        assert_eq!(view["depth"].as_f64(), Some(row.depth));
        assert_eq!(view["p_value"].as_f64(), Some(row.p_value));
        assert_eq!(view["stderr"].as_f64(), row.stderr);
    }
    assert_eq!(data["steps"].as_array().unwrap().len(), page.thresholds.steps.len());
}

#[test]
fn the_page_can_be_read_without_a_script() {
    let html = sample(40, 6).to_html();
    let before_data = &html[..html.find("id=\"report-data\"").unwrap()];
    for text in [
        "ORD-39",
        "highest of all; nine in ten are 5 to 95",
        "SHA-256",
        "2 repeated rows",
        "column 0 has 7 words",
    ] {
        assert!(before_data.contains(text), "{text}");
    }
    assert!(!html.contains(" style=\""), "the content security policy forbids style attributes");
    assert!(!html.contains(" onclick"), "and handlers");
}

#[test]
fn hostile_text_stays_text() {
    let markup = "</script><script>alert(1)</script><!-- \"'\u{2028}<img src=x onerror=alert(1)>";
    let plain = sample(5, 4).to_html();
    let mut page = sample(5, 4);
    page.title = markup.into();
    page.data.name = markup.into();
    for column in &mut page.columns {
        column.name = markup.into();
        column.usual = markup.into();
        column.kind = markup.into();
    }
    for row in &mut page.rows {
        row.name = markup.into();
        row.cells[3] = Cell::Text(markup.into());
        row.reasons[0].sentence = markup.into();
        row.counterfactual = Some(Counterfactual {
            columns: vec![0],
            values: vec![markup.into()],
            depth: 0.5,
            percentile: 0.5,
            sentence: markup.into(),
        });
    }
    page.left_out[0].why = markup.into();
    page.findings[0].sentence = markup.into();
    page.method.audit[0] = Fact::new(markup, markup);
    page.map.as_mut().unwrap().axes[0].label = markup.into();
    let html = page.to_html();
    for tag in ["<script", "</script", "<img", "<!--"] {
        assert_eq!(html.matches(tag).count(), plain.matches(tag).count(), "{tag}");
    }
    assert!(!html.contains('\u{2028}'));
    assert_eq!(data(&html)["rows"][0]["name"], markup.replace('\u{2028}', "⟨U+2028⟩"));
}

#[test]
fn masked_values_are_not_in_the_file() {
    let mut page = sample(12, 4);
    let secret = "atlantis";
    assert!(page.to_html().contains(secret));
    page.columns[3].masked = true;
    page.rows[3].reasons[0].sentence = "atlantis is new".into();
    page.rows[3].counterfactual.as_mut().unwrap().sentence = "instead of atlantis".into();
    page.findings.push(Finding { columns: vec![3], sentence: "atlantis?".into() });
    page.map.as_mut().unwrap().axes[1].column = Some(3);
    page.map.as_mut().unwrap().axes[1].label = "the axis of atlantis".into();
    let html = page.to_html();
    assert!(!html.contains(secret) && !html.contains("north"));
    assert!(html.contains("values are masked"));
}

#[test]
fn size_is_bounded_whatever_is_given() {
    let long = "<".repeat(10_000);
    let mut wide = sample(300, 400);
    for row in &mut wide.rows {
        row.name.clone_from(&long);
        row.cells.iter_mut().for_each(|cell| *cell = Cell::Text(long.clone()));
        row.reasons = vec![Reason { columns: vec![1, 2], sentence: long.clone() }; 20];
    }
    for column in &mut wide.columns {
        column.name.clone_from(&long);
        column.distribution = Distribution::levels((0..40).map(|k| (format!("{k}{long}"), k)));
    }
    wide.left_out = vec![LeftOut { name: long.clone(), why: long.clone() }; 5000];
    wide.findings = vec![Finding { columns: Vec::new(), sentence: long.clone() }; 5000];
    wide.method.settings = vec![Fact::new(long.clone(), long.clone()); 5000];
    let map = wide.map.as_mut().unwrap();
    map.names.iter_mut().for_each(|name| name.clone_from(&long));
    map.axes.iter_mut().for_each(|axis| axis.label.clone_from(&long));
    for (page, name) in [(sample(100, 50), "usual"), (sample(5000, 60), "many rows"), (wide, "wide and long")]
    {
        let html = page.to_html();
        assert!(html.len() < LIMIT, "{name}: {} bytes", html.len());
        data(&html);
    }
}

#[test]
fn a_million_rows_are_a_small_page() {
    let mut page = sample(200, 20);
    let n = 1_000_000u64;
    let values: Vec<f64> = (0..n).map(|i| (i * 7919 % 1_000_003) as f64).collect();
    let p: Vec<f64> = values.iter().map(|x| (x + 1.0) / 1_000_003.0).collect();
    page.depths = Histogram::new(&values);
    page.thresholds = Thresholds::new(&p, &values, PValues::Calibrated).unwrap();
    for column in &mut page.columns {
        column.distribution = Distribution::numbers(&values);
    }
    let size = page.to_html().len();
    assert!(size < LIMIT / 2, "{size} bytes");
}

#[test]
fn empty_pages_are_pages() {
    let mut page = sample(0, 2);
    page.columns.clear();
    page.map = None;
    page.findings.clear();
    let html = page.to_html();
    assert!(html.ends_with("</html>\n"));
    data(&html);
}

#[test]
fn indices_out_of_range_do_no_harm() {
    let mut page = sample(3, 3);
    page.rows[0].reasons[0].columns = vec![99];
    page.rows[1].cells.truncate(1);
    page.rows[2].contributions.clear();
    page.findings[0].columns = vec![7];
    page.thresholds.start = 10_000;
    page.map.as_mut().unwrap().start = [5, 9];
    page.drift = Some(Drift {
        columns: vec![ColumnDrift::numbers(12, &[1.0], &[2.0], false)],
        alike: Vec::new(),
        reference_depths: Vec::new(),
    });
    data(&page.to_html());
}

#[test]
fn alike_rows_are_grouped_by_their_main_reason() {
    let page = sample(12, 4);
    let groups = groups::groups(&page.rows, &page.columns, None);
    let titles: Vec<(&str, usize)> =
        groups.iter().map(|group| (group.title.as_str(), group.rows.len())).collect();
    let expected = [
        ("column 0 is unusually high", 3),
        ("column 1 is unusually high", 3),
        ("column 2 is unusually high", 3),
        ("column 3 is atlantis", 3),
    ];
    assert_eq!(titles, expected);
    assert_eq!(groups[0].detail, "1000 to 1056; nine in ten rows have 4 to 95");
    assert_eq!(groups[3].detail, "in 0% of the rows; most often north (60%)");
}
