"""Bytes and seconds that kept predictions cost a study, and how near they are to what was scored.

Of a study that was run here: bytes of a score as they lie on the disk, the share that coding and
writing them has of its trials' CPU seconds, and by how much each metric differs that is computed
from them again.

    python benchmarks/kept_predictions.py results/quickstart

Without a folder a small study is run first.
"""

import argparse
import contextlib
import tempfile
import time
from pathlib import Path

import numpy as np

import harness
from harness.metrics.functions import BUILT_IN
from harness.records.prediction_files import ENDING, FOLDER, PredictionsFile
from harness.records.predictions import pack
from harness.records.table import read_table
from harness.report.predictions import KeptPredictions
from harness.report.rescoring import rescore


def main() -> None:
    """Print what predictions of a study's folder cost, and how near they are."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("results", nargs="?", type=Path, help="folder of a study's results")
    parser.add_argument("--datasets", nargs="+", default=["breast_cancer", "digits"])
    parser.add_argument("--methods", nargs="+", default=["svm", "1nn", "rff-mssksc"])
    parser.add_argument("--seeds", type=int, default=3)
    asked = parser.parse_args()
    if asked.results is not None:
        tell(asked.results.absolute())
        return
    study = {"datasets": asked.datasets, "methods": asked.methods, "seeds": asked.seeds}
    study |= {"labeled": 50, "budgets": "10MB"}
    with tempfile.TemporaryDirectory() as folder, contextlib.chdir(folder):
        tell(harness.run(study, progress=False).folder)


def tell(results: Path) -> None:
    """Print the figures of a study."""
    kept = KeptPredictions(results, [results.parent.parent / "prepared"])
    rows = read_table(results / "trials.parquet").set_index("fingerprint")
    trials, scores, seconds, shares = 0, 0, 0.0, {}
    with (
        tempfile.TemporaryDirectory() as folder,
        PredictionsFile(Path(folder) / "job.scores", ()) as file,
    ):
        for one in kept.read():
            began = time.process_time()
            trial = one.row["fingerprint"]
            file.append(*pack(trial, one.predictions, one.points, split="s", part="test"))
            took = time.process_time() - began
            trials, seconds = trials + 1, seconds + took
            scores += max(values.size for values in one.predictions.values())
            share = took / rows.loc[trial, "cpu_s"]
            shares.setdefault(one.row["method"], []).append(share)
    size = sum(path.stat().st_size for path in (results / FOLDER).rglob(f"*{ENDING}"))
    cpu = rows["cpu_s"].sum()
    print(f"{trials} trials, {scores:,} scores: {size:,} bytes, {size / scores:.2f} a score")
    print(f"{seconds:.2f} of {cpu:.1f} CPU seconds: {seconds / cpu:.2%}")
    print("of a trial of each method (median):")
    for method, own in sorted(shares.items(), key=lambda item: -np.median(item[1])):
        print(f"  {method:24}{np.median(own):8.2%}")

    print("metric                     trials  largest difference")
    for metric in BUILT_IN:
        table = rescore(kept, [metric]).table.set_index("fingerprint")
        gaps = (table[metric.name] - rows[metric.name].astype(float)).abs().dropna()
        if len(gaps):
            print(f"{metric.name:28}{len(gaps):5}  {gaps.max():.1e}")


if __name__ == "__main__":
    main()
