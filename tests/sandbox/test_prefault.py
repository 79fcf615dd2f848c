"""Pages of libraries: a child has them mapped from the start, and nothing of them is altered."""

import hashlib
import os
from pathlib import Path

import pytest

from harness.sandbox.peaks import read_memory
from harness.sandbox.prefault import find_libraries, inherit_libraries

pytestmark = pytest.mark.skipif(read_memory() is None, reason="there is no /proc here")


def in_child(function):
    """Call a function in a forked child and return the text that it returns."""
    reader, writer = os.pipe()
    pid = os.fork()
    if pid == 0:
        os.write(writer, function().encode())
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader) as pipe:
        told = pipe.read()
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    return told


def mapped_of_files():
    return str(read_memory().file)


def protections():
    lines = Path("/proc/self/maps").read_text().splitlines()
    return {line.split()[0]: line.split()[1] for line in lines if ".so" in line}


def content():
    """Digest of the libraries' text, as this process sees it."""
    digest = hashlib.sha256()
    with Path("/proc/self/mem").open("rb", buffering=0) as memory:
        for first, last in find_libraries():
            memory.seek(first)
            digest.update(memory.read(min(last - first, 1 << 16)))
    return digest.hexdigest()


def test_a_child_inherits_all_that_its_parent_has_mapped():
    assert inherit_libraries()
    size = sum(last - first for first, last in find_libraries())
    assert int(in_child(mapped_of_files)) > 0.9 * size


def test_libraries_are_what_they_were():
    before, rights = content(), protections()
    assert inherit_libraries()
    assert content() == before == in_child(content)
    after = protections()
    assert {name: after[name] for name in rights} == rights
