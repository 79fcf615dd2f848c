import pytest

from harness import published
from harness.budget import Budget
from harness.datasets.catalog import load_catalog
from harness.errors import HarnessError
from harness.published import FOLDER, Setting, read_printed, table_names
from harness.study import load_study
from harness.workload import load_workload

HEAD = "table,dataset,method,labeled,budget,metric,value"
STUDY = "datasets: [wine]\nmethods: [prior]\nlabeled: 20\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write the only file of printed tables that there is."""
    monkeypatch.setattr(published, "FOLDER", tmp_path)

    def write(*lines, head=HEAD):
        (tmp_path / "paper.csv").write_text("\n".join([head, *lines]) + "\n")

    return write


@pytest.mark.parametrize("name", table_names())
def test_every_kept_table_can_be_read_and_has_no_figure_twice(name):
    figures = read_printed(name)
    assert figures
    assert len({(f.setting, f.method, f.metric) for f in figures}) == len(figures)
    assert {f.setting.dataset for f in figures} <= set(load_catalog())


def test_every_kept_file_has_its_source():
    readme = (FOLDER / "README.md").read_text()
    assert all(f"`{path.name}`" in readme for path in FOLDER.glob("*.csv"))


def test_kept_ranks_are_those_of_the_values():
    rows = {}
    for figure in read_printed("hou2017/table3"):
        rows.setdefault(figure.setting, []).append(figure)
    assert len(rows) == 8
    for figures in rows.values():
        by_rank = sorted(figures, key=lambda figure: figure.rank)
        assert [figure.rank for figure in by_rank] == list(range(1, 8))
        values = [figure.value for figure in by_rank]
        assert values == sorted(values, reverse=True)


def test_an_entry_left_empty_is_left_open_and_digits_are_kept(write):
    write(
        "t,wine,svm,,,accuracy,83.50,,linear,%,0.4,,twice",
        "t,wine,svm,20,640 landmarks,seconds,2230,30,,,,1,",
        head=f"{HEAD},test,kernel,unit,std,rank,note",
    )
    first, second = read_printed("paper/t")
    assert first.setting == Setting("wine", None, None, None, None, (("kernel", "linear"),))
    assert (str(first.value), first.half_unit) == ("83.50", pytest.approx(0.005))
    assert (first.unit, first.std, first.rank, first.note) == ("%", 0.4, None, "twice")
    budget = Budget("640 landmarks", size=640)
    assert second.setting == Setting("wine", 20, None, 30, budget, ())
    assert (second.half_unit, second.std, second.rank) == (0.5, None, 1.0)


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("t,wine,svm,20,none,auk,0.9", "unknown metric 'auk'; did you mean 'auc'?"),
        ("t,wine,svm,20,none,auc,high", "line 2: value 'high' is not a number"),
        ("t,wine,svm,20,none,auc,", "line 2: value '' is not a number"),
        ("t,wine,svm,20,none,auc,nan", "line 2: value 'nan' is not a number"),
        ("t,wine,svm,1.5,none,auc,0.9", "line 2: labeled '1.5' is not a count or a share"),
        ("t,wine,svm,20,9XB,auc,0.9", "line 2: budget: '9XB' is not bytes"),
        ("t,wine,svm,20,none,auc", "line 2: has not 7 entries"),
        ("t,wine,svm,20,none,auc,0.9,more", "line 2: has not 7 entries"),
    ],
)
def test_mistakes_of_a_file_name_file_and_line(write, line, message):
    write(line)
    with pytest.raises(HarnessError, match=r"paper\.csv") as caught:
        read_printed("paper/t")
    assert message in str(caught.value)


def test_mistakes_of_the_header(write):
    write(head=f"{HEAD},nte")
    with pytest.raises(HarnessError, match="unknown column 'nte'; did you mean 'note'"):
        table_names()
    write(head=HEAD.replace("metric,", ""))
    with pytest.raises(HarnessError, match="columns metric are missing"):
        table_names()


def study(folder, line):
    path = folder / "study.yaml"
    path.write_text(STUDY + line)
    return path


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("published: hou2017/table33", "unknown printed table 'hou2017/table33'; did you mean"),
        ("published: [hou2017/table3, hou2016/table3]", "unknown printed table 'hou2016/table3'"),
        ("published: hou2017", "known: hou2017/table2, hou2017/table3"),
        ("published: [3]", "published.0: Input should be a valid string (given: 3)"),
    ],
)
def test_mistakes_of_a_study_name_file_key_and_what_there_is(tmp_path, line, message):
    path = study(tmp_path, line)
    with pytest.raises(HarnessError) as caught:
        load_workload(path)
    assert f"{path}: published" in str(caught.value)
    assert message in str(caught.value)


def test_naming_a_table_reruns_nothing(tmp_path):
    before = load_workload(study(tmp_path, "")).blocks
    path = study(tmp_path, "published: hou2017/table3")
    assert load_study(path).settings.published == ["hou2017/table3"]
    assert load_workload(path).blocks == before
