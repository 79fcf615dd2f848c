"""The reference has every key and option that the code has, with words for each."""

import pytest
from pydantic import BaseModel

from harness.datasets.entry import Declared
from harness.datasets.file import File
from harness.datasets.reading import FORMATS
from harness.datasets.text_columns import Text
from harness.site.entry_keys import entry_page, keys
from harness.site.numpydoc import described

MODELS = {"entry": Declared, "file": File, "text": Text} | FORMATS


@pytest.mark.parametrize("name", MODELS)
def test_every_key_has_a_type_and_no_key_is_described_that_is_not_there(name):
    without = ("name", "format", "dataset", "version") if name != "file" else ()
    told = keys(MODELS[name], without)
    assert [key for key, found in told.items() if found is None or not found.kind] == []
    assert set(described(MODELS[name])) <= set(MODELS[name].model_fields)


def test_every_format_has_its_table():
    [*_, last] = entry_page().parts["tables"]
    titles = {table["title"] for table in entry_page().parts["tables"]}
    assert {f"read: {{format: {name}}}" for name in FORMATS if name != "generated"} <= titles
    assert last["columns"] == ["key", "takes", "meaning"]


def test_what_a_model_extends_is_described_with_it():
    class Base(BaseModel):
        """Base.

        Parameters
        ----------
        a, b : int, default 1
            Two
            numbers.
        """

        a: int = 1
        b: int = 1

    class More(Base):
        """More.

        Parameters
        ----------
        b : str
            Other words.
        """

        c: int = 1

    told = keys(More)
    assert (told["a"].kind, told["a"].meaning) == ("int, default 1", "Two numbers.")
    assert told["b"].meaning == "Other words."
    assert told["c"] is None
