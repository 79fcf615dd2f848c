"""Generated data sets: their digest is of what they are generated from, own files included."""

import textwrap

import numpy as np
import pytest

from harness.datasets import load_catalog
from harness.datasets.preparation import load
from harness.errors import HarnessError
from harness.plugin.index import generated_version, read_index
from harness.plugin.registry import Registry

PLUGIN = """
from pathlib import Path
import numpy as np
from harness import GeneratedDataset, hookimpl

TABLE = Path(__file__).with_name("table.csv")

def generate(rng, path=TABLE):
    values = np.loadtxt(path, delimiter=",")
    return values[:, :2], values[:, 2].astype(int)

@hookimpl
def harness_datasets():
    yield GeneratedDataset("tabled", generate, "binary", 4, 2, files=FILES)
"""


@pytest.fixture
def plugin(tmp_path):
    """Write the plugin and its table; return what tells the digest of its set, and the set."""
    folder = tmp_path / "own"
    folder.mkdir()

    def write(files="[TABLE]", first=1.0):
        (folder / "tabled.py").write_text(textwrap.dedent(PLUGIN).replace("FILES", files))
        table = np.column_stack([np.arange(8.0).reshape(4, 2), [0, 1, 0, 1]])
        table[0, 0] = first
        np.savetxt(folder / "table.csv", table, delimiter=",")
        (told,) = (item for item in read_index([folder])["datasets"] if item["name"] == "tabled")
        dataset, _ = Registry.load([folder]).get("datasets", "tabled")
        code = {"tabled": generated_version(told)}
        return load_catalog(generated={"tabled": dataset}, versions=code)["tabled"]

    return write


def test_an_edited_file_that_is_declared_is_another_data_set(plugin):
    before, edited = plugin(first=1.0), plugin(first=2.0)
    assert before.digest == plugin(first=1.0).digest != edited.digest
    assert load(edited)[0][0, 0] == 1  # what is prepared is that of the file now


def test_a_file_that_is_read_has_to_be_declared(plugin):
    with pytest.raises(HarnessError, match=r"its plugin reads .*table\.csv, which it does not"):
        load(plugin(files="()"))
