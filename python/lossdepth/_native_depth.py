"""What the depths of the native library have in common."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from sklearn.utils.validation import check_is_fitted

from lossdepth import _checks, _native
from lossdepth._base import Depth
from lossdepth._central import CentralRegion, DeepestPoint
from lossdepth._progress import threads
from lossdepth._sketch import ReferenceSketch
from lossdepth._sparse import dense_model

if TYPE_CHECKING:
    from collections.abc import Mapping

    from sklearn.utils import Tags
    from typing_extensions import Self


@dataclass(kw_only=True, eq=False, repr=False)
class NativeDepth(Depth):
    """What the depths of the native library have in common: the parameters that all of them take.

    A parameter is stored as given; the native library checks it in `fit`.
    """

    scale: str = "standard"
    support_fraction: float = 0.75
    reference_rows: str | float = "all"
    resamples: int = 0
    tol: float = 1e-6
    preset: str | None = None
    missing: str = "compare"
    kinds: Mapping[Any, str] | None = None
    contamination: float = 0.1
    n_jobs: int | None = None
    verbose: int = 0

    def partial_fit(self, X: Any, y: Any = None, sample_weight: Any = None) -> Self:
        """Add the rows of X to the reference sample.

        What was added before is kept in `sketch_`, a :class:`ReferenceSketch`: exactly up to 20,000
        different rows, beyond as a sample of that size. The order of the rows and how they are
        divided do not matter. For other sizes, merging and removal make a sketch and give it to
        `fit`, which starts again.

        Parameters
        ----------
        X : {array-like, dataframe} of shape (n_samples, n_features)
            More rows; at least two in the first call.
        y : None
            Ignored.
        sample_weight : array-like of shape (n_samples,), float or None, default=None
            Weights of the rows, as in `fit`.

        Returns
        -------
        object
            The estimator itself.

        Examples
        --------
        >>> import numpy as np
        >>> from lossdepth import LogisticDepth
        >>> X = np.random.default_rng(0).normal(size=(500, 2))
        >>> detector = LogisticDepth()
        >>> for part in np.split(X, 5):
        ...     detector = detector.partial_fit(part)
        >>> detector.sketch_
        <ReferenceSketch: all of 500 rows, 2 columns>
        """
        del y
        if self._is_pairwise():
            raise ValueError("a precomputed kernel cannot be fitted in pieces")
        known = vars(self).get("sketch_")
        given, kinds = self._read(X, reset=known is None)
        if not isinstance(given, _native.Table):
            given = _native.Table.of_rows(given, self._names())
        weights = _checks.weights(sample_weight, len(given))
        # A new object, so that one that was handed out does not change.
        sketch = ReferenceSketch() if known is None else ReferenceSketch().merge(known)
        sketch._add(given, kinds, weights)  # noqa: SLF001
        names = self._feature_names()
        self._fit(sketch, None)
        if names is not None:
            self.feature_names_in_ = names
        self.sketch_ = sketch
        return self

    @property
    def columns_(self) -> list[dict[str, Any]]:
        """What is known about the compared columns."""
        return self._encoding()["columns"]

    @property
    def left_out_(self) -> dict[str, str]:
        """The columns that are not compared, each with the reason."""
        return dict(self._encoding()["left_out"])

    @property
    def n_reference_rows_(self) -> int:
        """How many different rows are compared with at most."""
        model = vars(self).get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        return int(model.reference_len)

    def deepest_point(self) -> DeepestPoint:
        """Find a point that is as deep as possible: a multivariate median.

        Returns
        -------
        DeepestPoint
            The point, its depth, and what is known of it. It is proven for the Mahalanobis depth by
            moments, the zonoid depth and the halfspace depth of two columns; otherwise it is the
            result of a local search that starts from the deepest row, the mean and the medians of
            the columns: a heuristic.
        """
        check_is_fitted(self, "model_")
        model = dense_model(self.model_, "deepest points")
        return DeepestPoint(*model.deepest(threads(self.n_jobs)))

    def central_region(self, share: float = 0.5) -> CentralRegion:
        """Find the deepest rows of the training data, and their mean.

        Parameters
        ----------
        share : float, default=0.5
            Their share of the weight, above 0 and at most 1; rows as deep as the last one are
            included.

        Returns
        -------
        CentralRegion
            The least depth, the rows, their share of the weight, and their mean: the depth-trimmed
            mean.
        """
        check_is_fitted(self, "model_")
        model = dense_model(self.model_, "central regions")
        return CentralRegion(*model.central_region(float(share), threads(self.n_jobs)))

    def _encoding(self) -> _native._Encoding:
        model = vars(self).get("model_")
        if model is None:
            raise AttributeError(f"this {type(self).__name__} is not fitted yet")
        if model.encoding is not None:
            found: _native._Encoding = model.encoding
            return found
        names = self._shown_names()
        columns = [{"name": name, "kind": "number", "gaps": 0.0, "levels": []} for name in names]
        return {"columns": columns, "left_out": [], "groups": []}

    def __sklearn_tags__(self) -> Tags:
        """Say that gaps and categories are welcome."""
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self.missing in ("compare", "median")
        tags.input_tags.categorical = not self._truth_is_number
        tags.input_tags.sparse = self._takes_sparse
        return tags
