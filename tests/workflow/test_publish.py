"""A study of one's own data and plugin, published, checked elsewhere, altered and merged."""

import hashlib
import json
import shutil
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from harness.errors import HarnessError
from harness.jobs.merge import merge
from harness.planning.workload import load_workload
from harness.publishing.folder import Wishes, publish
from harness.records.table import read_table

pytestmark = pytest.mark.slow

PLUGIN = """\
from sklearn.linear_model import LogisticRegression

from harness import Method, hookimpl

PENALTY = 1.0


class Own(LogisticRegression):
    def fit(self, X, y):
        return super().fit(X[y >= 0], y[y >= 0])


@hookimpl
def harness_methods():
    yield Method(
        "own", Own, params={"C": PENALTY}, storage=lambda shape: 10**6 + 20 * shape.n_features,
        tasks={"binary"}, reference="Me: My method. Journal, 2026",
    )
"""


@pytest.fixture(scope="module")
def published(tmp_path_factory, index_cache):
    """A folder in which a study was run and published, and what was said."""
    from project import Project

    folder = tmp_path_factory.mktemp("site")
    project = Project(folder, index_cache)
    rng = np.random.default_rng(0)
    X = rng.normal(size=(120, 3))
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(y=(X[:, 0] > 0).astype(int))
    (folder / "private").mkdir()
    table.to_csv(folder / "private" / "mine.csv", index=False)
    (folder / "my-plugins").mkdir()
    (folder / "my-plugins" / "own.py").write_text(PLUGIN)
    entry = "{task: binary, positive: 1, read: {format: csv, header: true, target: y}, "
    (folder / "mine.yaml").write_text(f"mine: {entry}files: [{{path: private/mine.csv}}]}}\n")
    study = project.write(
        title="Own",
        datasets=["mine", "iris"],
        methods=["prior", "own"],
        labeled=30,
        budgets=["3MB"],
        seeds=2,
        plugins=["my-plugins"],
        catalogs=["mine.yaml"],
    )
    status, said = project.run(study)
    assert status == 0, said
    asked = project.ask("publish", study, "--predictions")
    assert asked.returncode == 0, asked.stderr
    return project, folder / "published" / "study", asked.stdout


@pytest.fixture
def copy(published, tmp_path):
    """The published folder as somebody else has it, who has the data in a mirror."""
    project, made, _ = published
    shutil.copytree(made, tmp_path / "copy")
    mirror = tmp_path / "mirror" / "mine"
    mirror.mkdir(parents=True)
    shutil.copyfile(project.folder / "private" / "mine.csv", mirror / "mine.csv")
    return tmp_path / "copy"


@pytest.fixture
def verify(published, copy):
    project = published[0]
    there = type(project)(copy.parent, project.folder / ".harness")
    mirror = str(copy.parent / "mirror")
    return lambda *options: there.ask("verify", "copy", *options, HARNESS_MIRROR=mirror)


def test_what_is_published_and_what_is_not(published):
    project, made, said = published
    assert "data files are left out" in said
    files = {path.relative_to(made).as_posix() for path in made.rglob("*") if path.is_file()}
    assert {
        *("trials.parquet", "study.yaml", "datasets.yaml", "provenance.json", "report.html"),
        *("environment.txt", "CITATION.bib", ".zenodo.json", "ro-crate-metadata.json"),
        *("cards/mine.json", "cards/iris.json", "study-plugins/my-plugins/own.py", "SHA256SUMS"),
    } <= files
    assert any(name.startswith("splits/mine-") for name in files)
    assert any(name.endswith(".scores") for name in files)
    assert not any(name.endswith("mine.csv") for name in files)
    text = " ".join(
        (made / name).read_text(errors="replace") for name in files if "parquet" not in name
    )
    assert str(project.folder) not in text
    rows = read_table(made / "trials.parquet")
    assert set(rows["host"].dropna()) == {"host-1"}
    card = json.loads((made / "cards/mine.json").read_text())
    assert [file["name"].split("-")[0] for file in card["distribution"]] == [
        "mine.csv",
        "../splits/mine",
    ]
    assert "My method" in (made / "CITATION.bib").read_text()


def test_rows_run_again_elsewhere_are_equal(verify):
    done = verify("--sample", "100", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0, done.stdout + done.stderr
    assert len(found["rows"]) == 6
    assert all(row["exact"] and not row["differ"] and not row["failure"] for row in found["rows"])
    assert found["holds"]


def seal(copy):
    """Write the list of checksums anew, as a forger would."""
    names = [path.relative_to(copy) for path in copy.rglob("*") if path.is_file()]
    lines = [
        f"{hashlib.sha256((copy / name).read_bytes()).hexdigest()}  {name}\n"
        for name in sorted(names)
        if name.name != "SHA256SUMS"
    ]
    (copy / "SHA256SUMS").write_text("".join(lines))


def test_a_forged_score_and_another_plugin_are_noticed(verify, copy):
    rows = read_table(copy / "trials.parquet")
    forged = rows.index[(rows["dataset"] == "mine") & (rows["method"] == "prior")][1]
    rows.loc[forged, "auc"] = 0.999
    rows.to_parquet(copy / "trials.parquet", index=False)
    altered = verify()
    assert altered.returncode == 1
    assert "trials.parquet: was altered" in altered.stdout
    plugin = copy / "study-plugins/my-plugins/own.py"
    plugin.write_text(PLUGIN.replace("PENALTY = 1.0", "PENALTY = 0.0001"))
    seal(copy)
    done = verify("--sample", "6")
    said = " ".join(done.stdout.split())
    assert done.returncode == 1
    assert f"row {forged} (mine, prior, 3MB, 1): NOT equal: auc is 0.5, was 0.999" in said
    assert "what decided 2 of the rows has changed since" in said


def test_published_rows_merge_with_those_of_a_site(published, copy, tmp_path):
    project, _, _ = published
    made = merge([copy, project.folder / "results" / "study"], tmp_path / "both")
    assert list(made.taken.values()) == [6, 0]
    assert (made.twice, made.other_scores) == (6, 0)
    lines = [
        json.loads(line)
        for path in (tmp_path / "both" / "journal").rglob("*.jsonl")
        for line in path.read_text().splitlines()
    ]
    assert {row["host"] for row in lines} == {"host-1"}
    differ = json.loads(project.harness("diff", str(copy), "results/study", "--json"))
    assert differ
    assert not any(one["moved"] for one in differ)


def test_an_incomplete_or_edited_study_is_refused(published, tmp_path, monkeypatch):
    project, made, _ = published
    monkeypatch.chdir(project.folder)
    workload = load_workload("study.yaml")
    with pytest.raises(HarnessError, match="is there already: give a new folder with -o"):
        publish(workload, made)
    edited = replace(workload, study=replace(workload.study, text="seeds: 3"))
    with pytest.raises(HarnessError, match=r"holds the results of another text than"):
        publish(edited, tmp_path / "other")
    table = project.folder / "results/study/trials.parquet"
    whole = table.read_bytes()
    read_table(table).iloc[1:].to_parquet(table)
    try:
        with pytest.raises(HarnessError, match=r"1 of 6 trials are not in the table"):
            publish(workload, tmp_path / "other")
        assert list(tmp_path.iterdir()) == []
        rest = publish(workload, tmp_path / "other", Wishes(incomplete=True))
    finally:
        table.write_bytes(whole)
    assert any("the study is incomplete" in told for told in rest.told)


def test_a_plugin_that_names_a_folder_of_its_author_is_not_published(
    published, tmp_path, monkeypatch
):
    project, _, _ = published
    monkeypatch.chdir(project.folder)
    workload = load_workload("study.yaml")
    note = project.folder / "my-plugins" / "_notes.py"
    note.write_text("DATA = '/home/somebody/data'\n")
    with pytest.raises(HarnessError, match=r"_notes\.py: line 1 names /home/somebody") as refused:
        publish(workload, tmp_path / "other")
    note.unlink()
    assert "nothing was written" in str(refused.value)
    assert list(tmp_path.iterdir()) == []
