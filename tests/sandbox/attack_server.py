"""A worker under attack: holds labels, has a runner, and runs one trial for each way it is told.

    attack_server.py BACKEND MEANS FOLDER

Ways come as numbers, a line each; answers are JSON, a line each. It is written like
`harness.jobs.block`: the runner is forked before labels are read.
"""

import hashlib
import json
import os
import socket
import sys
from pathlib import Path

import attacks
import numpy as np
import sklearn.datasets
from attack_target import LABELED, Target
from sklearn.base import BaseEstimator
from sklearn.metrics import roc_auc_score

from harness.jobs.trial_process import TrialRunner
from harness.metrics.functions import BUILT_IN, primary_metric
from harness.plugin.method import Method
from harness.project import PACKAGE
from harness.sandbox import Limits, Reach
from harness.trial.assignment import Assignment
from harness.trial.reach import ISOLATION, scratch_folder

N = 300
FOLDER = Path(sys.argv[3])
SECONDS = 2


class Attacker(BaseEstimator):
    """Looks for labels in one way, and predicts noise if it finds none."""

    def __init__(self, way=0):
        self.way = way

    def fit(self, X, y):
        target = Target(
            y,
            FOLDER / "prepared" / "toy" / "X.npy",
            FOLDER / "mirror",
            FOLDER / "results",
            FOLDER / "plugins" / "mine.py",
            int((FOLDER / "plugins" / "port").read_text()),
        )
        self.classes_ = np.array([0, 1])
        found = attacks.WAYS[self.way](target)
        noise = np.random.default_rng(self.way).standard_normal(len(y))
        self.decision_scores_ = noise if found is None else found.astype(float)
        return self

    def decision_function(self, X):
        return np.zeros(len(X))


def digests():
    """Content of everything that trials must leave alone; who owns and dates it does not count."""
    found = {}
    for path in sorted(FOLDER.rglob("*")):
        if path.is_file():
            found[str(path.relative_to(FOLDER))] = hashlib.sha256(path.read_bytes()).hexdigest()
    return found


def prepare():
    rng = np.random.default_rng(7)
    y = rng.integers(0, 2, N)
    X = rng.standard_normal((N, 3)).astype(np.float32)
    for name in ("prepared/toy", "mirror", "results", "plugins"):
        (FOLDER / name).mkdir(parents=True, exist_ok=True)
    np.save(FOLDER / "prepared" / "toy" / "X.npy", X)
    np.save(FOLDER / "prepared" / "toy" / "y.npy", y)
    np.savetxt(FOLDER / "mirror" / "toy.csv", y)
    (FOLDER / "results" / "journal.jsonl").write_text("{}\n")
    (FOLDER / "plugins" / "mine.py").write_text("")


def main():
    os.chdir(FOLDER)
    os.environ[ISOLATION] = sys.argv[2]
    server = socket.create_server(("127.0.0.1", 0))
    prepare()
    (FOLDER / "plugins" / "port").write_text(str(server.getsockname()[1]))
    before = digests()
    answers, sys.stdout = sys.stdout, sys.stderr
    method = Method("attacker", Attacker, size="way", storage=lambda shape, size: 1)
    metric = primary_metric("binary", (), BUILT_IN)
    provided = {"method": method, "params": {}, "metric": metric, "search": None}
    with scratch_folder() as scratch:
        hidden = tuple(FOLDER / name for name in ("prepared", "mirror", "results"))
        hidden += (Path(sklearn.datasets.__file__).parent / "data",)
        code = ["/usr", "/lib", "/lib64", "/bin", "/etc", sys.prefix, sys.base_prefix]
        code = (*map(Path, code), PACKAGE, FOLDER / "plugins")
        shown = (FOLDER / "prepared" / "toy" / "X.npy",)
        runner = TrialRunner(sys.argv[1], Reach(code, hidden, shown, scratch), [provided])
        y = np.load(FOLDER / "prepared" / "toy" / "y.npy")
        print(json.dumps({"isolation": runner.isolation}), file=answers, flush=True)
        for line in sys.stdin:
            way = int(line)
            assignment = Assignment(
                method=method,
                params={},
                size=way,
                task="binary",
                n_classes=2,
                features=shown[0],
                labeled=np.arange(LABELED),
                unlabeled=np.arange(LABELED, N),
                test=np.empty(0, int),
                y_labeled=y[:LABELED],
                transductive=True,
                mapped=None,
                tuning=None,
                metric=metric,
                seed=np.random.SeedSequence(way),
            )
            result = runner.run(assignment, Limits(memory=60_000_000, seconds=SECONDS), False)
            answer = {"runner": runner.alive, "outcome": "crashed", "reason": "lost the runner"}
            if result:
                answer |= {"outcome": result.outcome, "reason": result.reason, "auc": None}
                if result.outcome == "ok":
                    scores = result.arrays["scores"]
                    scores = scores[:, -1] if scores.ndim == 2 else scores
                    answer["auc"] = roc_auc_score(y[LABELED:], scores)
            after = digests()
            answer["altered"] = sorted(k for k in before | after if before.get(k) != after.get(k))
            answer["left"] = sorted(str(p) for p in (scratch / "trial").iterdir())
            if answer["altered"]:
                prepare()
            print(json.dumps(answer), file=answers, flush=True)
            if not runner.alive:
                return
        runner.stop()


main()
