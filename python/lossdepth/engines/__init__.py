"""Engines: scores inside Spark, Ray Data, Dask, Polars and DuckDB.

Each module is a thin layer over :class:`lossdepth.ArrowScorer`, and imports its engine when it is
used: :mod:`lossdepth.engines.spark`, :mod:`~lossdepth.engines.ray`, :mod:`~lossdepth.engines.dask`,
:mod:`~lossdepth.engines.polars`, :mod:`~lossdepth.engines.duckdb`.
"""
