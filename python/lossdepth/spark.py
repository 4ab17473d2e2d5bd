"""Depths in Spark: the same as :mod:`lossdepth.engines.spark`."""

from lossdepth.engines.spark import DepthDetector, DepthDetectorModel

__all__ = ["DepthDetector", "DepthDetectorModel"]
