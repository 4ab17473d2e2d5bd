//! Files that appear under their name when they are complete, or not at all.

use std::fs::{self, File, FileType, OpenOptions};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};
use tempfile::TempPath;

/// Symbolic links that are followed one after the other, as many as Linux follows.
const MAX_LINKS: usize = 40;

/// Bytes of the file's name that the temporary name repeats: names are limited to 255 bytes.
const MAX_PREFIX: usize = 64;

/// The temporary files of this process, for whoever has to remove them when a signal ends it.
static TEMPORARIES: Mutex<Temporaries> = Mutex::new(Temporaries { next: 0, paths: Vec::new() });

struct Temporaries {
    next: u64,
    paths: Vec<(u64, TempPath)>,
}

impl Temporaries {
    fn take(&mut self, id: u64) -> Option<TempPath> {
        let position = self.paths.iter().position(|(known, _)| *known == id)?;
        Some(self.paths.swap_remove(position).1)
    }
}

fn temporaries() -> MutexGuard<'static, Temporaries> {
    TEMPORARIES.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Removes the temporary files of this process and lets no new one be made.
///
/// The lock is kept for good: the process is about to end.
pub(crate) fn remove_all() {
    let mut temporaries = temporaries();
    temporaries.paths.clear();
    std::mem::forget(temporaries);
}

/// A file being written.
///
/// A regular file is written under a random name in the folder where it will be, created by this process alone, and
/// replaces the old one by a rename when it is complete ([`commit`](Self::commit)): readers see the old file or the new
/// one. Without a commit the temporary file is removed. Symbolic links are followed: what a link points to is replaced, or
/// created if it does not exist, and the link remains.
///
/// Character devices and FIFOs are no files that could be replaced: what is written goes straight into them, also if no
/// commit follows. A block device or a socket is refused.
#[derive(Debug)]
pub struct AtomicFile {
    file: File,
    /// Where the file goes and the number of its temporary; none for a device or a FIFO.
    rename: Option<(PathBuf, u64)>,
}

impl AtomicFile {
    /// Makes a new file that will be called `path`. The permissions are those of the old file, if there is one.
    ///
    /// # Errors
    ///
    /// If the folder does not exist or cannot be written to, or if `path` is a folder, a block device or a socket.
    pub fn create(path: &Path) -> io::Result<Self> {
        let path = match fs::metadata(path) {
            Ok(about) if about.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
            Ok(about) if about.is_file() => fs::canonicalize(path)?,
            Ok(about) if is_stream(about.file_type()) => return Self::straight(path),
            Ok(_) => return Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_A_FILE)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => follow(path)?,
            Err(error) => return Err(error),
        };
        let folder = folder(&path);
        let mut builder = tempfile::Builder::new();
        let prefix = prefix(&path);
        builder.prefix(&prefix).suffix(".tmp");
        #[cfg(unix)]
        builder.permissions(std::os::unix::fs::PermissionsExt::from_mode(0o666));
        // The lock is held until whoever handles signals knows of the file.
        let mut temporaries = temporaries();
        let (file, temporary) = builder.tempfile_in(folder).map_err(|e| without_name(&e))?.into_parts();
        if let Ok(old) = fs::metadata(&path) {
            file.set_permissions(old.permissions())?;
        }
        let id = temporaries.next;
        temporaries.next += 1;
        temporaries.paths.push((id, temporary));
        Ok(Self { file, rename: Some((path, id)) })
    }

    /// Opens a device or a FIFO; the latter waits for a reader.
    fn straight(path: &Path) -> io::Result<Self> {
        let file = OpenOptions::new().write(true).open(path)?;
        // Had it been replaced by a file meanwhile, that file would be overwritten in part.
        if is_stream(file.metadata()?.file_type()) {
            Ok(Self { file, rename: None })
        } else {
            Err(io::Error::new(io::ErrorKind::InvalidInput, NOT_A_FILE))
        }
    }

    /// Completes the file: its bytes are on disk before it gets its name.
    ///
    /// # Errors
    ///
    /// If the bytes or the name cannot be written. The old file is unchanged then.
    pub fn commit(mut self) -> io::Result<()> {
        self.file.flush()?;
        let Some((path, id)) = &self.rename else { return Ok(()) };
        self.file.sync_all()?;
        // The lock is held until the file has its name.
        let mut temporaries = temporaries();
        if let Some(temporary) = temporaries.take(*id) {
            temporary.persist(path).map_err(|e| e.error)?;
        }
        drop(temporaries);
        // So that the name survives a crash of the system; not every file system can do that, nor has to.
        #[cfg(unix)]
        let _ = File::open(folder(path)).and_then(|folder| folder.sync_all());
        Ok(())
    }

    /// Writes a whole file.
    ///
    /// # Errors
    ///
    /// Those of [`create`](Self::create) and [`commit`](Self::commit).
    pub fn write(path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = Self::create(path)?;
        file.write_all(bytes)?;
        file.commit()
    }
}

impl Write for AtomicFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.file.write(bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.file.flush()
    }
}

impl Drop for AtomicFile {
    /// Removes the temporary file, this one's and no other's, unless it got its name.
    fn drop(&mut self) {
        if let Some((_, id)) = self.rename {
            temporaries().take(id);
        }
    }
}

const NOT_A_FILE: &str = "neither a file nor a device or FIFO that can be written to";

/// Whether bytes can be written into it one after the other, without a size or a position.
#[cfg(unix)]
fn is_stream(kind: FileType) -> bool {
    use std::os::unix::fs::FileTypeExt;
    kind.is_char_device() || kind.is_fifo()
}

#[cfg(not(unix))]
fn is_stream(_: FileType) -> bool {
    false
}

/// Where a path leads that names nothing yet: the end of a chain of links, or the path itself.
fn follow(path: &Path) -> io::Result<PathBuf> {
    let mut path = path.to_owned();
    for _ in 0..MAX_LINKS {
        match fs::read_link(&path) {
            Ok(target) => path = folder(&path).join(target),
            Err(_) => return Ok(path),
        }
    }
    Err(io::Error::new(io::ErrorKind::InvalidInput, "too many symbolic links"))
}

/// The folder that a file is in.
fn folder(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}

/// How the temporary name starts.
fn prefix(path: &Path) -> String {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let end = (0..=name.len().min(MAX_PREFIX)).rev().find(|&end| name.is_char_boundary(end)).unwrap_or(0);
    format!(".{}.", &name[..end])
}

/// The same error without the name of the temporary file, which nobody asked for.
fn without_name(error: &io::Error) -> io::Error {
    match error.kind() {
        io::ErrorKind::NotFound => io::Error::new(io::ErrorKind::NotFound, "no such folder"),
        kind => kind.into(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use tempfile::TempDir;

    fn names(folder: &TempDir) -> Vec<String> {
        let files = fs::read_dir(folder.path()).unwrap();
        let mut names: Vec<_> = files.map(|f| f.unwrap().file_name().into_string().unwrap()).collect();
        names.sort();
        names
    }

    #[test]
    fn complete_or_not_at_all() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, "old").unwrap();
        let mut file = AtomicFile::create(&path).unwrap();
        file.write_all(b"half").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"old");
        drop(file);
        assert_eq!(names(&folder), ["a.txt"]);
        AtomicFile::write(&path, b"new").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"new");
        assert_eq!(names(&folder), ["a.txt"]);
    }

    #[test] // The temporary name is longer than the name, which may be as long as names can be.
    fn the_longest_name() {
        let folder = tempfile::tempdir().unwrap();
        let name = "é".repeat(127);
        AtomicFile::write(&folder.path().join(&name), b"x").unwrap();
        assert_eq!(names(&folder), [name]);
    }

    #[test]
    fn errors_name_no_temporary() {
        let folder = tempfile::tempdir().unwrap();
        let error = AtomicFile::create(&folder.path().join("no/a")).unwrap_err();
        assert_eq!(error.to_string(), "no such folder");
        let error = AtomicFile::create(folder.path()).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::IsADirectory);
    }

    #[test] // Many writers of one file: each writes its own temporary and removes no other's.
    fn many_writers() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.txt");
        fs::write(&path, vec![0; 100_000]).unwrap();
        std::thread::scope(|scope| {
            for writer in 0..4u8 {
                let path = &path;
                scope.spawn(move || {
                    for _ in 0..25 {
                        AtomicFile::write(path, &vec![writer; 100_000]).unwrap();
                    }
                });
            }
            for _ in 0..200 {
                let found = fs::read(&path).unwrap();
                assert!(found.len() == 100_000 && found.iter().all(|byte| *byte == found[0]));
            }
        });
        assert_eq!(names(&folder), ["a.txt"]);
    }

    #[cfg(unix)]
    mod links {
        use super::*;
        use std::os::unix::fs::{FileTypeExt, symlink};
        use std::process::Command;

        #[test]
        fn a_dangling_link_is_followed() {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("far")).unwrap();
            symlink("far/b.txt", folder.path().join("a.txt")).unwrap();
            symlink("a.txt", folder.path().join("z.txt")).unwrap();
            AtomicFile::write(&folder.path().join("z.txt"), b"x").unwrap();
            assert_eq!(fs::read(folder.path().join("far/b.txt")).unwrap(), b"x");
            assert!(folder.path().join("a.txt").is_symlink() && folder.path().join("z.txt").is_symlink());
            assert_eq!(names(&folder), ["a.txt", "far", "z.txt"]);
        }

        #[test]
        fn links_in_a_circle() {
            let folder = tempfile::tempdir().unwrap();
            symlink("a", folder.path().join("b")).unwrap();
            symlink("b", folder.path().join("a")).unwrap();
            assert!(AtomicFile::create(&folder.path().join("a")).is_err());
            assert_eq!(names(&folder), ["a", "b"]);
        }

        #[cfg(target_os = "linux")]
        #[test]
        fn a_device_stays_a_device() {
            let folder = tempfile::tempdir().unwrap();
            // Of one's own, which takes a privilege: what went wrong with the machine's would be there to stay.
            let device = folder.path().join("full");
            let made = Command::new("mknod").arg(&device).args(["c", "1", "7"]).status();
            if !made.is_ok_and(|status| status.success())
                || OpenOptions::new().write(true).open(&device).is_err()
            {
                return;
            }
            symlink("full", folder.path().join("a.txt")).unwrap();
            let error = AtomicFile::write(&folder.path().join("a.txt"), b"x").unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::StorageFull);
            assert!(fs::metadata(&device).unwrap().file_type().is_char_device());
            assert_eq!(names(&folder), ["a.txt", "full"]);
        }

        #[test]
        fn a_fifo_stays_a_fifo() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("fifo");
            assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
            symlink("fifo", folder.path().join("a.txt")).unwrap();
            let reader = std::thread::spawn({
                let path = path.clone();
                move || fs::read(path).unwrap()
            });
            AtomicFile::write(&folder.path().join("a.txt"), b"bytes").unwrap();
            assert_eq!(reader.join().unwrap(), b"bytes");
            assert!(fs::metadata(&path).unwrap().file_type().is_fifo());
            assert_eq!(names(&folder), ["a.txt", "fifo"]);
        }

        #[test]
        fn a_socket_is_refused() {
            let folder = tempfile::tempdir().unwrap();
            let path = folder.path().join("socket");
            let _listener = std::os::unix::net::UnixListener::bind(&path).unwrap();
            assert_eq!(AtomicFile::create(&path).unwrap_err().to_string(), NOT_A_FILE);
            assert!(fs::metadata(&path).unwrap().file_type().is_socket());
        }
    }
}
