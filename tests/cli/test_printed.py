"""What commands print in a terminal of 80 columns, kept beside this module as text.

`pytest tests/cli/test_printed.py tests/report/test_printed_results.py --force-regen` writes the
files anew; the difference is to be read before it is committed.
"""

import itertools
import re

import pytest
import yaml
from terminal import WIDTH, printed, widest

PLUGIN = '''
from sklearn.svm import LinearSVC
from harness import Method, hookimpl


@hookimpl
def harness_methods():
    """A method whose bytes are as simple as can be, and one that has no size."""
    tasks = {"binary", "multiclass"}
    sized = lambda shape, size: shape.data_bytes + 1000 * size
    yield Method("sized", LinearSVC, sized, size="max_iter", tasks=tasks, uses_unlabeled=False)
    yield Method("plain", LinearSVC, lambda shape, size: 50_000, tasks=tasks)
'''
STUDY = {
    "title": "Kept as text",
    "datasets": ["iris"],
    "methods": ["sized", "plain"],
    "labeled": [20, 40],
    "budgets": ["20kB", "1MB"],
    "seeds": 3,
    "plugins": ["../plugins"],
}


@pytest.fixture
def project(tmp_path, monkeypatch):
    """A folder with a study and a plugin of its own."""
    monkeypatch.chdir(tmp_path)
    for folder in ("studies", "plugins"):
        (tmp_path / folder).mkdir()
    (tmp_path / "plugins" / "fixed.py").write_text(PLUGIN)
    write(tmp_path, **STUDY)
    return tmp_path


def write(project, **study):
    (project / "studies" / "kept.yaml").write_text(yaml.safe_dump(study, sort_keys=False))


def test_plan(project, file_regression):
    shown = printed("plan", "kept", "--cores", "2")
    assert widest(shown) <= WIDTH
    file_regression.check(shown)


@pytest.mark.parametrize("command", ["methods", "datasets", "kernels"])
def test_lists(command, file_regression):
    shown = printed(command)
    assert widest(shown) <= WIDTH
    file_regression.check(shown, basename=command)


def test_parameters_of_a_method(file_regression):
    shown = printed("methods", "budget-svm")
    assert widest(shown) <= WIDTH
    file_regression.check(shown)


def test_doctor(file_regression):
    """Its shape alone: what is available is the machine's."""
    shown = printed("doctor")
    assert widest(shown) <= WIDTH
    lines = [line for line in shown.splitlines() if not line.startswith(" " * 16)]
    lines = [line for line in lines if not line.startswith(("      why not", "      to have"))]
    names = [re.sub(r"^(  \S+) .*", r"\1", line) for line in lines]
    shape = [re.sub(r"^( {6}\S+( \S+)?)  .*", r"\1", line) for line in names]
    file_regression.check("\n".join(re.sub(r"landlock-\d+", "landlock", one) for one in shape))


@pytest.mark.slow
def test_measure(project, file_regression):
    """Its shape alone: the figures are this machine's."""
    (project / "plugins" / "bayes.py").write_text(
        "from sklearn.naive_bayes import GaussianNB\n"
        "from harness import hookimpl, sklearn_method\n\n\n@hookimpl\ndef harness_methods():\n"
        '    yield sklearn_method(GaussianNB, "bayes", tasks={"binary"})\n'
    )
    shown = printed("measure", "bayes", "--n", "400")
    assert widest(shown) <= WIDTH
    rows = re.compile(r"\d+ +\d+ ")
    lines = [line for line in shown.splitlines() if not rows.match(line)]
    # peaks of some machines do not differ
    shape = [line for line in lines if not line.startswith((" ", "unsure: "))]
    # and so is whether any is of 1 MB
    shape = [re.sub(r"(?<=peaks)[ ,].*|[\d.]+.*", "...", line) for line in shape]
    # how often it says that it learns is the machine's, too
    file_regression.check("\n".join(line for line, _ in itertools.groupby(shape)))


MISTAKES = {
    "no study": lambda project: printed("plan", "kapt"),
    "a key": lambda project: changed(project, budgt="1MB"),
    "a method": lambda project: changed(project, methods=["sizd"]),
    "a data set": lambda project: changed(project, datasets=["irs"]),
    "a budget": lambda project: changed(project, budgets=["1XB"]),
    "labels": lambda project: changed(project, labeled=100_000),
    "no results": lambda project: printed("show", "kept"),
    "a parameter": lambda project: changed(project, methods=[{"plain": {"C": "much"}}]),
}


def changed(project, **study):
    write(project, **STUDY | study)
    return printed("plan", "kept")


def test_messages_of_mistakes(project, file_regression):
    shown = [f"# {name}\n{make(project)}" for name, make in MISTAKES.items()]
    file_regression.check("\n".join(shown).replace(str(project), "PROJECT"))
