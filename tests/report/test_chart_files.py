"""Charts as files are those of the page, with what stands around them there."""

import pytest
from click.testing import CliRunner
from synthetic_trials import make_trials, write_results

from harness.cli.main import main
from harness.errors import HarnessError
from harness.report.chart_files import KINDS, OF_A_PROBLEM, write_charts


@pytest.fixture(scope="module")
def study(tmp_path_factory):
    return write_results(tmp_path_factory.mktemp("charts") / "results" / "s", make_trials())


def test_each_kind_is_drawn_for_each_data_set(study, tmp_path):
    written = write_charts(study, tmp_path, "svg")
    names = {path.name for path in written}
    assert {f"{kind}-digits.svg" for kind in OF_A_PROBLEM} <= names
    assert {kind for kind in KINDS if any(name.startswith(kind) for name in names)} == set(KINDS)
    # a legend of the methods, which the page has in its own
    drawn = (tmp_path / "score-digits.svg").read_text()
    assert "role-legend" in drawn
    assert ">svm<" in drawn
    assert "undefined" not in drawn


@pytest.mark.parametrize(("form", "start"), [("pdf", b"%PDF"), ("png", b"\x89PNG")])
def test_forms(study, tmp_path, form, start):
    (path,) = write_charts(study, tmp_path, form, kinds=["score"], datasets=["digits"])
    assert path == tmp_path / f"score-digits.{form}"
    assert path.read_bytes().startswith(start)


def test_what_there_is_not_is_told_with_what_there_is(study, tmp_path):
    with pytest.raises(HarnessError, match="unknown chart 'peaks'; did you mean 'peak'"):
        write_charts(study, tmp_path, kinds=["peaks"])
    with pytest.raises(HarnessError, match=r"unknown data set with a chart 'digit'.*'digits'"):
        write_charts(study, tmp_path, datasets=["digit"])
    assert not list(tmp_path.iterdir())


def test_the_command_writes_beside_the_report(study, monkeypatch):
    folder = study.parents[1]
    monkeypatch.chdir(folder)
    (folder / "s.yaml").write_text(
        "datasets: [digits]\nmethods: [svm]\nlabeled: 50\nbudgets: [3MB]\n"
    )
    done = CliRunner().invoke(main, ["figures", "s.yaml", "--format", "svg", "--chart", "planned"])
    assert done.exit_code == 0, done.output
    assert (study / "figures" / "planned.svg").is_file()
