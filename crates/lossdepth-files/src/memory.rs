//! How much memory this process may use.

use std::fs;
use std::path::{Path, PathBuf};

/// Bytes this process may use: the least of the machine's memory, the limits of its control groups (containers, batch
/// systems) and the limit on its address space (`ulimit -v`). None where the system does not say.
pub fn limit() -> Option<u64> {
    let groups = fs::read_to_string("/proc/self/cgroup").unwrap_or_default();
    let limits = [physical(), control_groups(Path::new("/sys/fs/cgroup"), &groups), address_space()];
    limits.into_iter().flatten().min()
}

/// Half of [`limit`]: what a table, or the kernel values of a model, may take by default.
pub fn half() -> Option<f64> {
    limit().map(|bytes| 0.5 * bytes as f64)
}

/// Whether so many bytes can be had at once. They are given back; nothing is written to them.
///
/// An allocation that fails ends the process. Where it can be foreseen, this makes an error of it.
pub fn is_available(bytes: u64) -> bool {
    usize::try_from(bytes).is_ok_and(|bytes| Vec::<u8>::new().try_reserve_exact(bytes).is_ok())
}

fn physical() -> Option<u64> {
    let text = fs::read_to_string("/proc/meminfo").ok()?;
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:"))?;
    let kibibytes: u64 = total.trim().strip_suffix("kB")?.trim().parse().ok()?;
    kibibytes.checked_mul(1024)
}

#[cfg(unix)]
fn address_space() -> Option<u64> {
    rustix::process::getrlimit(rustix::process::Resource::As).current
}

#[cfg(not(unix))]
fn address_space() -> Option<u64> {
    None
}

/// The least limit of the control groups in `/proc/self/cgroup` and of those above them.
///
/// A container often sees its own group as the root of `mount` while the path is the host's: then the folders of the path do
/// not exist, and the root counts.
fn control_groups(mount: &Path, groups: &str) -> Option<u64> {
    let limits = groups.lines().flat_map(|line| {
        let mut parts = line.splitn(3, ':').skip(1);
        let (controllers, path) = (parts.next().unwrap_or_default(), parts.next().unwrap_or_default());
        // Version 2 has one tree, mounted at `unified` where both versions are in use; version 1 has a tree for memory.
        let (roots, file) = match controllers {
            "" => (vec![mount.to_owned(), mount.join("unified")], "memory.max"),
            list if list.split(',').any(|name| name == "memory") => {
                (vec![mount.join("memory")], "memory.limit_in_bytes")
            }
            _ => (Vec::new(), ""),
        };
        let path = path.trim_start_matches('/').to_owned();
        roots.into_iter().filter_map(move |root| least(&root, &path, file))
    });
    limits.min()
}

/// The least number in `file` in the folder `path` of `root` and in the folders above it, down to `root`.
fn least(root: &Path, path: &str, file: &str) -> Option<u64> {
    let inside = Path::new(path).components().all(|part| matches!(part, std::path::Component::Normal(_)));
    let folder: PathBuf = if inside { root.join(path) } else { root.to_owned() };
    let folders = folder.ancestors().take_while(|folder| folder.starts_with(root));
    // `max` is no limit, and no number.
    let limit = |folder: &Path| fs::read_to_string(folder.join(file)).ok()?.trim().parse().ok();
    folders.filter_map(limit).min()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree(files: &[(&str, &str)]) -> tempfile::TempDir {
        let root = tempfile::tempdir().unwrap();
        for (path, text) in files {
            let path = root.path().join(path);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        root
    }

    #[test]
    fn version_2() {
        let root = tree(&[("a/memory.max", "2000\n"), ("a/b/memory.max", "max\n"), ("c/memory.max", "7\n")]);
        assert_eq!(control_groups(root.path(), "0::/a/b\n"), Some(2000));
        assert_eq!(control_groups(root.path(), "0::/a\n"), Some(2000));
        assert_eq!(control_groups(root.path(), "0::/c\n"), Some(7));
        assert_eq!(control_groups(root.path(), "0::/\n"), None);
        let unified = tree(&[("unified/a/memory.max", "55")]);
        assert_eq!(control_groups(unified.path(), "0::/a\n"), Some(55));
    }

    #[test]
    fn version_1() {
        let root = tree(&[
            ("memory/memory.limit_in_bytes", "9223372036854771712\n"),
            ("memory/job/memory.limit_in_bytes", "4096\n"),
            ("cpu/job/memory.limit_in_bytes", "1\n"),
        ]);
        assert_eq!(control_groups(root.path(), "4:cpu:/job\n3:memory:/job/7\n0::/\n"), Some(4096));
        assert_eq!(control_groups(root.path(), "3:hugetlb,memory:/\n"), Some(9_223_372_036_854_771_712));
    }

    #[test] // In a container the host's path does not exist.
    fn a_container_sees_its_own_root() {
        let root = tree(&[("memory.max", "300")]);
        assert_eq!(control_groups(root.path(), "0::/system.slice/docker-1.scope\n"), Some(300));
        assert_eq!(control_groups(root.path(), "0::/../../other\n"), Some(300));
    }

    #[test]
    fn half_of_what_there_is() {
        if let Some(limit) = limit() {
            assert!(limit > 1 << 24, "{limit}");
            assert_eq!(half(), Some(limit as f64 / 2.0));
        }
    }
}
