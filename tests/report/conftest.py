import pytest
from synthetic_trials import bad_endings, make_trials, write_results


@pytest.fixture
def results_directory(tmp_path):
    """Results of a study of two data sets with every kind of outcome."""
    return write_results(tmp_path / "synthetic", make_trials(outcome=bad_endings))
