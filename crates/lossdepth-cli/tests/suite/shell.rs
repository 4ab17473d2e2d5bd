//! Help, completions, manual pages, suggestions, colours, closed pipes.

use crate::common::{Folder, TABLE, assert_snapshot};
use std::process::Stdio;

/// The commands that the help lists.
fn commands() -> Vec<String> {
    let help = Folder::new().run(&["--help"]).out;
    let list = help.split("Commands:\n").nth(1).unwrap().split("\n\n").next().unwrap();
    let name =
        |line: &str| line.strip_prefix("  ")?.split(' ').next().filter(|n| !n.is_empty()).map(str::to_owned);
    list.lines().filter_map(name).filter(|name| name != "help").collect()
}

#[test]
fn the_short_help_of_every_command_fits_on_a_screen() {
    let folder = Folder::new();
    let program = folder.run(&["-h"]).out;
    assert!(program.lines().count() <= 40, "{program}");
    for command in commands() {
        let ran = folder.run(&[&command, "-h"]);
        assert!(ran.out.lines().count() <= 40, "{command} -h has {} lines", ran.out.lines().count());
        assert!(ran.out.contains("Examples:\n  lossdepth "), "{command} -h has no example");
    }
    // What is not shown is still there.
    let (short, long) = (folder.run(&["score", "-h"]).out, folder.run(&["score", "--help"]).out);
    assert!(!short.contains("--support-fraction") && long.contains("--support-fraction"));
    assert!(short.contains("--top") && short.contains("--help shows all flags"));
}

#[test]
fn every_command_has_help_with_examples() {
    let folder = Folder::new();
    let commands = commands();
    assert!(commands.len() >= 6 && commands.contains(&"fit".to_owned()), "{commands:?}");
    for command in commands {
        let ran = folder.run(&[&command, "--help"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{command}");
        assert!(ran.out.contains("Examples:\n  lossdepth ") || ran.out.contains("| lossdepth "), "{command}");
        assert_snapshot(&format!("{command}-help.txt"), &ran.out);
        assert!(folder.run(&[&command, "-h"]).out.contains("Usage: "), "{command}");
    }
}

#[test]
fn every_shell_gets_completions() {
    let folder = Folder::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let ran = folder.run(&["completions", shell]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""), "{shell}");
        // The generator for elvish and powershell leaves values out.
        let values = ["halfspace", "squared-hinge", "penalised"];
        let values = if ["elvish", "powershell"].contains(&shell) { &[][..] } else { &values };
        for word in ["score", "fit", "support-fraction"].iter().chain(values) {
            assert!(ran.out.contains(word), "{shell}: {word}");
        }
    }
    let ran = folder.run(&["completions", "fisch"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.err.contains("a similar value exists: 'fish'"), "{}", ran.err);
}

#[test]
fn every_command_has_a_manual_page() {
    let folder = Folder::new();
    let page = folder.run(&["man"]);
    assert_eq!((page.code, page.err.as_str()), (Some(0), ""));
    assert!(page.out.contains(".TH lossdepth 1"), "{}", page.out);
    assert_eq!(folder.run(&["man", "--out", "a/b"]).code, Some(0));
    let pages = std::fs::read_dir(folder.path("a/b")).unwrap();
    let mut names: Vec<String> = pages.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    let mut expected: Vec<String> = commands().iter().map(|c| format!("lossdepth-{c}.1")).collect();
    expected.push("lossdepth.1".to_owned());
    expected.sort();
    assert_eq!(names, expected);
    assert_eq!(folder.read("a/b/lossdepth.1"), page.out);
    for command in commands() {
        let text = folder.read(&format!("a/b/lossdepth-{command}.1"));
        assert!(text.contains(".SH NAME") && text.contains(".SH EXAMPLES\n.nf\n  "), "{command}: {text}");
        assert_eq!(text, folder.run(&["man", &command]).out);
    }
    let score = folder.read("a/b/lossdepth-score.1");
    assert!(score.contains(".SH SETTINGS") && score.contains(".SH NOTES\nFiles are "), "{score}");
    let ran = folder.run(&["man", "scroe"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: no command `scroe`; did you mean `score`?\n"));
}

#[test]
fn mistyped_words_get_a_suggestion() {
    let folder = Folder::with(TABLE);
    for (args, suggestion) in [
        ("scroe data.csv", "a similar subcommand exists: 'score'"),
        ("score data.csv --method logstic", "a similar value exists: 'logistic'"),
        ("score data.csv --scale standrd", "a similar value exists: 'standard'"),
        ("score data.csv --regg 1", "a similar argument exists: '--reg'"),
        ("score data.csv --suport-fraction 1", "a similar argument exists: '--support-fraction'"),
        ("score data.csv --label kin", "no column `kin`; did you mean `kind`?"),
        ("fit data.csv --columns X,y --out m.safetensors", "no column `X`; did you mean `x`?"),
    ] {
        let ran = folder.run(&args.split(' ').collect::<Vec<_>>());
        assert_eq!(ran.code, Some(2), "{args}");
        assert!(ran.err.contains(suggestion), "{args}: {}", ran.err);
    }
}

#[test]
fn colours_are_for_terminals() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n");
    let stderr = |args: &[&str], variables: &[(&str, &str)]| {
        let mut command = folder.command(args);
        command
            .env_remove("NO_COLOR")
            .env_remove("CLICOLOR_FORCE")
            .env_remove("CLICOLOR")
            .env("TERM", "xterm");
        String::from_utf8(command.envs(variables.iter().copied()).output().unwrap().stderr).unwrap()
    };
    let warned = ["score", "data.csv", "--scale", "mcd", "--quiet"];
    let failed = ["score", "nowhere.csv"];
    let misused = ["scroe"];
    for args in [&warned[..], &failed, &misused] {
        let plain = stderr(args, &[]);
        assert!(!plain.is_empty() && !plain.contains('\x1b'), "{plain}");
        assert_eq!(stderr(args, &[("NO_COLOR", "1")]), plain);
        let coloured = stderr(args, &[("CLICOLOR_FORCE", "1")]);
        assert!(coloured.starts_with("\x1b["), "{coloured:?}");
        assert_eq!(stderr(args, &[("CLICOLOR_FORCE", "1"), ("NO_COLOR", "1")]), plain);
    }
    assert_eq!(
        stderr(&failed, &[("CLICOLOR_FORCE", "1")]),
        "\x1b[1m\x1b[31merror:\x1b[0m nowhere.csv: no such file\n"
    );
}

/// Whatever prints may be cut short: its reader has seen enough.
#[cfg(target_os = "linux")]
#[test]
fn a_closed_pipe_is_no_failure_of_any_command() {
    let folder = Folder::with("x,y\n0,0\n1,2\n2,1\n");
    assert_eq!(folder.run(&["fit", "data.csv", "--out", "m.safetensors"]).code, Some(0));
    for args in [
        &["methods"][..],
        &["completions", "bash"],
        &["man"],
        &["info", "m.safetensors"],
        &["score", "data.csv", "--quiet"],
        &["score", "data.csv", "--model", "m.safetensors", "--quiet"],
        &["--help"],
        &["score", "--help"],
    ] {
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let output =
            folder.command(args).stdout(Stdio::from(writer)).stderr(Stdio::piped()).output().unwrap();
        let err = String::from_utf8(output.stderr).unwrap();
        assert_eq!((output.status.code(), err.as_str()), (Some(0), ""), "{args:?}");
    }
}
