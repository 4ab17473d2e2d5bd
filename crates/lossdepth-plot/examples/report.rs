//! Reports from made-up orders: `cargo run -p lossdepth-plot --example report -- orders > odd.html`.
//!
//! `orders` compares 1,202 orders with each other; `drift` compares the orders of a year with those of the year before; `large`
//! has a million rows (with distances from the median for depths, which need no fit); `hostile` has names and values that try to
//! leave their place.

use lossdepth::data::Scale;
use lossdepth::stats::conformal::{Conformal, own_p_values};
use lossdepth::{Method, Reference, Rows, Run, Settings};
use lossdepth_plot::report::{
    Cell, Column, ColumnDrift, Counterfactual, Distribution, Drift, Fact, Finding, Histogram, LeftOut, Map,
    MapAxis, Neighbour, OddRow, PValues, Page, Reason, Source, Thresholds, sample_ordinary,
};

type Failure = Box<dyn std::error::Error>;

const NUMBERS: [&str; 6] = ["quantity", "unit_price", "discount", "amount", "days_to_pay", "order_date"];
const LEVELS: [&str; 2] = ["region", "channel"];
const REGIONS: [&str; 6] = ["North", "South", "East", "West", "Overseas", "Nrth"];
const CHANNELS: [&str; 3] = ["web", "phone", "shop"];
const DATE: usize = 5;

/// A small generator of numbers that only look random.
struct Dice(u64);

impl Dice {
    fn uniform(&mut self) -> f64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
    /// About normal.
    fn normal(&mut self) -> f64 {
        (0..12).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
    fn below(&mut self, n: usize) -> usize {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "below n")]
        let k = (self.uniform() * n as f64) as usize;
        k
    }
}

/// Orders, a column each: numbers, and indices of levels.
struct Orders {
    numbers: [Vec<f64>; 6],
    levels: [Vec<usize>; 2],
}

impl Orders {
    fn new(n: usize, seed: u64, price: f64, planted: bool) -> Self {
        let mut dice = Dice(seed);
        let mut orders =
            Self { numbers: std::array::from_fn(|_| Vec::new()), levels: [Vec::new(), Vec::new()] };
        for i in 0..n {
            let mut quantity = (14.0 + 5.5 * dice.normal()).round().clamp(1.0, 34.0);
            let unit = (100.0 * price * (0.35 * dice.normal()).exp() * 20.0).round() / 100.0;
            let discount = [0.0, 0.0, 0.05, 0.1][dice.below(4)];
            let mut amount = (100.0 * quantity * unit * (1.0 - discount)).round() / 100.0;
            let mut days = (18.0 + 8.0 * dice.normal()).round().max(1.0);
            let mut region = [0, 0, 0, 1, 1, 2, 2, 3][dice.below(8)];
            let mut date = 19_723.0 + (365.0 * i as f64 / n as f64).floor();
            if planted {
                match i % 241 {
                    33 => quantity = 90.0 * (1 + i % 10) as f64,
                    77 => days = 200.0 + (i % 166) as f64,
                    120 => amount *= 10.0,
                    180 => region = 4 + i % 2,
                    200 if i < 300 => date = 25_567.0,
                    _ => {}
                }
            }
            for (column, value) in
                orders.numbers.iter_mut().zip([quantity, unit, discount, amount, days, date])
            {
                column.push(value);
            }
            orders.levels[0].push(region);
            orders.levels[1].push(dice.below(3));
        }
        orders
    }

    fn len(&self) -> usize {
        self.numbers[0].len()
    }

    /// One number a column, and one a level.
    fn row(&self, i: usize) -> Vec<f64> {
        let mut row: Vec<f64> = self.numbers.iter().map(|column| column[i]).collect();
        row[3] = row[3].ln();
        for (column, all) in self.levels.iter().zip([REGIONS.len(), CHANNELS.len()]) {
            row.extend((0..all).map(|level| f64::from(u8::from(column[i] == level))));
        }
        row
    }

    fn level(&self, column: usize, i: usize) -> &'static str {
        if column == 0 { REGIONS[self.levels[0][i]] } else { CHANNELS[self.levels[1][i]] }
    }

    fn cells(&self, i: usize) -> Vec<Cell> {
        let number = |column: usize| {
            let value = self.numbers[column][i];
            let text =
                if column == DATE { date_text(value) } else { ((value * 100.0).round() / 100.0).to_string() };
            Cell::Number { text, value }
        };
        let levels = (0..2).map(|column| Cell::Text(self.level(column, i).to_owned()));
        (0..6).map(number).chain(levels).collect()
    }

    fn counts(&self, column: usize) -> Vec<(String, u64)> {
        let names: &[&str] = if column == 0 { &REGIONS } else { &CHANNELS };
        let count = |level: usize| self.levels[column].iter().filter(|own| **own == level).count() as u64;
        (0..names.len())
            .map(|level| (names[level].to_owned(), count(level)))
            .filter(|pair| pair.1 > 0)
            .collect()
    }

    fn columns(&self) -> Vec<Column> {
        let number = |column: usize| {
            let values = &self.numbers[column];
            let date = column == DATE;
            let distribution = if date { Distribution::dates(values) } else { Distribution::numbers(values) };
            made(NUMBERS[column], if date { "date" } else { "number" }, distribution)
        };
        let levels =
            (0..2).map(|column| made(LEVELS[column], "category", Distribution::levels(self.counts(column))));
        (0..6).map(number).chain(levels).collect()
    }
}

fn made(name: &str, kind: &str, distribution: Distribution) -> Column {
    let usual = distribution.usual();
    Column { name: name.to_owned(), kind: kind.to_owned(), gaps: 0, usual, distribution, masked: false }
}

/// The days of 2024 by month, and one date of the future: all that the orders have.
fn date_text(days: f64) -> String {
    const MONTHS: [f64; 12] = [31.0, 29.0, 31.0, 30.0, 31.0, 30.0, 31.0, 31.0, 30.0, 31.0, 30.0, 31.0];
    if days > 25_000.0 {
        return "2040-01-01".to_owned();
    }
    let mut day = days - 19_723.0;
    for (month, length) in MONTHS.iter().enumerate() {
        if day < *length {
            return format!("2024-{:02}-{:02}", month + 1, day + 1.0);
        }
        day -= length;
    }
    "2024-12-31".to_owned()
}

/// How odd each column of an order is: quantities in widths of the middle, levels by rarity.
fn contributions(cells: &[Cell], columns: &[Column]) -> Vec<f64> {
    let one = |(cell, column): (&Cell, &Column)| match (cell, &column.distribution) {
        (Cell::Number { value, .. }, Distribution::Numbers { middle: [low, high], .. }) => {
            let width = (high - low).max(1e-9);
            ((value - high) / width).max((low - value) / width).max(0.0) + 0.02
        }
        (Cell::Text(text), Distribution::Levels { levels, .. }) => {
            let total: u64 = levels.iter().map(|level| level.1).sum();
            let own = levels.iter().find(|level| level.0 == *text).map_or(1, |level| level.1);
            ((total as f64 / own as f64).ln() - 2.5).max(0.0) + 0.02
        }
        _ => 0.0,
    };
    cells.iter().zip(columns).map(one).collect()
}

fn reasons(cells: &[Cell], contributions: &[f64], columns: &[Column]) -> Vec<Reason> {
    let mut order: Vec<usize> = (0..columns.len()).filter(|&column| contributions[column] > 0.1).collect();
    order.sort_by(|&a, &b| contributions[b].total_cmp(&contributions[a]));
    let words = |&column: &usize| match (&cells[column], &columns[column].distribution) {
        (Cell::Number { value, .. }, Distribution::Numbers { middle: [_, high], .. }) => {
            let side = if value > high { "unusually high" } else { "unusually low" };
            Reason {
                columns: vec![column],
                sentence: format!("{side}; nine in ten are {}", columns[column].usual),
            }
        }
        _ => Reason { columns: vec![column], sentence: format!("rare; usual are {}", columns[column].usual) },
    };
    order.iter().take(3).map(words).collect()
}

fn counterfactual(row: &OddRow, columns: &[Column]) -> Option<Counterfactual> {
    let column = *row.reasons.first()?.columns.first()?;
    let (name, usual) = (&columns[column].name, &columns[column].usual);
    let now = row.cells[column].text();
    let sentence = format!("Would be ordinary if {name} were within {usual} instead of {now}.");
    Some(Counterfactual {
        columns: vec![column],
        values: vec![usual.clone()],
        depth: 0.5,
        percentile: 0.5,
        sentence,
    })
}

fn page(orders: &Orders, before: Option<&Orders>, top: usize) -> Result<Page, Failure> {
    let run = Run::default();
    let compared = before.unwrap_or(orders);
    let rows: Vec<Vec<f64>> = (0..compared.len()).map(|i| compared.row(i)).collect();
    let sample = Reference::new(&rows)?;
    let mut settings = Settings::new(Method::Svm);
    settings.scale = Scale::Robust;
    let flat: Vec<f64> = (0..orders.len()).flat_map(|i| orders.row(i)).collect();
    let queries = Rows::new(&flat, rows[0].len())?;
    let model = settings.fit(&sample)?;
    let fits = model.score(queries, &run)?;
    let depths: Vec<f64> = fits.iter().map(|fit| fit.depth).collect();
    let (p, kind, reference_depths) = if before.is_none() {
        (own_p_values(&depths, None)?, PValues::Ranks, Vec::new())
    } else {
        let conformal = Conformal::named("cross", 0)?.calibrate(&settings, &sample, &run)?;
        let own: Vec<f64> = model.score(sample.rows(), &run)?.iter().map(|fit| fit.depth).collect();
        (conformal.p_values(queries, &depths, &run)?, PValues::Calibrated, own)
    };
    let mut order: Vec<usize> = (0..orders.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]).then(depths[a].total_cmp(&depths[b])));
    let odd = &order[..top];
    let columns = compared.columns();
    let odd_rows = odd.iter().map(|&i| {
        let (cells, fit) = (orders.cells(i), &fits[i]);
        let contributions = contributions(&cells, &columns);
        let deep = order[orders.len() / 2..].iter().step_by(97).take(3);
        let mut row = OddRow {
            name: format!("ORD-{}", 100_000 + i),
            row: i as u64,
            depth: fit.depth,
            error: fit.error,
            stderr: Some(fit.stderr).filter(|x| x.is_finite()),
            p_value: p[i],
            percentile: share_below(if before.is_none() { &depths } else { &reference_depths }, fit.depth),
            reasons: reasons(&cells, &contributions, &columns),
            contributions,
            counterfactual: None,
            neighbours: deep
                .map(|&j| Neighbour { name: format!("ORD-{}", 100_000 + j), cells: orders.cells(j) })
                .collect(),
            cells,
        };
        row.counterfactual = counterfactual(&row, &columns);
        row
    });
    let odd_rows: Vec<OddRow> = odd_rows.collect();
    Ok(Page {
        title: "Odd rows in orders.csv".to_owned(),
        data: source("orders.csv", orders),
        reference: before.map(|before| source("orders-2023.csv", before)),
        left_out: vec![
            LeftOut { name: "order_id".into(), why: "all different: used as the row's name".into() },
            LeftOut { name: "customer".into(), why: "text".into() },
        ],
        findings: vec![Finding {
            columns: vec![6],
            sentence: "region: \"Nrth\" differs by one letter from the frequent \"North\".".into(),
        }],
        depths: Histogram::new(&depths),
        thresholds: Thresholds::new(&p, &depths, kind)?,
        map: Some(map(orders, &depths, odd)),
        drift: before.map(|before| drift(before, orders, reference_depths)),
        rows: odd_rows,
        columns,
        method: method(),
    })
}

/// The share of depths that are at most as large.
fn share_below(depths: &[f64], depth: f64) -> f64 {
    depths.iter().filter(|other| **other <= depth).count() as f64 / depths.len() as f64
}

fn source(name: &str, orders: &Orders) -> Source {
    Source { name: name.to_owned(), rows: orders.len() as u64, columns: 10, gaps: 0, repeated: 0 }
}

fn drift(before: &Orders, now: &Orders, reference_depths: Vec<f64>) -> Drift {
    let numbers = (0..6).map(|j| ColumnDrift::numbers(j, &before.numbers[j], &now.numbers[j], j == DATE));
    let levels = (0..2).map(|j| ColumnDrift::levels(6 + j, &before.counts(j), &now.counts(j)));
    Drift { columns: numbers.chain(levels).collect(), alike: Vec::new(), reference_depths }
}

fn map(orders: &Orders, depths: &[f64], odd: &[usize]) -> Map {
    let sample = sample_ordinary(depths, odd, 1500);
    let n = depths.len() as f64;
    let mut sorted = depths.to_vec();
    sorted.sort_by(f64::total_cmp);
    let percentile = |&i: &usize| sorted.partition_point(|depth| *depth <= depths[i]) as f64 / n;
    let axis = |column: usize| {
        let at = |rows: &[usize]| rows.iter().map(|&i| orders.numbers[column][i]).collect::<Vec<f64>>();
        if column == DATE {
            return MapAxis::dates(NUMBERS[column], &at(&sample), &at(odd)).of_column(column);
        }
        MapAxis::new(NUMBERS[column], &at(&sample), &at(odd)).of_column(column)
    };
    let regions = |rows: &[usize]| rows.iter().map(|&i| orders.levels[0][i] as f64).collect::<Vec<f64>>();
    let names = REGIONS.map(str::to_owned).to_vec();
    let region = MapAxis::levels(LEVELS[0], names, &regions(&sample), &regions(odd)).of_column(6);
    Map {
        axes: (0..6).map(axis).chain([region]).collect(),
        start: [0, 3],
        percentiles: sample.iter().map(percentile).collect(),
        names: sample.iter().map(|i| format!("ORD-{}", 100_000 + i)).collect(),
        of: (depths.len() - odd.len()) as u64,
    }
}

fn method() -> lossdepth_plot::report::Method {
    lossdepth_plot::report::Method {
        sentences: vec![
            "Each row's depth is the risk that remains when a support vector machine with a Gaussian kernel separates it from \
             the rows it is compared with."
                .into(),
            "Numbers were scaled by their median and interquartile range.".into(),
        ],
        settings: vec![Fact::new("method", "svm"), Fact::new("scale", "robust"), Fact::new("gamma", "auto")],
        audit: vec![
            Fact::new("lossdepth", env!("CARGO_PKG_VERSION")),
            Fact::new("SHA-256 of the data", "0".repeat(64)),
            Fact::new("command", "cargo run -p lossdepth-plot --example report"),
        ],
    }
}

/// A million rows. Their depths are made from the numbers without a fit: the page needs the aggregates only.
fn large() -> Result<Page, Failure> {
    let orders = Orders::new(1_000_000, 5, 1.0, true);
    let columns = orders.columns();
    let oddness = |i: usize| contributions(&orders.cells(i), &columns).iter().sum::<f64>();
    let depths: Vec<f64> = (0..orders.len()).map(|i| 1.0 / (1.0 + oddness(i)) + 1e-9 * i as f64).collect();
    let p = own_p_values(&depths, None)?;
    let mut order: Vec<usize> = (0..orders.len()).collect();
    order.sort_by(|&a, &b| depths[a].total_cmp(&depths[b]));
    let mut small = page(&Orders::new(400, 3, 1.0, true), None, 200)?;
    for (row, &i) in small.rows.iter_mut().zip(&order) {
        (row.cells, row.depth, row.p_value, row.percentile) = (orders.cells(i), depths[i], p[i], p[i]);
        row.contributions = contributions(&row.cells, &columns);
        row.reasons = reasons(&row.cells, &row.contributions, &columns);
        (row.row, row.name, row.stderr) = (i as u64, format!("ORD-{}", 100_000 + i), None);
        row.counterfactual = counterfactual(row, &columns);
    }
    small.map = Some(map(&orders, &depths, &order[..200]));
    small.data = source("orders-of-all-years.csv", &orders);
    "Odd rows among a million orders".clone_into(&mut small.title);
    (small.depths, small.columns) = (Histogram::new(&depths), columns);
    small.thresholds = Thresholds::new(&p, &depths, PValues::Ranks)?;
    Ok(small)
}

/// Names and values that try to leave their place.
fn hostile() -> Result<Page, Failure> {
    const MARKUP: &str =
        "</script><script>document.title='broken'</script><img src=x onerror=\"document.title='broken'\">";
    let mut page = page(&Orders::new(300, 11, 1.0, true), None, 20)?;
    page.title = format!("Hostile {MARKUP}");
    page.data.name = MARKUP.into();
    page.columns[0].name = MARKUP.into();
    page.columns[1].name = "\"'`&amp;\u{2028}\u{202e}gnp.exe".into();
    page.columns[2].name = "x".repeat(10_000);
    page.columns[3].name = "كمية الطلب".into();
    for row in &mut page.rows {
        row.cells[6] = Cell::Text(MARKUP.to_owned());
        row.cells[7] = Cell::Text("=HYPERLINK(\"http://127.0.0.1:9/\")".to_owned());
        row.reasons.push(Reason { columns: vec![0], sentence: MARKUP.to_owned() });
    }
    page.rows[0].name = MARKUP.into();
    page.rows[1].name = "שורה 17".into();
    page.rows[2].name = "y".repeat(10_000);
    page.rows[3].name = "=1+1".into();
    page.findings.push(Finding { columns: Vec::new(), sentence: MARKUP.to_owned() });
    page.method.audit.push(Fact::new(MARKUP, MARKUP));
    if let Some(map) = &mut page.map {
        MARKUP.clone_into(&mut map.axes[0].label);
    }
    Ok(page)
}

fn main() -> Result<(), Failure> {
    let kind = std::env::args().nth(1).unwrap_or_else(|| "orders".to_owned());
    let page = match kind.as_str() {
        "orders" => page(&Orders::new(1202, 7, 1.0, true), None, 40)?,
        "drift" => {
            let mut page =
                page(&Orders::new(800, 9, 1.25, true), Some(&Orders::new(1500, 8, 1.0, false)), 60)?;
            page.title = "orders-2024.csv against orders-2023.csv".into();
            page.data.name = "orders-2024.csv".into();
            page
        }
        "masked" => {
            let mut page = page(&Orders::new(1202, 7, 1.0, true), None, 40)?;
            page.columns[3].masked = true;
            page.columns[6].masked = true;
            page
        }
        "large" => large()?,
        "hostile" => hostile()?,
        other => return Err(format!("no page `{other}`: orders, drift, masked, large or hostile").into()),
    };
    print!("{}", page.to_html());
    Ok(())
}
