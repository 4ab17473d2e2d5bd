//! Standard output that leads nowhere.

/// Whether standard output was closed when the program started.
///
/// Rust's runtime puts `/dev/null`, open for reading and writing, in place of a closed standard output, so that writing
/// succeeds and everything is lost. A shell's `> /dev/null` is open for writing only and is not mistaken for that; a parent
/// process that passes on `/dev/null` open for both cannot be told apart.
#[cfg(unix)]
pub fn is_stdout_discarded() -> bool {
    use rustix::fs::{FileType, OFlags, fcntl_getfl, fstat, stat};
    let stdout = std::io::stdout();
    let (Ok(flags), Ok(ours), Ok(null)) = (fcntl_getfl(&stdout), fstat(&stdout), stat("/dev/null")) else {
        return false;
    };
    flags.contains(OFlags::RDWR)
        && FileType::from_raw_mode(ours.st_mode) == FileType::CharacterDevice
        && ours.st_rdev == null.st_rdev
}

/// Whether standard output was closed when the program started: writing to it then is an error anyway.
#[cfg(not(unix))]
pub fn is_stdout_discarded() -> bool {
    false
}
