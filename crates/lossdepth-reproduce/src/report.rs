//! The results of an experiment, as Markdown for readers and CSV for programs.

use crate::error::{Error, Result};
use crate::session::Session;
use std::fmt::Write;

/// The page of an experiment in reading order, and its tables for programs.
pub(crate) struct Report {
    title: String,
    blocks: Vec<Block>,
    sheets: Vec<(String, Table)>,
}

enum Block {
    Heading(String),
    Text(String),
    Table(Table),
    Figure { name: String, caption: String },
}

/// A table of text cells.
#[derive(Debug, Clone, Default, PartialEq)]
pub(crate) struct Table {
    pub(crate) head: Vec<String>,
    pub(crate) rows: Vec<Vec<String>>,
}

impl Table {
    pub(crate) fn new(head: impl IntoIterator<Item = impl Into<String>>) -> Self {
        Self { head: head.into_iter().map(Into::into).collect(), rows: Vec::new() }
    }

    pub(crate) fn row(&mut self, cells: impl IntoIterator<Item = impl Into<String>>) {
        self.rows.push(cells.into_iter().map(Into::into).collect());
    }
}

impl Report {
    pub(crate) fn new(title: impl Into<String>) -> Self {
        Self { title: title.into(), blocks: Vec::new(), sheets: Vec::new() }
    }

    pub(crate) fn heading(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Heading(text.into()));
    }

    pub(crate) fn text(&mut self, text: impl Into<String>) {
        self.blocks.push(Block::Text(text.into()));
    }

    /// A bulleted list; nothing if it is empty.
    pub(crate) fn list(&mut self, lines: impl IntoIterator<Item = String>) {
        let lines: Vec<String> = lines.into_iter().map(|line| format!("- {line}")).collect();
        if !lines.is_empty() {
            self.blocks.push(Block::Text(lines.join("\n")));
        }
    }

    /// A table in the page: the first column is aligned left, the others right.
    pub(crate) fn table(&mut self, table: Table) {
        self.blocks.push(Block::Table(table));
    }

    /// A picture that was written as `name.png` and `name.svg`.
    pub(crate) fn figure(&mut self, name: impl Into<String>, caption: impl Into<String>) {
        self.blocks.push(Block::Figure { name: name.into(), caption: caption.into() });
    }

    /// A table for programs, written as `name.csv`.
    pub(crate) fn sheet(&mut self, name: impl Into<String>, table: Table) {
        self.sheets.push((name.into(), table));
    }

    fn markdown(&self) -> String {
        let mut text = format!("# {}\n", self.title);
        for block in &self.blocks {
            // Writing to a string cannot fail.
            let _ = match block {
                Block::Heading(heading) => writeln!(text, "\n## {heading}"),
                Block::Text(words) => writeln!(text, "\n{words}"),
                Block::Table(table) => writeln!(text, "\n{}", markdown_table(table)),
                Block::Figure { name, caption } => {
                    writeln!(text, "\n![{caption}]({name}.png)\n\n*{caption}*")
                }
            };
        }
        text
    }

    /// Writes `experiment.md` and the tables for programs.
    pub(crate) fn write(&self, session: &Session<'_>, experiment: &str) -> Result<()> {
        for (name, sheet) in &self.sheets {
            session.write_text(&format!("{name}.csv"), &csv_text(sheet)?)?;
        }
        session.write_text(&format!("{experiment}.md"), &self.markdown())
    }
}

fn markdown_table(table: &Table) -> String {
    let line = |cells: &[String]| format!("| {} |", cells.join(" | "));
    let rules: Vec<String> =
        (0..table.head.len()).map(|j| if j == 0 { "---" } else { "---:" }.to_owned()).collect();
    let rows = table.rows.iter().map(|row| line(row));
    [line(&table.head), line(&rules)].into_iter().chain(rows).collect::<Vec<_>>().join("\n")
}

fn csv_text(table: &Table) -> Result<String> {
    let failed = |why: &dyn std::fmt::Display| Error::Message(format!("cannot write a table: {why}"));
    let mut writer = csv::Writer::from_writer(Vec::new());
    for row in std::iter::once(&table.head).chain(&table.rows) {
        writer.write_record(row).map_err(|why| failed(&why))?;
    }
    let bytes = writer.into_inner().map_err(|why| failed(&why))?;
    String::from_utf8(bytes).map_err(|why| failed(&why))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_report_is_written_as_markdown_and_csv() {
        let mut table = Table::new(["set", "AUC"]);
        table.row(["wine", ".99"]);
        let mut report = Report::new("Test");
        report.text("One line.");
        report.table(table.clone());
        report.list(["first".to_owned(), "second".to_owned()]);
        report.figure("map", "A map.");
        let expected = "# Test\n\nOne line.\n\n| set | AUC |\n| --- | ---: |\n| wine | .99 |\n\n- first\n- second\n\n\
                        ![A map.](map.png)\n\n*A map.*\n";
        assert_eq!(report.markdown(), expected);
        table.row(["a,b", ""]);
        assert_eq!(csv_text(&table).unwrap(), "set,AUC\nwine,.99\n\"a,b\",\n");
    }
}
