import os
from typing import Any, Final, TypeAlias, TypedDict, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

_Floats: TypeAlias = NDArray[np.float64]
_Scores: TypeAlias = tuple[_Floats, _Floats, _Floats, NDArray[np.int64], NDArray[np.uint8]]
_Note: TypeAlias = tuple[int, int, str, str]
_Sparse: TypeAlias = tuple[NDArray[np.int64], NDArray[np.uint32], _Floats, int]
_Group: TypeAlias = tuple[int, str, int, int]

class _Encoding(TypedDict):
    columns: list[dict[str, Any]]
    left_out: list[tuple[str, str]]
    groups: list[_Group]

__all__ = [
    "ALIASES",
    "METHODS",
    "SETTINGS",
    "STOPS",
    "ArrowBatch",
    "Calibration",
    "Model",
    "Prepared",
    "Regions",
    "Sketch",
    "SparseModel",
    "Table",
    "__version__",
    "adjust",
    "compare",
    "half_of_memory",
    "intervals",
    "load",
    "outliers",
    "own_p_values",
    "preset",
    "report",
    "threshold",
    "unpickle",
    "write_file",
]

__version__: Final[str]
STOPS: Final[list[str]]
METHODS: Final[dict[str, dict[str, Any]]]
SETTINGS: Final[dict[str, dict[str, dict[str, Any]]]]
ALIASES: Final[dict[str, str]]

@final
class Model:
    def __new__(
        cls,
        rows: _Floats,
        weights: _Floats | None,
        method: str,
        settings: dict[str, Any],
    ) -> Self: ...
    @staticmethod
    def of_table(
        columns: Table,
        weights: _Floats | None,
        method: str,
        settings: dict[str, Any],
        kinds: dict[str, str],
        missing: str,
        guess: bool,
    ) -> Model: ...
    def encode(
        self, columns: Table, names: list[str], missing: str
    ) -> tuple[_Floats, list[_Note]]: ...
    @property
    def encoding(self) -> _Encoding | None: ...
    def unequal_spreads(self, names: list[str]) -> str | None: ...
    @property
    def unread(self) -> list[_Note]: ...
    @property
    def compared(self) -> list[tuple[str, str]] | None: ...
    def score(self, rows: _Floats, threads: int, *, depths_only: bool = False) -> _Scores: ...
    def percentiles(self, depths: _Floats, threads: int) -> _Floats: ...
    def explain(self, rows: _Floats, threads: int) -> tuple[_Scores, dict[str, Any]]: ...
    def report(
        self,
        columns: Table,
        names: list[str],
        missing: str,
        top: int,
        threads: int | None,
        about: dict[str, Any],
    ) -> tuple[str, int, int]: ...
    def outliers(
        self,
        columns: Table,
        names: list[str],
        missing: str,
        top: int,
        reasons: int,
        threads: int | None,
    ) -> dict[str, Any]: ...
    def to_bytes(
        self, columns: list[str] | None, extras: dict[str, str], memory: float | None
    ) -> bytes: ...
    def reference(self) -> tuple[_Floats, _Floats | None]: ...
    def deepest(self, threads: int) -> tuple[_Floats, float, float, str, int, float]: ...
    def central_region(
        self, share: float, threads: int
    ) -> tuple[float, NDArray[np.int64], float, _Floats]: ...
    @property
    def method(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def width(self) -> int: ...
    @property
    def reference_len(self) -> int: ...
    @property
    def warning(self) -> str | None: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, _memo: Any) -> Model: ...

@final
class SparseModel:
    def __new__(
        cls,
        rows: _Sparse,
        weights: _Floats | None,
        method: str,
        settings: dict[str, Any],
        memory: int | None,
    ) -> Self: ...
    def score(self, rows: _Sparse, threads: int, *, depths_only: bool = False) -> _Scores: ...
    def percentiles(self, depths: _Floats, threads: int) -> _Floats: ...
    def explain(self, rows: _Sparse, most: int, threads: int) -> tuple[_Scores, dict[str, Any]]: ...
    def to_bytes(
        self, columns: list[str] | None, extras: dict[str, str], memory: float | None
    ) -> bytes: ...
    def reference(self) -> tuple[_Sparse, _Floats | None]: ...
    @property
    def method(self) -> str: ...
    @property
    def settings(self) -> dict[str, Any]: ...
    @property
    def width(self) -> int: ...
    @property
    def reference_len(self) -> int: ...
    @property
    def encoding(self) -> None: ...
    @property
    def compared(self) -> None: ...
    def __reduce__(self) -> tuple[Any, tuple[bytes]]: ...
    def __copy__(self) -> SparseModel: ...
    def __deepcopy__(self, _memo: Any) -> SparseModel: ...

@final
class Table:
    def __new__(cls, columns: list[tuple[str, str, NDArray[Any], list[str] | None]]) -> Self: ...
    @staticmethod
    def of_rows(rows: _Floats, names: list[str]) -> Table: ...
    @property
    def names(self) -> list[str]: ...
    def __len__(self) -> int: ...

@final
class Sketch:
    def __new__(
        cls, names: list[str], reference_rows: int, seed: int, notes: dict[str, str]
    ) -> Self: ...
    def add(self, table: Table, weights: _Floats | None) -> Sketch: ...
    def remove(self, table: Table, weights: _Floats | None) -> Sketch: ...
    def merge(self, others: list[Sketch]) -> Sketch: ...
    def table(self) -> tuple[Table, _Floats | None]: ...
    def to_bytes(self) -> bytes: ...
    @staticmethod
    def from_bytes(data: bytes) -> Sketch: ...
    @property
    def names(self) -> list[str]: ...
    @property
    def notes(self) -> dict[str, str]: ...
    @property
    def reference_rows(self) -> int: ...
    @property
    def seed(self) -> int: ...
    @property
    def observations(self) -> int: ...
    @property
    def complete(self) -> bool: ...
    def __len__(self) -> int: ...

@final
class ArrowBatch:
    def __arrow_c_array__(self, requested_schema: Any = None) -> tuple[Any, Any]: ...
    def __arrow_c_schema__(self) -> Any: ...
    def __len__(self) -> int: ...

@final
class Prepared:
    def __new__(cls, data: bytes, memory: float | None, threads: int) -> Self: ...
    def score(
        self,
        batch: Any,
        columns: list[str],
        features: list[str] | None,
        nulls: str,
        conformal: str,
        threads: int,
    ) -> ArrowBatch: ...
    def to_bytes(self) -> bytes: ...
    @property
    def features(self) -> list[str] | None: ...
    @property
    def method(self) -> str: ...
    @property
    def reference_len(self) -> int: ...
    @property
    def bytes(self) -> int: ...

@final
class Calibration:
    def __new__(
        cls,
        model: Model,
        method: str,
        share: float,
        folds: int,
        seed: int,
        threads: int,
    ) -> Self: ...
    def p_values(self, rows: _Floats, threads: int) -> _Floats: ...
    @property
    def size(self) -> float: ...

@final
class Regions:
    def __new__(cls, rows: _Floats, weights: _Floats | None) -> Self: ...
    def contour(self, depth: float) -> _Floats: ...
    def median(self) -> tuple[_Floats, float, _Floats]: ...
    def bagplot(self, factor: float) -> dict[str, Any]: ...

def load(
    data: bytes, memory: float | None
) -> tuple[Model | SparseModel, list[str] | None, dict[str, str]]: ...
def unpickle(data: bytes) -> Model | SparseModel: ...
def intervals(
    depth: _Floats, error: _Floats, stderr: _Floats, level: float
) -> tuple[_Floats, _Floats]: ...
def threshold(depths: _Floats, weights: _Floats | None, contamination: float) -> float: ...
def own_p_values(depths: _Floats, weights: _Floats | None) -> _Floats: ...
def adjust(p: _Floats, method: str) -> _Floats: ...
def preset(name: str, method: str, n: float) -> dict[str, Any]: ...
def write_file(path: str | os.PathLike[str], data: bytes) -> None: ...
def half_of_memory() -> float | None: ...
def compare(
    first: Table,
    second: Table,
    weights: tuple[_Floats | None, _Floats | None],
    tests: list[str],
    method: str,
    settings: dict[str, Any],
    kinds: dict[str, str],
    missing: str,
    permutations: int,
    seed: int,
    max_rows: int,
    threads: int | None,
) -> dict[str, Any]: ...
def outliers(
    columns: Table,
    reference: Table | None,
    weights: _Floats | None,
    method: str,
    settings: dict[str, Any],
    kinds: dict[str, str],
    missing: str,
    top: int,
    reasons: int,
    threads: int | None,
) -> dict[str, Any]: ...
def report(
    columns: Table,
    reference: Table | None,
    weights: _Floats | None,
    method: str,
    settings: dict[str, Any],
    kinds: dict[str, str],
    missing: str,
    top: int,
    threads: int | None,
    about: dict[str, Any],
) -> tuple[str, int, int]: ...
