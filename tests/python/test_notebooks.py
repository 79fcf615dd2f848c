"""The notebooks of the docs, and what the docs say of notebooks, run in a kernel."""

import re

import nbformat
import pytest
from nbclient import NotebookClient

from harness.project import ROOT

pytestmark = [
    pytest.mark.slow,
    # of the packages that talk to the kernel
    pytest.mark.filterwarnings("ignore::DeprecationWarning"),
    pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning"),
]

TUTORIAL = ROOT / "docs" / "notebooks" / "first_study.ipynb"
NOTEBOOKS = sorted((ROOT / "docs" / "notebooks").glob("*.ipynb"))


@pytest.fixture(scope="module", autouse=True)
def nothing_in_the_home_folder(tmp_path_factory):
    """What a kernel keeps of its own goes to a folder of the tests."""
    folder = tmp_path_factory.mktemp("kernel")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("IPYTHONDIR", "JUPYTER_RUNTIME_DIR", "JUPYTER_CONFIG_DIR"):
            patch.setenv(name, str(folder / name.lower()))
        yield


def executed(notebook, folder, allow_errors=False):
    client = NotebookClient(
        notebook,
        timeout=1200,
        kernel_name="python3",
        allow_errors=allow_errors,
        resources={"metadata": {"path": str(folder)}},
    )
    client.execute()
    return notebook


def of_cells(*cells):
    return nbformat.v4.new_notebook(cells=[nbformat.v4.new_code_cell(cell) for cell in cells])


def outputs(notebook):
    return [output for cell in notebook.cells for output in cell.get("outputs", [])]


def texts(notebook):
    """What every output says, as text and as HTML."""
    for output in outputs(notebook):
        yield from [output.get("text", ""), *output.get("data", {}).values()]


@pytest.fixture(scope="module", params=NOTEBOOKS, ids=lambda path: path.stem)
def of_docs(request, tmp_path_factory):
    """A notebook of the docs, executed in an empty folder, and that folder."""
    folder = tmp_path_factory.mktemp(request.param.stem)
    notebook = nbformat.read(request.param, as_version=4)
    nbformat.validate(notebook)
    # a reader runs it: figures of some machine would only go stale
    assert outputs(notebook) == []
    return executed(notebook, folder), folder


def test_a_notebook_runs_without_an_error(of_docs):
    notebook, folder = of_docs
    assert [output for output in outputs(notebook) if output.output_type == "error"] == []
    assert list((folder / "results").glob("*/report.html"))


@pytest.mark.parametrize("of_docs", [TUTORIAL], indirect=True, ids=["first_study"])
def test_the_tutorial_says_what_it_promises(of_docs):
    said = "\n".join(texts(of_docs[0]))
    assert "parts: values are missing: numbers by the median" in said
    assert "30 of 30 trials: 30 ok" in said
    assert "<strong>What to accept</strong>: 30 trials (30 ok)" in said
    for method in ("svm", "k-neighbors-classifier", "centres"):
        assert method in said
    assert "over_budget" in said


def test_a_mistake_is_one_sentence_and_not_our_traceback(tmp_path):
    cells = (
        "import harness",
        "harness.run({'budget': 3})",
        "with harness.budget('1MB'):\n    held = bytes(5_000_000)",
    )
    of_run, of_budget = outputs(executed(of_cells(*cells), tmp_path, allow_errors=True))
    assert of_run.output_type == of_budget.output_type == "error"
    (line,) = of_run.traceback
    assert line.startswith(
        "HarnessError: the study: unknown key 'budget'; did you mean 'budgets'?"
    )
    assert "held = bytes(5_000_000)" in "".join(of_budget.traceback)


def test_the_budget_as_a_library_works_in_a_notebook_as_its_page_says(tmp_path):
    page = (ROOT / "docs" / "budget-library.md").read_text()
    (code,) = re.findall(r"(?ms)^```python\n(import harness\n.*?)^```", page)
    before = (
        "import numpy as np\nfrom sklearn.linear_model import LogisticRegression\n"
        "X = np.random.default_rng(0).normal(size=(500, 20))\n"
        "y = (X[:, 0] > 0).astype(int)\nmodel = LogisticRegression()"
    )
    after = "m.outcome, b.outcome, fitted.score(X, y) == model.score(X, y), m.peak_bytes > 0"
    done = executed(of_cells(before, code, after), tmp_path)
    assert list(texts(done))[-1] == "('ok', 'ok', True, True)"
