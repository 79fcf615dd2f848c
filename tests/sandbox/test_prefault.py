"""Pages of libraries: a child has them mapped from the start, and nothing of them is altered."""

import json
import subprocess
import sys

import pytest

from harness.sandbox.peaks import read_memory

pytestmark = pytest.mark.skipif(read_memory() is None, reason="there is no /proc here")

CODE = """
import hashlib, json, os
from pathlib import Path
import numpy
from harness.sandbox.peaks import read_memory
from harness.sandbox.prefault import find_libraries, inherit_libraries

def content():
    digest = hashlib.sha256()
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        for first, last in find_libraries():
            memory.seek(first)
            digest.update(memory.read(min(last - first, 4096)))
    return digest.hexdigest()

def protections():
    lines = Path("/proc/self/maps").read_text().splitlines()
    return sorted(line.split()[1] for line in lines if ".so" in line)

before, rights = content(), protections()
done = inherit_libraries()
told = {"done": done, "same": content() == before, "rights": protections() == rights}
told["size"] = sum(last - first for first, last in find_libraries())
reader, writer = os.pipe()
if os.fork() == 0:
    try:
        os.write(writer, json.dumps([read_memory().file, content() == before]).encode())
    finally:
        os._exit(0)
os.close(writer)
told["mapped"], told["same in child"] = json.loads(os.read(reader, 4096))
print(json.dumps(told))
"""


@pytest.fixture(scope="module")
def told():
    """What a process of its own says; one that tests share has threads and is not to be forked."""
    done = subprocess.run(
        [sys.executable, "-c", CODE], capture_output=True, text=True, check=False, timeout=60
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_a_child_inherits_all_that_its_parent_has_mapped(told):
    assert told["done"]
    assert told["mapped"] > 0.9 * told["size"]


def test_libraries_are_what_they_were(told):
    assert told["same"]
    assert told["rights"]
    assert told["same in child"]
