"""Files of the file systems that Spark knows."""

from __future__ import annotations

from typing import Any

MODEL_FILE = "model.safetensors"
# How many bytes go to the Java side at a time.
_PART = 1 << 20


def is_connect(session: Any) -> bool:
    """Tell whether a session is one of Spark Connect."""
    return "connect" in type(session).__module__.split(".")


def write_file(session: Any, path: str, data: bytes) -> None:
    """Write a file, complete or not at all, where the file system can rename."""
    hadoop = session._jvm.org.apache.hadoop.fs  # noqa: SLF001
    target, part = hadoop.Path(path), hadoop.Path(f"{path}.part")
    system = target.getFileSystem(session._jsc.hadoopConfiguration())  # noqa: SLF001
    if system.exists(target):
        raise FileExistsError(f"{path} is there already; `write().overwrite()` replaces it")
    stream = system.create(part, True)  # noqa: FBT003
    try:
        for start in range(0, len(data), _PART):
            stream.write(bytearray(data[start : start + _PART]))
    finally:
        stream.close()
    if not system.rename(part, target):
        system.delete(part, False)  # noqa: FBT003
        raise OSError(f"{path} cannot be written")


def read_file(session: Any, path: str) -> bytes:
    """Read a file."""
    rows = session.read.format("binaryFile").load(path).select("content").collect()
    return bytes(rows[0][0])
