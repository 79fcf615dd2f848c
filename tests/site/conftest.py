import json

import py_mini_racer
import pytest


@pytest.fixture(scope="session")
def javascript():
    """Return a function that runs a script and gives the value of an expression after it."""

    def run(script, expression):
        return json.loads(
            py_mini_racer.MiniRacer().eval(f"{script}\nJSON.stringify({expression})")
        )

    return run
