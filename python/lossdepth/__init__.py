"""Loss depths: how central is a point? As hard as it is to tell it apart from the data.

For a query z and a sample, train the best classifier of a family to separate z from the sample; the
risk that remains is the *depth* of z. Deep means central, shallow means outlying. Every depth comes
with a proven bound on its numerical error and a standard error for the sampling.

>>> import numpy as np
>>> from lossdepth import LogisticDepth
>>> X = np.random.default_rng(0).normal(size=(200, 2))
>>> detector = LogisticDepth(reg=0.01, contamination=0.05).fit(X)
>>> detector.score_samples([[0.0, 0.0], [4.0, 4.0]]).round(2)
array([1.  , 0.02])
>>> detector.predict([[0.0, 0.0], [4.0, 4.0]])
array([ 1, -1])
"""

from lossdepth import plot
from lossdepth._arrow import ArrowScorer
from lossdepth._auto import AutoDepth
from lossdepth._central import CentralRegion, DeepestPoint
from lossdepth._classical import (
    L2Depth,
    MahalanobisDepth,
    PotentialDepth,
    ProjectionDepth,
    SimplicialDepth,
    SpatialDepth,
    ZonoidDepth,
)
from lossdepth._classifier import DDClassifier
from lossdepth._compare import ColumnShift, Comparison, TwoSampleTest, compare
from lossdepth._conformal import Calibration, false_discovery_control
from lossdepth._explanation import Cut, Explanation
from lossdepth._files import load
from lossdepth._fitting import ScaleWarning
from lossdepth._forest import ForestDepth
from lossdepth._function import depth, halfspace
from lossdepth._halfspace import Bagplot, HalfspaceDepth
from lossdepth._kernel import GPDepth, KernelLogisticDepth, SVMDepth
from lossdepth._linear import ExponentialDepth, HingeDepth, LogisticDepth, SquaredHingeDepth
from lossdepth._native import __version__
from lossdepth._network import MLPDepth
from lossdepth._outliers import Outlier, Outliers, outliers
from lossdepth._preset import preset
from lossdepth._report import Report, report
from lossdepth._scores import Scores
from lossdepth._sketch import ReferenceSketch
from lossdepth._wrapper import LossDepth

__all__ = [
    "ArrowScorer",
    "AutoDepth",
    "Bagplot",
    "Calibration",
    "CentralRegion",
    "ColumnShift",
    "Comparison",
    "Cut",
    "DDClassifier",
    "DeepestPoint",
    "Explanation",
    "ExponentialDepth",
    "ForestDepth",
    "GPDepth",
    "HalfspaceDepth",
    "HingeDepth",
    "KernelLogisticDepth",
    "L2Depth",
    "LogisticDepth",
    "LossDepth",
    "MLPDepth",
    "MahalanobisDepth",
    "Outlier",
    "Outliers",
    "PotentialDepth",
    "ProjectionDepth",
    "ReferenceSketch",
    "Report",
    "SVMDepth",
    "ScaleWarning",
    "Scores",
    "SimplicialDepth",
    "SpatialDepth",
    "SquaredHingeDepth",
    "TwoSampleTest",
    "ZonoidDepth",
    "__version__",
    "compare",
    "depth",
    "false_discovery_control",
    "halfspace",
    "load",
    "outliers",
    "plot",
    "preset",
    "report",
]
