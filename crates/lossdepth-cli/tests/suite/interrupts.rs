//! Signals in the middle of the work: no half file is left, and what was there before stays.
#![cfg(target_os = "linux")]

use crate::common::Folder;
use std::io::Write;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// Whether one of the signals is ignored where the tests run, as after `nohup`: then the program ignores it as well.
fn ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:")).unwrap().trim();
    u64::from_str_radix(ignored, 16).unwrap() & 0x4003 != 0
}

/// A run that ends with its test, whichever way that goes.
struct Running(Child);

impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Starts the program, interrupts it when its output is open under a temporary name, and looks at what is left.
fn interrupted(folder: &Folder, args: &str, input: Option<&[u8]>) {
    if !ignored() {
        ended(
            folder,
            folder.command(&args.split_whitespace().collect::<Vec<_>>()),
            args,
            input,
            ("INT", 130),
        );
    }
}

/// The same for any signal and the exit code it leads to.
fn ended(folder: &Folder, mut command: Command, args: &str, input: Option<&[u8]>, signal: (&str, i32)) {
    let before = folder.list();
    let args: Vec<&str> = args.split_whitespace().collect();
    let out = args[args.iter().position(|arg| *arg == "--out").unwrap() + 1];
    let old = before.iter().any(|name| name == out).then(|| folder.read(out));
    command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
    let mut run = Running(command.spawn().unwrap());
    // It stays open: whoever reads it to its end waits.
    let mut stdin = run.0.stdin.take().unwrap();
    if let Some(input) = input {
        stdin.write_all(input).unwrap();
    }
    let prefix = format!(".{out}.");
    let deadline = Instant::now() + Duration::from_secs(120);
    while !folder.list().iter().any(|name| name.starts_with(&prefix)) {
        assert!(Instant::now() < deadline, "{args:?}: {:?}", folder.list());
        assert_eq!(run.0.try_wait().unwrap(), None, "{args:?} is done too early");
        std::thread::sleep(Duration::from_millis(2));
    }
    assert!(
        Command::new("kill")
            .args([&format!("-{}", signal.0), &run.0.id().to_string()])
            .status()
            .unwrap()
            .success()
    );
    assert_eq!(run.0.wait().unwrap().code(), Some(signal.1), "{args:?}");
    assert_eq!(folder.list(), before, "{args:?}");
    assert_eq!(old, before.iter().any(|name| name == out).then(|| folder.read(out)), "{args:?}");
}

/// Rows without a pattern that a solver could use.
fn table(rows: u64, width: u64) -> String {
    let mut state = 1u64;
    let mut number = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40).to_string()
    };
    (0..rows).map(|_| (0..width).map(|_| number()).collect::<Vec<_>>().join(",") + "\n").collect()
}

#[test]
fn score() {
    let folder = Folder::with("0\n1\n");
    folder.write("old.csv", "0\n50\n99\n");
    // It waits for more input, with some rows written.
    let some = "1\n".repeat(200_000);
    let args = "score - --reference old.csv --out scores.csv";
    interrupted(&folder, args, Some(some.as_bytes()));
    folder.write("scores.csv", "precious");
    interrupted(&folder, args, Some(some.as_bytes()));
}

#[test] // Jobs in the background of a script have Ctrl-C ignored, and those of `nohup` the end of the terminal.
fn other_signals() {
    if ignored() {
        return;
    }
    let folder = Folder::with("0\n1\n");
    folder.write("old.csv", "0\n50\n99\n");
    let some = "1\n".repeat(200_000);
    let args = "score - --reference old.csv --out scores.csv";
    for ignored in ["", "INT", "HUP"] {
        for signal in [("TERM", 143), ("HUP", 129)] {
            if ignored == signal.0 {
                continue;
            }
            let line = format!(
                "{}exec \"$0\" \"$@\"",
                if ignored.is_empty() { String::new() } else { format!("trap '' {ignored}; ") }
            );
            let mut command = Command::new("sh");
            command.args(["-c", &line, env!("CARGO_BIN_EXE_lossdepth")]).args(args.split_whitespace());
            command.current_dir(folder.path("."));
            ended(&folder, command, args, Some(some.as_bytes()), signal);
        }
    }
}

#[test]
fn fit() {
    let folder = Folder::with(table(4000, 20));
    // The factors of a matrix of 4000 rows.
    let args = "fit data.csv --method gp --scale standard --out model.safetensors";
    interrupted(&folder, args, None);
    folder.write("model.safetensors", "precious");
    interrupted(&folder, args, None);
}

#[test]
fn plot() {
    let folder = Folder::with(table(1000, 2));
    for name in ["map.png", "map.svg"] {
        // Four million points.
        let args = format!("plot data.csv --method svm --scale standard --grid 2048 --out {name}");
        interrupted(&folder, &args, None);
        folder.write(name, "precious");
        interrupted(&folder, &args, None);
    }
}

#[test]
fn explain() {
    let folder = Folder::with(table(3000, 144));
    for (name, how) in [("rows.png", "--image 12x12"), ("rows.svg", "--image 12x12"), ("rows.json", "--json")]
    {
        // The depth of every row, for the rank.
        let args = format!(
            "explain data.csv {how} --method hinge --scale standard --reg 1e-6 --tol 1e-10 --threads 1 --out {name}"
        );
        interrupted(&folder, &args, None);
        folder.write(name, "precious");
        interrupted(&folder, &args, None);
    }
}
