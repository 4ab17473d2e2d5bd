"""Pictures. They need matplotlib, which is imported when the first one is drawn.

Every function takes the axes to draw on, makes new ones if there are none, and returns them; the
figure is ``ax.figure``. Results draw themselves: :meth:`Scores.plot`, :meth:`Explanation.plot` and
:meth:`Bagplot.plot` are here under their own names.
"""

from lossdepth.plot._map import depth_map
from lossdepth.plot._results import bagplot, contributions, influence, scores
from lossdepth.plot._samples import dd_plot, distribution

__all__ = [
    "bagplot",
    "contributions",
    "dd_plot",
    "depth_map",
    "distribution",
    "influence",
    "scores",
]
