"""scikit-learn without pandas: a trial that wants pandas has it, and data frames still work."""

import subprocess
import sys

CODE = """
import sys
from harness.jobs.lean_imports import import_scikit_learn
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
