"""scikit-learn without pandas, imports without collections, ends without teardown."""

import subprocess
import sys

import pytest

CODE = """
import sys
from harness.lean_process import import_scikit_learn
import_scikit_learn()
import harness.jobs.bundle, sklearn.svm, sklearn.metrics
print(sorted({"pandas", "pyarrow"} & set(sys.modules)))
import pandas
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
frame = pandas.DataFrame({"a": [0.0, 1.0, 2.0, 3.0], "b": [1.0, 0.0, 1.0, 0.0]})
model = make_pipeline(StandardScaler(), sklearn.svm.SVC()).set_output(transform="pandas")
print(model.fit(frame, [0, 0, 1, 1]).predict(frame).tolist(), list(model[0].transform(frame)))
print(list(model[0].feature_names_in_))
"""


def test_pandas_is_left_out_and_can_still_be_used():
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines() == ["[]", "[0, 0, 1, 1] ['a', 'b']", "['a', 'b']"]


IMPORTING = """
import gc
from harness.lean_process import importing
collections = []
gc.callbacks.append(lambda phase, info: collections.append(phase))
for enabled in (True, False):
    (gc.enable if enabled else gc.disable)()
    collections.clear()
    with importing():
        made = [[] for _ in range(100_000)]
    print(len(collections), gc.isenabled() == enabled, gc.get_freeze_count() > 100_000)
"""


def test_nothing_is_collected_while_libraries_are_imported():
    done = subprocess.run(
        [sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == ["0 True True"] * 2


@pytest.mark.parametrize("code", [0, 3])
def test_a_process_leaves_with_all_that_it_printed_and_nothing_torn_down(code):
    work = "import atexit, sys; from harness.lean_process import leave; "
    work += "atexit.register(print, 'torn down'); print('said'); print('told', file=sys.stderr); "
    done = subprocess.run(
        [sys.executable, "-c", work + f"leave({code})"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert (done.returncode, done.stdout, done.stderr) == (code, "said\n", "told\n")
