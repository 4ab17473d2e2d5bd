"""Depths in Spark: an Estimator that takes a data frame for its reference, a Model that scores.

Works with classic sessions and through Spark Connect; writing the folder of a model needs a
classic one.
"""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

from lossdepth._arrow import COLUMNS, NULLS, ArrowScorer
from lossdepth._function import METHODS
from lossdepth._sketch import CAPACITY, ReferenceSketch
from lossdepth.engines._extra import engine, missing
from lossdepth.engines._spark_files import MODEL_FILE, is_connect, read_file, write_file

if TYPE_CHECKING:
    import os
    from collections.abc import Iterator, Sequence

try:
    import pyarrow as pa
    from pyspark.ml.base import Estimator, Model
    from pyspark.ml.param import Param, Params, TypeConverters
    from pyspark.ml.util import (
        DefaultParamsReadable,
        DefaultParamsReader,
        DefaultParamsWritable,
        DefaultParamsWriter,
        MLReadable,
        MLReader,
        MLWritable,
        MLWriter,
    )
    from pyspark.sql.types import DoubleType, StructField, StructType
except ImportError as error:
    raise missing(error, "spark") from error

# How many tasks merge the sketches of all partitions, before the driver merges theirs.
_MERGED = 8


def _strings(value: Any) -> list[str]:
    found: list[str] = TypeConverters.toListString(value)
    return found


class _Scoring(Params):
    """The parameters of estimator and model."""

    inputCols = Param(
        Params._dummy(),  # noqa: SLF001
        "inputCols",
        "the columns to compare; by default all when fitting, those of the model when scoring",
        _strings,
    )
    columns = Param(
        Params._dummy(),  # noqa: SLF001
        "columns",
        f"what to compute: {', '.join(COLUMNS)}",
        _strings,
    )
    prefix = Param(
        Params._dummy(),  # noqa: SLF001
        "prefix",
        "what the names of the new columns begin with",
        TypeConverters.toString,
    )
    nulls = Param(
        Params._dummy(),  # noqa: SLF001
        "nulls",
        f"what to do with rows that lack a value: {', '.join(NULLS)}",
        TypeConverters.toString,
    )

    def _defaults(self) -> None:
        self._setDefault(columns=["depth", "error"], prefix="", nulls="error")

    def _given(self, values: dict[str, Any]) -> Any:
        return self._set(**{name: value for name, value in values.items() if value is not None})


class DepthDetector(
    Estimator,
    _Scoring,
    DefaultParamsReadable,
    DefaultParamsWritable,
):
    """Take a data frame for the reference, and score others against it.

    Every task makes a :class:`lossdepth.ReferenceSketch` of its partition and only sketches travel:
    all rows up to `referenceRows` different ones, beyond that a random sample of them, the same
    however the rows are partitioned and ordered. Where rows are left out, a warning says how many.

    Parameters
    ----------
    method : str, default="auto"
        The method, as on the command line.
    settings : dict or None, default=None
        Parameters of the estimator of that method, such as ``{"reg": 0.1, "scale": "robust"}``.
    inputCols : list of str or None, default=None
        The columns to compare; by default all.
    columns : list of str, default=["depth", "error"]
        What `transform` adds, see :class:`lossdepth.ArrowScorer`.
    prefix : str, default=""
        What the names of the new columns begin with.
    nulls : {"error", "null", "compare"}, default="error"
        What `transform` does with rows that lack a value.
    referenceRows : int, default=20000
        How many different rows the reference has at most.
    seed : int, default=0
        Another seed is another sample.

    Examples
    --------
    Fit and score::

        from lossdepth.spark import DepthDetector

        model = DepthDetector(inputCols=["a", "b"]).fit(reference)
        model.transform(orders).orderBy("depth").show(10)
    """

    method = Param(
        Params._dummy(),  # noqa: SLF001
        "method",
        "the method, as on the command line",
        TypeConverters.toString,
    )
    settings = Param(
        Params._dummy(),  # noqa: SLF001
        "settings",
        "parameters of the estimator of the method",
        TypeConverters.identity,
    )
    referenceRows = Param(
        Params._dummy(),  # noqa: SLF001
        "referenceRows",
        "how many different rows the reference has at most",
        TypeConverters.toInt,
    )
    seed = Param(
        Params._dummy(),  # noqa: SLF001
        "seed",
        "another seed is another sample of the reference",
        TypeConverters.toInt,
    )

    def __init__(
        self,
        *,
        method: str | None = None,
        settings: dict[str, Any] | None = None,
        inputCols: Sequence[str] | None = None,
        columns: Sequence[str] | None = None,
        prefix: str | None = None,
        nulls: str | None = None,
        referenceRows: int | None = None,
        seed: int | None = None,
    ) -> None:
        super().__init__()
        self._defaults()
        self._setDefault(method="auto", settings={}, referenceRows=CAPACITY, seed=0)
        self._given(
            {
                "method": method,
                "settings": settings,
                "inputCols": inputCols,
                "columns": columns,
                "prefix": prefix,
                "nulls": nulls,
                "referenceRows": referenceRows,
                "seed": seed,
            }
        )

    def _fit(self, dataset: Any) -> DepthDetectorModel:
        functions = engine("pyspark.sql.functions", "spark")
        get = self.getOrDefault
        method = get(self.method)
        if method not in METHODS:
            raise ValueError(f"`method` must be one of {', '.join(METHODS)}, got {method!r}")
        names = get(self.inputCols) if self.isSet(self.inputCols) else list(dataset.columns)
        missing = [name for name in names if name not in dataset.columns]
        if missing:
            raise ValueError(
                f"DepthDetector: columns {missing} are missing; the data frame has "
                f"{dataset.columns}"
            )
        rows = dataset.select([functions.col(f"`{name}`") for name in names])
        sketch = _sketched(rows, get(self.referenceRows), get(self.seed))
        if not sketch.complete:
            warnings.warn(
                f"DepthDetector: compared with {len(sketch):,} of {sketch.n_rows:,} rows, a random "
                "sample; `referenceRows` says how many, and the column `stderr` what that means "
                "for a depth",
                UserWarning,
                stacklevel=2,
            )
        detector = METHODS[method](**get(self.settings)).fit(sketch)
        model = DepthDetectorModel(detector._to_bytes())  # noqa: SLF001
        made: DepthDetectorModel = self._copyValues(model)
        return made


class DepthDetectorModel(Model, _Scoring, MLReadable, MLWritable):
    """A model that adds scores to data frames.

    The model travels to the executors with the job, and each Python worker prepares it once.
    `write` saves the parameters and the model file, ``model.safetensors``, into a folder of any
    file system that Spark knows.

    Parameters
    ----------
    model : path-like, bytes, fitted depth or None, default=None
        The model.
    name : str or None, default=None
        What messages call it.
    """

    def __init__(self, model: Any = None, name: str | None = None) -> None:
        super().__init__()
        self._defaults()
        self._model = model
        self._name = name or (None if isinstance(model, bytes) else model)

    @classmethod
    def fromFile(cls, path: str | os.PathLike[str], **params: Any) -> DepthDetectorModel:
        """Take a model file of this machine, as ``lossdepth fit`` or `save` wrote it.

        Parameters
        ----------
        path : str or path-like
            The file.
        **params
            `inputCols`, `columns`, `prefix`, `nulls`.

        Returns
        -------
        DepthDetectorModel
            The model.
        """
        made = cls(path)
        made._given(params)
        return made

    def scorer(self) -> ArrowScorer:
        """Return what scores the batches; see there for `send` and `threads`.

        Returns
        -------
        ArrowScorer
            The scorer.
        """
        if self._model is None:
            raise ValueError("DepthDetectorModel: there is no model yet; fit one, or read it")
        get = self.getOrDefault
        made = ArrowScorer(self._model, get(self.columns), nulls=get(self.nulls))
        # What was compared is known by name, unless the model file has no names.
        if made.features is None and self.isSet(self.inputCols):
            features = get(self.inputCols)
            made = ArrowScorer(
                self._model, get(self.columns), nulls=get(self.nulls), features=features
            )
        if self._name is not None:
            made.name = str(self._name)
        return made

    def saveModel(self, path: str | os.PathLike[str]) -> None:
        """Write the model file alone, to this machine.

        Parameters
        ----------
        path : str or path-like
            The file.
        """
        from lossdepth import _native  # noqa: PLC0415

        _native.write_file(path, self.scorer()._prepared.to_bytes())  # noqa: SLF001

    def _transform(self, dataset: Any) -> Any:
        scorer, prefix = self.scorer(), self.getOrDefault(self.prefix)
        scorer.check_new(dataset.columns, prefix)
        missing = [name for name in scorer.features or [] if name not in dataset.columns]
        if missing:
            raise ValueError(
                f"{scorer.name}: columns {missing} are missing; the data frame has "
                f"{dataset.columns}"
            )
        schema = dataset.schema
        for name in scorer.columns:
            # `add` changes a schema: this one is a copy of the data frame's.
            schema = StructType([*schema.fields, StructField(prefix + name, DoubleType())])

        def score(batches: Iterator[Any]) -> Iterator[Any]:
            for batch in batches:
                yield scorer.append(batch, prefix)

        return dataset.mapInArrow(score, schema)

    def write(self) -> Any:
        """Return a writer of parameters and model file.

        Returns
        -------
        pyspark.ml.util.MLWriter
            The writer.
        """
        return _Writer(self)

    @classmethod
    def read(cls) -> Any:
        """Return a reader of what `write` wrote.

        Returns
        -------
        pyspark.ml.util.MLReader
            The reader.
        """
        return _Reader()


class _Writer(MLWriter):
    def __init__(self, instance: DepthDetectorModel) -> None:
        super().__init__()
        self.instance = instance

    def save(self, path: str) -> None:
        if is_connect(self.sparkSession):
            raise RuntimeError(
                f"{path}: a folder cannot be written through Spark Connect: `saveModel` writes the "
                "model file to this machine, and `DepthDetectorModel.fromFile` reads it"
            )
        super().save(path)

    def saveImpl(self, path: str) -> None:
        data = self.instance.scorer()._prepared.to_bytes()  # noqa: SLF001
        # The model first: a folder without metadata is no model, so nothing half-written is read.
        write_file(self.sparkSession, f"{path}/{MODEL_FILE}", data)
        # The context: pyspark 3.5 takes no session here.
        DefaultParamsWriter.saveMetadata(self.instance, path, self.sc)


class _Reader(MLReader):
    def load(self, path: str) -> DepthDetectorModel:
        # There is no context through Spark Connect, and pyspark 3.5 takes no session here.
        spark = self.sparkSession if is_connect(self.sparkSession) else self.sc
        metadata = DefaultParamsReader.loadMetadata(path, spark)
        file = f"{path}/{MODEL_FILE}"
        model = DepthDetectorModel(read_file(self.sparkSession, file), file)
        model._resetUid(metadata["uid"])  # noqa: SLF001
        DefaultParamsReader.getAndSetParams(model, metadata)
        # A damaged file is found now, not in the executors.
        model.scorer()
        return model


def _sketched(rows: Any, most: int, seed: int) -> ReferenceSketch:
    """Make a sketch of a data frame: one for each partition, merged in executors and then here."""

    def sketch(batches: Iterator[Any]) -> Iterator[Any]:
        made = ReferenceSketch(reference_rows=most, random_state=seed)
        for batch in batches:
            if batch.num_rows:
                made.add(pa.Table.from_batches([batch]))
        yield from _packed(made)

    def merge(batches: Iterator[Any]) -> Iterator[Any]:
        made = ReferenceSketch(reference_rows=most, random_state=seed)
        for batch in batches:
            for data in batch["sketch"].to_pylist():
                made.merge(ReferenceSketch.from_bytes(data))
        yield from _packed(made)

    # The number of partitions is not known through Spark Connect; one more merge costs little.
    parts = (
        rows.mapInArrow(sketch, "sketch binary")
        .repartition(_MERGED)
        .mapInArrow(merge, "sketch binary")
    )
    found = ReferenceSketch(reference_rows=most, random_state=seed)
    for row in parts.collect():
        found.merge(ReferenceSketch.from_bytes(bytes(row[0])))
    if not found.n_rows:
        raise ValueError("DepthDetector: the data frame has no rows")
    return found


def _packed(made: ReferenceSketch) -> Iterator[Any]:
    """Return a sketch as a record batch, unless it is empty."""
    if made.n_rows:
        yield pa.record_batch({"sketch": pa.array([made.to_bytes()], pa.binary())})
