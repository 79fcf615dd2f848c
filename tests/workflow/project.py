"""A working directory in which tests write and run studies as a user would."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import forked
import yaml

from harness.project import ROOT
from harness.records.table import read_rows, read_table
from harness.threads import THREAD_VARIABLES

TABLE = ("--until", "table")
"""Options of a run that is asked for its rows: the report takes as long as two jobs. What another
run calibrated and prepared is lent to it, which is as if it had been stopped after that.
"""

PLUGINS = Path(__file__).parent / "plugins"
SNAKEMAKE = [
    *(sys.executable, "-m", "snakemake", "--cores", "2", "--snakefile", str(ROOT / "Snakefile")),
    *("--profile", str(ROOT / "profiles" / "default")),
]
# A user's, where nothing is said of threads.
ENVIRONMENT = {name: value for name, value in os.environ.items() if name not in THREAD_VARIABLES}


class Project:
    """An empty folder, studies in it, and Snakemake run on them."""

    def __init__(self, folder, index_cache):
        self.folder, self._lent = folder, index_cache / "lent"
        (folder / ".harness").symlink_to(index_cache)
        self.log = folder / "snakemake.log"

    def write(self, name="study", **content):
        path = self.folder / f"{name}.yaml"
        path.write_text(yaml.safe_dump(content))
        return path.name

    def start(self, study, *options, group=None):
        """Start a study, within a cgroup if one is given."""
        self._known = {(row["fingerprint"], row["started_at"]) for row in self.journal_rows()}
        command = [*SNAKEMAKE, "--config", f"study={study}", *options]
        if options == TABLE and group is None:
            self._lend(self._lent, self.folder, Path(study).stem)
        if group is not None:
            command = group.around(*command)
        with self.log.open("wb") as log:
            return subprocess.Popen(
                command, cwd=self.folder, stdout=log, stderr=log, env=ENVIRONMENT
            )

    def run(self, study, *options, group=None):
        """Run a study; return the exit status and all that was said."""
        status = self.start(study, *options, group=group).wait(900)
        if status == 0 and options == TABLE and group is None:
            self._lend(self.folder, self._lent, Path(study).stem)
        return status, self.log.read_text()

    @staticmethod
    def _lend(giver, taker, study):
        """Copy prepared data and a calibration, of whichever study, where there are none yet."""
        for folder in giver.glob("prepared/[!.]*-*"):
            if folder.is_dir() and not (taker / "prepared" / folder.name).exists():
                shutil.copytree(folder, taker / "prepared" / folder.name)
        target = taker / "results" / study / "calibration.json"
        calibration = next(giver.glob("results/*/calibration.json"), None)
        if calibration and not target.exists():
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copy(calibration, target)

    def harness(self, *arguments):
        """Run a command of the command line in a fork; return what it prints."""
        asked = forked.command(*arguments, cwd=self.folder, env=ENVIRONMENT)
        asked.check_returncode()
        return asked.stdout

    def ask(self, *arguments, **environment):
        """Run a command of the command line in a new Python; return how it ended."""
        return subprocess.run(
            [sys.executable, "-m", "harness.cli", *arguments],
            cwd=self.folder,
            capture_output=True,
            text=True,
            check=False,
            env=ENVIRONMENT | environment,
        )

    def rows(self, study="study"):
        return read_table(self.folder / "results" / study / "trials.parquet")

    def journal_rows(self):
        paths = (self.folder / "results").glob("*/journal/**/*.jsonl")
        return [row for path in paths for row in read_rows(path)]

    def cells_run(self):
        """Data sets and methods of trials that the last run began."""
        begun = {(row["fingerprint"], row["started_at"]): row for row in self.journal_rows()}
        new = [row for trial, row in begun.items() if trial not in self._known]
        return sorted({f"{row['dataset']}/{row['method']}" for row in new})
