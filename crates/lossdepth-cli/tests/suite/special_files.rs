//! Output to what is no regular file: links are followed, devices and FIFOs written to, and none of them is replaced.
#![cfg(unix)]

use crate::common::Folder;
use std::fs;
use std::os::unix::fs::{FileTypeExt, symlink};
use std::process::Command;

const TABLE: &str = "x,y\n0,0\n1,2\n2,1\n";

#[test]
fn a_dangling_link_is_followed() {
    let folder = Folder::with(TABLE);
    symlink("real.csv", folder.path("link.csv")).unwrap();
    let ran = folder.score("data.csv --out link.csv --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert!(folder.path("link.csv").is_symlink());
    assert_eq!(folder.read("real.csv").lines().count(), 4);
    assert_eq!(folder.list(), ["data.csv", "link.csv", "real.csv"]);
    // Into a folder that is not there.
    symlink("nowhere/real.csv", folder.path("lost.csv")).unwrap();
    let ran = folder.score("data.csv --out lost.csv");
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), "error: lost.csv: cannot write: no such folder\n"));
}

#[cfg(target_os = "linux")]
#[test] // As root this replaced the device by a file.
fn a_device_stays_a_device() {
    let folder = Folder::with(TABLE);
    // Of one's own, which takes a privilege: what went wrong with the machine's would be there to stay.
    let device = folder.path("full");
    let made = Command::new("mknod").arg(&device).args(["c", "1", "7"]).status();
    if !made.is_ok_and(|status| status.success()) || fs::OpenOptions::new().write(true).open(&device).is_err()
    {
        return;
    }
    for (name, args) in
        [("out.csv", "score data.csv --out out.csv"), ("m.safetensors", "fit data.csv --out m.safetensors")]
    {
        symlink("full", folder.path(name)).unwrap();
        let ran = folder.run(&args.split(' ').collect::<Vec<_>>());
        let message = format!("error: {name}: cannot write: no space left on device\n");
        assert_eq!((ran.code, ran.err.as_str()), (Some(2), message.as_str()));
        assert!(fs::metadata(&device).unwrap().file_type().is_char_device());
        assert!(folder.path(name).is_symlink());
    }
    assert_eq!(folder.list(), ["data.csv", "full", "m.safetensors", "out.csv"]);
}

#[test]
fn a_fifo_hands_the_scores_on() {
    let folder = Folder::with(TABLE);
    assert!(Command::new("mkfifo").arg(folder.path("pipe.csv")).status().unwrap().success());
    let path = folder.path("pipe.csv");
    let reader = std::thread::spawn(move || fs::read_to_string(path).unwrap());
    let ran = folder.score("data.csv --out pipe.csv --quiet");
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(reader.join().unwrap(), folder.score("data.csv --quiet").out);
    assert!(fs::metadata(folder.path("pipe.csv")).unwrap().file_type().is_fifo());
    assert_eq!(folder.list(), ["data.csv", "pipe.csv"]);
}

#[test]
fn a_socket_is_refused() {
    let folder = Folder::with(TABLE);
    let _listener = std::os::unix::net::UnixListener::bind(folder.path("socket.csv")).unwrap();
    let ran = folder.score("data.csv --out socket.csv");
    let message =
        "error: socket.csv: cannot write: neither a file nor a device or fifo that can be written to\n";
    assert_eq!((ran.code, ran.err.as_str()), (Some(2), message));
}

#[test] // The runtime opens /dev/null in its place, and writing to that succeeds.
fn closed_standard_output() {
    let folder = Folder::with(TABLE);
    let message = "warning: standard output is closed or /dev/null: the scores are not kept; --out writes them to a file\n";
    // A parent process that drops them opens /dev/null for both (Python's DEVNULL): that cannot be told from a closed one.
    for shell in ["exec \"$0\" \"$@\" >&-", "exec \"$0\" \"$@\" <> /dev/null >&0"] {
        let ran = folder.shell(shell, &["score", "data.csv"]);
        assert_eq!(ran.code, Some(0), "{}", ran.err);
        assert!(ran.err.contains(message), "{}", ran.err);
        let ran = folder.shell(shell, &["score", "data.csv", "--quiet"]);
        assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    }
    // Whoever wants to drop them may, and with a file it does not matter.
    let ran = folder.shell("exec \"$0\" \"$@\" > /dev/null", &["score", "data.csv", "--quiet"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    let ran = folder.shell("exec \"$0\" \"$@\" >&-", &["score", "data.csv", "--quiet", "--out", "s.csv"]);
    assert_eq!((ran.code, ran.err.as_str()), (Some(0), ""));
    assert_eq!(folder.read("s.csv").lines().count(), 4);
}
