from typing import Any, Final, TypeAlias, final

import numpy as np
from numpy.typing import NDArray
from typing_extensions import Self

_Floats: TypeAlias = NDArray[np.float64]
_Scores: TypeAlias = tuple[_Floats, _Floats, _Floats, NDArray[np.int64], NDArray[np.uint8]]

__all__ = ["METHODS", "STOPS", "Model", "__version__", "intervals"]

__version__: Final[str]
STOPS: Final[list[str]]
METHODS: Final[dict[str, dict[str, Any]]]

@final
class Model:
    def __new__(
        cls,
        rows: _Floats,
        weights: _Floats | None,
        method: str,
        settings: dict[str, Any],
    ) -> Self: ...
    def score(self, rows: _Floats, threads: int) -> _Scores: ...
    def explain(self, rows: _Floats, threads: int) -> tuple[_Scores, dict[str, Any]]: ...
    @property
    def width(self) -> int: ...
    @property
    def reference_len(self) -> int: ...
    @property
    def warning(self) -> str | None: ...
    def __reduce__(self) -> tuple[type[Model], tuple[Any, ...]]: ...
    def __copy__(self) -> Model: ...
    def __deepcopy__(self, _memo: Any) -> Model: ...

def intervals(
    depth: _Floats, error: _Floats, stderr: _Floats, level: float
) -> tuple[_Floats, _Floats]: ...
