import pytest

from harness import project
from harness.datasets.catalog import load_catalog
from harness.errors import HarnessError
from harness.planning.workload import load_workload
from harness.project import PUBLISHED
from harness.study import published_tables
from harness.study.budget import Budget
from harness.study.published_tables import ALL_DATASETS, Setting, read_printed, table_names
from harness.study.study import load_study

HEAD = "table,dataset,method,labeled,budget,metric,value"
README = PUBLISHED / "README.md"
STUDY = "datasets: [wine]\nmethods: [prior]\nlabeled: 20\n"


@pytest.fixture
def write(tmp_path, monkeypatch):
    """Write the only file of printed tables that there is."""
    monkeypatch.setattr(published_tables, "PUBLISHED", tmp_path)

    def write(*lines, head=HEAD):
        (tmp_path / "paper.csv").write_text("\n".join([head, *lines]) + "\n")

    return write


@pytest.mark.parametrize("name", table_names())
def test_every_kept_table_can_be_read_and_has_no_figure_twice(name):
    figures = read_printed(name)
    assert figures
    assert len({(f.setting, f.label, f.metric) for f in figures}) == len(figures)
    for dataset in {f.setting.dataset for f in figures} - {*load_catalog(), ALL_DATASETS}:
        lacking = README.read_text().split("The catalog has no ")[1].split(":")[0]
        assert f"`{dataset}`" in lacking


def test_every_kept_file_has_its_source():
    readme = README.read_text()
    assert all(f"`{path.name}`" in readme for path in PUBLISHED.glob("*.csv"))


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


def test_parameters_of_the_row_and_of_the_method(write):
    write(
        "t,wine,budget-svm,,10 landmarks,accuracy,58.006,rbf,dbh,cannot be",
        head=f"{HEAD},kernel,selector,doubt",
    )
    (figure,) = read_printed("paper/t")
    assert figure.setting.params == (("kernel", "rbf"),)
    assert figure.params == (("selector", "dbh"),)
    assert figure.label == "budget-svm[selector=dbh]"
    assert figure.doubt == "cannot be"


@pytest.mark.parametrize(
    "line",
    ["t,*,xnv,,,error_reduction,16,", "t,*,xnv,,,auc,0.9,", "t,wine,xnv,,,error_reduction,1,xks"],
)
def test_a_reduction_is_against_something_over_all_data_sets(write, line):
    write(line, head=f"{HEAD},against")
    with pytest.raises(HarnessError, match="line 2: a reduction, and nothing else, names"):
        read_printed("paper/t")
    write("t,*,xnv,,,error_reduction,16,sssl-m sssl-2m", head=f"{HEAD},against")
    assert read_printed("paper/t")[0].label == "xnv against sssl-m / sssl-2m"


def test_every_figure_of_the_papers_tables_is_kept():
    """So many rows and columns as are printed."""
    kept = {name: len(read_printed(name)) for name in table_names()}
    assert kept["mehrkanoon2016/table2"] == 16 * 3 * 3
    assert all(kept[f"castellanos2021/table3-{i}"] == 2 * (5 * 2 + 1) for i in range(1, 9))
    assert all(kept[f"castellanos2021/table5-{i}"] == 4 * 2 * 8 for i in range(1, 7))
    assert kept["castellanos2021/table5-7"] == 2 * 2 * 2 * 4 * 5
    assert kept["mcwilliams2013/table2"] == 2 * 18 * 3
    assert kept["mcwilliams2013/summary"] == 4 * 5


def test_doubted_rows_are_those_with_the_same_spread_on_two_data_sets():
    """The flag on tables 5-1 and 5-2 follows from their figures."""
    rows = {}
    for table in ("table5-1", "table5-2"):
        for figure in read_printed(f"castellanos2021/{table}"):
            row = rows.setdefault((figure.setting.params, figure.params), {})
            row.setdefault(table, []).append(figure)
    for row in rows.values():
        first, second = ([f.std for f in row[table]] for table in ("table5-1", "table5-2"))
        assert {bool(f.doubt) for table in row.values() for f in table} == {first == second}


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


@pytest.mark.parametrize("checkout", [False, True], ids=["folder", "checkout"])
def test_tables_of_the_current_folder_stand_beside_ours_and_before_them(
    tmp_path, monkeypatch, checkout
):
    monkeypatch.chdir(tmp_path)
    if checkout:
        monkeypatch.setattr(project, "ROOT", tmp_path)
    (tmp_path / "printed").mkdir()
    for paper in ("mine", "hou2017"):
        text = f"{HEAD}\n" + "t,wine,svm,20,none,auc,0.9" + "," * (HEAD.count(",") - 6) + "\n"
        (tmp_path / f"printed/{paper}.csv").write_text(text)
    assert {"mine/t", "hou2017/t", "castellanos2021/table3-1"} <= set(table_names())
    assert "hou2017/table3" not in table_names()
    assert str(read_printed("mine/t")[0].value) == "0.9"


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
        ("published: hou2017", "known: castellanos2021/table3-1, "),
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
