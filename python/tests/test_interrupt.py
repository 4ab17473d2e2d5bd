"""Ctrl-C ends long work at once."""

import signal
import subprocess
import sys

import pytest

SCRIPT = """
import sys, time, warnings
import numpy as np
import lossdepth
warnings.simplefilter("ignore")
rng = np.random.default_rng(0)
X = rng.normal(size=(2_000, 50))
small = {cls}(reg=1e-4).fit(X[:60])
work = {{
    "score": lambda: small.score_samples(rng.normal(size=(1_000_000, 50))),
    "explain": lambda: small.explain(rng.normal(size=(200_000, 50))),
    "fit": lambda: {cls}(reg=1e-5, max_iter=10_000).fit_predict(np.repeat(X, 20, axis=0)),
}}["{work}"]
print("ready", flush=True)
try:
    work()
except KeyboardInterrupt:
    # Nothing is broken: the same object goes on scoring.
    assert small.score_samples(X[:5]).shape == (5,)
    print("interrupted", flush=True)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="signals of another kind")
@pytest.mark.parametrize("cls", ["LogisticDepth", "HingeDepth"])
@pytest.mark.parametrize("work", ["score", "explain", "fit"])
def test_interrupt(cls, work, tmp_path):
    script = SCRIPT.format(cls=f"lossdepth.{cls}", work=work)
    # From elsewhere, so that the installed package is imported.
    command = [sys.executable, "-c", script]
    with subprocess.Popen(command, cwd=tmp_path, stdout=subprocess.PIPE, text=True) as child:
        try:
            assert child.stdout.readline() == "ready\n"
            with pytest.raises(subprocess.TimeoutExpired):
                child.wait(timeout=1.5)  # well under way
            child.send_signal(signal.SIGINT)
            assert child.communicate(timeout=5)[0] == "interrupted\n"
        finally:
            child.kill()
