"""What the manual tells a reader to type does what the manual says.

The blocks of a page run in order, as one script in an empty folder: its YAML files are written,
its commands typed. Studies have fewer seeds here. Commands that cannot run in a test are listed,
each with what tries it instead, so that a new one is either run or named.
"""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
PAGES = sorted(
    path
    for path in [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *(ROOT / "docs").rglob("*.md")]
    if "```console" in path.read_text()
)
PROJECT = "# studies/, plugins/, datasets.yaml and a CI file to start from"
MODEL = "# that row's model, which predicts rows of the source"
DEVICES = "# the same for devices without Python"
INSTEAD = {
    "harness run try": (
        "sed -i 's/^labeled.*/labeled: 100/; s/trials: 10/trials: 2/; s/^seeds.*/seeds: 1/; "
        "s/^methods.*/methods: [random-forest, svm]/' studies/try.yaml && harness run try"
    ),
    "harness reproduce digits 12": "harness reproduce digits 4",
    "harness fit device 20 -o model.joblib": "harness fit device 4 -o model.joblib",
    f"harness fit first 17 -o model.joblib       {MODEL}": "harness fit first 7 -o model.joblib",
    f"harness fit first 17 -o model.onnx         {DEVICES}": "harness fit first 7 -o model.onnx",
    "python3 -m venv .venv && .venv/bin/pip install -q -e . && .venv/bin/snakemake --cores 2": (
        "harness run quickstart --cores 2"
    ),
    f"harness init my && cd my          {PROJECT}": (
        "harness init my && cp sensors.csv my && cd my"
    ),
    "snakemake --cores 8 --config study=studies/first.yaml     # the same without": (
        f"snakemake --snakefile {ROOT}/Snakefile --cores 2 --config study=studies/first.yaml"
    ),
}
ELSEWHERE = {
    "python3 -m venv .venv && .venv/bin/pip install": ".ci/run",
    ". .venv/bin/activate": ".ci/run",
    "git clone": "whoever runs .ci/run",
    ".venv/bin/pytest": "these tests",
    "HARNESS_FUZZ_INPUTS": "tests/fuzz",
    "pip install .": "tests/test_wheel.py",
    "pip install -q -e '.[site]'": ".ci/run, as a part of [test]",
    "mkdir empty && cd empty": "tests/test_wheel.py",
    "harness run quickstart            #": "tests/test_wheel.py",
    "pip install 'memory-budget-harness[boosting]'": ".ci/run, as a part of [test]",
    "pip install 'memory-budget-harness[onnx]'": ".ci/run, as a part of [test]",
    "pip install 'memory-budget-harness[slurm]'": "whoever has a cluster",
    "harness run first --profile slurm": "tests/workflow/test_slurm_runs.py",
    "harness run studies/first.yaml --profile slurm": "tests/workflow/test_slurm_runs.py",
    "pip install 'memory-budget-harness[s3]'": "whoever has several machines",
    "export SNAKEMAKE_STORAGE_S3": "tests/workflow/test_without_shared_files.py",
    "harness run first --profile s3": "tests/workflow/test_without_shared_files.py",
    "snakemake --workflow-profile": "tests/workflow/test_without_shared_files.py",
    "rsync -a other": "whoever has two sites",
    "harness run first                  ": "tests/jobs/test_merge.py",
    "harness efficiency quickstart": "tests/cli/test_efficiency.py",
    "pip wheel --no-deps -w dist . && docker build": "whoever has Docker",
    "apptainer build": "whoever has Apptainer",
    "snakemake --snakefile $WORKFLOW/Snakefile --profile": "tests/workflow/test_slurm_runs.py",
    "snakemake --cores 2 --config study=studies/": "whoever has the hours that the page says",
    "harness site -o site": "tests/site/test_site.py",
    "harness site -o site --report published/quickstart": "tests/site/test_gallery.py",
    "python benchmarks/advice.py": "tests/test_benchmarks.py",
    "python benchmarks/faults.py": "tests/test_benchmarks.py",
    "python benchmarks/item_types.py": "tests/test_benchmarks.py",
    "python benchmarks/kernel_solvers.py": "tests/test_benchmarks.py",
    "python benchmarks/mutation.py": "tests/test_benchmarks.py",
    "harness compare storage-fit-table3": "tests/report/test_comparison.py",
    "harness fit try ROW": "nobody: ROW is the reader's",
    "pip install ./nearest-mean": "tests/test_wheel.py",
    "harness methods nearest-mean": "tests/test_wheel.py",
    "harness merge results/first": "tests/jobs/test_merge.py",
    "harness diff results": "tests/report/test_moved.py",
    "harness rescore first": "tests/workflow/test_predictions.py",
    "harness publish": "tests/workflow/test_publish.py",
    "harness verify published/": "tests/workflow/test_publish.py",
    "harness merge published/": "tests/workflow/test_publish.py",
    "harness diff published/": "tests/workflow/test_publish.py",
    "python3 -m venv there": "whoever has the packages of environment.txt",
    "harness judge docs/results": "tests/report/test_kept.py",
    "harness compare NAME": "tests/report/test_kept_rows.py",
    "mkdir -p docs/results/NAME": "nobody: NAME is the reader's",
    "cp results/NAME": "nobody: NAME is the reader's",
    "snakemake --cores 2 --config study=studies/NAME": "nobody: NAME is the reader's",
}
QUICKSTART = """\
datasets: [breast_cancer]
methods: [prior, svm, nysck]
labeled: 50
budgets: [3MB]
seeds: 2
"""
METHOD = """\
from harness import Method, hookimpl
from sklearn.semi_supervised import LabelSpreading


@hookimpl
def harness_methods():
    yield Method("rbf-label-spreading", LabelSpreading, tasks={"binary", "multiclass"})
"""
SENSORS = "site,temperature,vibration,state\n" + "".join(
    f"{site},{20 + i % 7},{(i * 37) % 11 / 10},{('broken', 'ok')[i % 2]}\n"
    for i, site in enumerate(["north", "south", "south"] * 100)
)
FILES = {
    "sensors.csv": SENSORS,
    "studies/quickstart.yaml": QUICKSTART,
    "studies/first.yaml": QUICKSTART.replace("seeds: 2", "seeds: 6"),
    "plugins/spreading.py": METHOD,
}
# What a page takes for granted.
NEW_ROWS = """\
import pandas, sklearn.datasets
rows = pandas.DataFrame(sklearn.datasets.load_breast_cancer().data[:3])
rows.to_csv("new.csv", index=False)
"""
BEFORE = {"docs/models.md": f"harness run first --cores 2\npython -c '{NEW_ROWS}'"}
COMMAND = re.compile(r"(?m)^\$ (.*)$((?<=<<'END')\n(?s:.*?)\nEND$)?")
"""What is typed, with the lines of a file that follow."""
FEWER = {
    r"(?m)^seeds: \d+": "seeds: 1",
    r"trials: \d+": "trials: 2",
    r"labeled: \[50, 200\]": "labeled: 50",
    r"budgets: \[5MB, 20MB, none\]": "budgets: [5MB, 20MB]",
}


def script(page):
    """Return the blocks of a page as a script, and the commands that are left to others."""
    before = BEFORE.get(str(page.relative_to(ROOT)))
    lines, left = [before] if before else [], []
    for kind, block in re.findall(r"```(console|yaml|toml)\n(.*?)```", page.read_text(), re.S):
        if kind != "console":
            named = re.match(r"# ([\w/-]+\.(?:yaml|toml))\n", block)
            if named:
                for pattern, fewer in FEWER.items():
                    block = re.sub(pattern, fewer, block)
                folder = Path(named[1]).parent
                lines += [f"mkdir -p {folder}; cat > {named[1]} <<'END'", block + "END"]
            continue
        for command, body in COMMAND.findall(block):
            if command in INSTEAD:
                lines.append(INSTEAD[command])
            elif any(command.startswith(start) for start in ELSEWHERE):
                left.append(command)
            else:
                lines.append(command + body)
    return "\n".join(lines), left


@pytest.mark.slow
@pytest.mark.parametrize("page", PAGES, ids=lambda page: str(page.relative_to(ROOT)))
def test_commands_of_the_manual_run(page, tmp_path):
    text, _ = script(page)
    if not text:
        pytest.skip("all its commands are tried elsewhere: ELSEWHERE says where")
    for name, content in FILES.items():
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).write_text(content)
    binaries = Path(sys.executable).parent
    environment = {**os.environ, "PATH": f"{binaries}:{os.environ['PATH']}"}
    ran = subprocess.run(
        ["bash", "-exc", text],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=540,
    )
    assert ran.returncode == 0, ran.stdout[-3000:] + ran.stderr[-3000:]
    assert "Traceback" not in ran.stderr


def test_no_command_is_listed_that_no_page_has():
    commands = [c for page in PAGES for c in re.findall(r"(?m)^\$ (.*)$", page.read_text())]
    for start in [*ELSEWHERE, *INSTEAD]:
        assert any(command.startswith(start) for command in commands), start
