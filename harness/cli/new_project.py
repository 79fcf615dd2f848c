"""Writes a project to start from: a study, a method, a catalog, and what runs them elsewhere."""

from __future__ import annotations

import importlib.metadata
from pathlib import Path

from harness.cli.new_method import method_text
from harness.errors import HarnessError
from harness.files import write_whole

_STUDY = """\
# Runs in under a minute: harness run first
title: Is my method better than a support vector machine?
datasets: my-wine
methods: [svm, my-method]
labeled: 30
budgets: [3MB, 10MB]
seeds: 3
metrics: [accuracy]
limits: {time: 60s}
"""

_CATALOG = """\
# Data sets of this project, beside those of `harness datasets`. A name that is there too means
# the entry here. Paths are relative to this file.

my-wine:
  task: multiclass
  n: 178
  d: 13
  classes: {class_0: 59, class_1: 71, class_2: 48}
  read: {format: sklearn, loader: wine}
  scaling: standard
  source: scikit-learn; UCI Wine

# A file of one's own: harness add data/my-data.csv writes such an entry.
#
# my-data:
#   task: binary              # or multiclass, regression
#   n: 200                    # rows and features that must come out
#   d: 4
#   classes: {bad: 80, good: 120}
#   positive: good            # the class that AUC is about
#   read: {format: csv, header: true, target: -1}
#   scaling: standard
#   files: [{path: data/my-data.csv}]
#   source: where it is from
"""

_IGNORED = """\
__pycache__/
.harness/
.snakemake/
.venv/
/prepared/
/results/
"""

_WORKFLOW = """\
name: harness
on: [push, pull_request]
permissions:
  contents: read
jobs:
  study:
    runs-on: ubuntu-latest
    timeout-minutes: 30
    env:
      # or the address of a wheel or of a repository, as pip takes it
      HARNESS: memory-budget-harness==@VERSION@
    steps:
      - uses: actions/checkout@v4
      - uses: actions/setup-python@v5
        with:
          python-version: "3.12"
      - run: python -m pip install "$HARNESS"
      - run: harness check plugins/my_method.py
      - run: harness run first
      - uses: actions/upload-artifact@v4
        with:
          name: report
          path: results/first/report.html
"""

_README = """\
# Methods under a memory budget

```console
$ harness check plugins/my_method.py    # what to mend, in a sentence each
$ harness plan first                    # sizes, and what cannot fit
$ harness run first                     # leaves results/first/report.html
```

`plugins/` has the methods, `datasets.yaml` the data, `studies/` what is compared. What is there
comes before what came with the harness. `harness methods` and `harness datasets` list both.
`harness add FILE` adds data of your own.
"""


def write_project(folder: Path) -> list[Path]:
    """Write a project.

    Parameters
    ----------
    folder : Path
        Made if it does not exist.

    Returns
    -------
    list of Path
        The files, none of which was there.

    Raises
    ------
    HarnessError
        If one of them is there already, when nothing is written, or cannot be written.
    """
    version = importlib.metadata.version("memory-budget-harness")
    texts = {
        "studies/first.yaml": _STUDY,
        "plugins/my_method.py": method_text("my-method"),
        "datasets.yaml": _CATALOG,
        ".gitignore": _IGNORED,
        ".github/workflows/harness.yml": _WORKFLOW.replace("@VERSION@", version),
        "README.md": _README,
    }
    # a broken link is in the way as well
    taken = [name for name in texts if (folder / name).exists() or (folder / name).is_symlink()]
    if taken:
        raise HarnessError(
            f"{folder} has {', '.join(taken)} already, which a new project would overwrite: "
            "choose another folder, or move them away"
        )
    for name, text in texts.items():
        write_whole(text, folder / name)
    return [folder / name for name in texts]
