//! Runs the program on small files in a folder of its own.
#![allow(dead_code)]

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use tempfile::TempDir;

/// Eleven rows around a line, the last one off it.
pub(crate) const TABLE: &str = "\
id,x,y,kind
a,0.0,0.1,0
b,1.0,0.9,0
c,2.0,2.2,0
d,3.0,2.8,0
e,4.0,4.1,0
f,5.0,5.2,0
g,6.0,5.9,0
h,7.0,7.1,0
i,8.0,7.8,0
\"j, k\",9.0,9.1,0
l,2.0,8.0,1
";

/// What a run left behind.
pub(crate) struct Ran {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

/// A folder with files in it, gone after the test.
pub(crate) struct Folder(TempDir);

impl Folder {
    pub(crate) fn new() -> Self {
        Self(TempDir::new().unwrap())
    }

    /// A folder with `data.csv` in it.
    pub(crate) fn with(text: impl AsRef<[u8]>) -> Self {
        let folder = Self::new();
        folder.write("data.csv", text);
        folder
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: impl AsRef<[u8]>) -> &Self {
        std::fs::write(self.path(name), text).unwrap();
        self
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The files, sorted.
    pub(crate) fn list(&self) -> Vec<String> {
        let names = std::fs::read_dir(self.0.path()).unwrap();
        let mut names: Vec<_> = names.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    /// The program with these arguments. Where a method is needed and none is said it is `logistic`, whose numbers are known
    /// for small tables; `defaults` tests the method that users get.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_lossdepth"));
        command.args(args).current_dir(self.0.path()).env_remove("COLUMNS").stdin(Stdio::null());
        let fits = args.first().is_some_and(|verb| ["score", "explain", "plot", "fit"].contains(verb));
        if fits
            && !args
                .iter()
                .any(|arg| arg.starts_with("--method") || arg.starts_with("--model") || *arg == "--help")
        {
            command.args(["--method", "logistic"]);
        }
        command
    }

    /// Runs the program in the folder, with these arguments.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        ran(self.command(args).output().unwrap())
    }

    /// Runs the program behind a line of shell that ends in `exec "$0" "$@"` and what goes with it.
    #[cfg(unix)]
    pub(crate) fn shell(&self, line: &str, args: &[&str]) -> Ran {
        let program = env!("CARGO_BIN_EXE_lossdepth");
        let mut command = Command::new("sh");
        command.args(["-c", line, program]).args(args).current_dir(self.0.path()).stdin(Stdio::null());
        ran(command.output().unwrap())
    }

    /// Runs `score`, its arguments given as one text.
    pub(crate) fn score(&self, args: &str) -> Ran {
        self.run(&["score"].into_iter().chain(args.split_whitespace()).collect::<Vec<_>>())
    }

    /// Runs `score` with something to read on standard input.
    pub(crate) fn score_stdin(&self, args: &str, input: &[u8]) -> Ran {
        let args: Vec<_> = ["score"].into_iter().chain(args.split_whitespace()).collect();
        let mut command = self.command(&args);
        let mut child =
            command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        child.stdin.take().unwrap().write_all(input).unwrap();
        ran(child.wait_with_output().unwrap())
    }
}

fn ran(output: Output) -> Ran {
    Ran {
        code: output.status.code(),
        out: String::from_utf8(output.stdout).unwrap(),
        err: String::from_utf8(output.stderr).unwrap(),
    }
}

/// Text cut into numbers with many digits, rounded to four decimals, and what is between them.
fn tokens(text: &str) -> Vec<String> {
    let part_of_number = |c: char| c.is_ascii_digit() || ".e-".contains(c);
    let mut tokens = Vec::new();
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let length = rest.find(|c| !part_of_number(c)).unwrap_or(rest.len());
        let (token, after) = rest.split_at(length.max(c.len_utf8()));
        match token.parse::<f64>() {
            Ok(value) if token.len() >= 6 && token.contains('.') => tokens.push(format!("{value:.4}")),
            _ => tokens.push(token.to_owned()),
        }
        rest = after;
    }
    tokens
}

/// The same text, but for numbers that differ in their last digits.
fn near(a: &str, b: &str) -> bool {
    let (a, b) = (tokens(a), tokens(b));
    let close = |a: &String, b: &String| match (a.parse::<f64>(), b.parse::<f64>()) {
        (Ok(x), Ok(y)) if a.contains('.') && b.contains('.') => (x - y).abs() < 2e-3,
        _ => a == b,
    };
    a.len() == b.len() && a.iter().zip(&b).all(|(a, b)| close(a, b))
}

/// Compares with a file in `tests/snapshots`; with `UPDATE_SNAPSHOTS=1` it writes the file instead.
pub(crate) fn assert_snapshot(name: &str, text: &str) {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/snapshots").join(name);
    if std::env::var_os("UPDATE_SNAPSHOTS").is_some() {
        std::fs::write(&path, tokens(text).concat()).unwrap();
    }
    let expected = std::fs::read_to_string(&path).unwrap_or_default();
    assert!(near(text, &expected), "{name} differs; it is now:\n{text}");
}
