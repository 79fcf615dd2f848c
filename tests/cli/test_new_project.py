"""What `harness init` writes, and what it refuses to overwrite."""

from pathlib import Path

import pytest
import yaml

from harness.cli.new_project import write_project
from harness.errors import HarnessError
from harness.planning.study_plan import plan_study
from harness.planning.workload import load_workload
from harness.plugin.registry import Registry


def test_its_study_is_of_its_own_method_and_data(built_in, tmp_path, monkeypatch):
    built_in("supervised")
    written = write_project(tmp_path)
    assert sorted(written) == sorted(path for path in tmp_path.rglob("*") if path.is_file())
    monkeypatch.chdir(tmp_path)
    workload = load_workload("first")
    assert workload.study.path == Path("studies/first.yaml")
    assert workload.catalog.origins["my-wine"] == "datasets.yaml"
    made = plan_study(workload, cores=2)
    assert made.trials == 12
    assert all(cell.size is not None for cell in made.cells)
    (plugin,) = (p for p in Registry.load().plugins if p.source.origin == "plugins")
    assert [method.name for method in plugin.provided["methods"]] == ["my-method"]


def test_the_data_set_to_fill_in_is_one(tmp_path):
    """What is a comment in the catalog is an entry as soon as it is none."""
    from harness.datasets import load_catalog

    write_project(tmp_path)
    text = (tmp_path / "datasets.yaml").read_text()
    lines = text[text.index("# my-data:") :].splitlines()
    (tmp_path / "filled.yaml").write_text("\n".join(line.removeprefix("# ") for line in lines))
    entry = load_catalog([tmp_path / "filled.yaml"])["my-data"]
    assert (entry.n, entry.d, entry.task) == (200, 4, "binary")
    assert entry.files[0].path == tmp_path / "data" / "my-data.csv"


def test_continuous_integration_checks_the_method_and_runs_the_study(tmp_path):
    write_project(tmp_path)
    workflow = yaml.safe_load((tmp_path / ".github/workflows/harness.yml").read_text())
    commands = [step["run"] for step in workflow["jobs"]["study"]["steps"] if "run" in step]
    assert commands[-2:] == ["harness check plugins/my_method.py", "harness run first"]
    assert (tmp_path / "plugins" / "my_method.py").is_file()
    ignored = (tmp_path / ".gitignore").read_text().split()
    assert {"/results/", "/prepared/", ".harness/", ".snakemake/"} <= set(ignored)


def test_what_is_there_is_kept_and_named(tmp_path):
    (tmp_path / "README.md").write_text("mine")
    (tmp_path / "datasets.yaml").symlink_to("nowhere")
    with pytest.raises(HarnessError, match=r"has datasets\.yaml, README\.md already"):
        write_project(tmp_path)
    assert {path.name for path in tmp_path.iterdir()} == {"README.md", "datasets.yaml"}
    assert (tmp_path / "README.md").read_text() == "mine"


def test_a_file_is_no_folder(tmp_path):
    (tmp_path / "file").write_text("")
    with pytest.raises(HarnessError, match="cannot be written"):
        write_project(tmp_path / "file")
