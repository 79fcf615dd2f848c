"""A sandbox for tests: in a process of its own, one for each backend that this machine has."""

import pytest
from sandbox_client import Client

from harness.sandbox import backends


@pytest.fixture(scope="session")
def clients():
    """Sandboxes by backend, started when first asked for."""
    started = {}

    def get(backend):
        if backend not in started:
            report = next(r for r in backends() if r.name == backend)
            if not report.available:
                pytest.skip(f"{backend} is not available: {report.reason}")
            started[backend] = Client(backend)
        return started[backend]

    yield get
    for client in started.values():
        client.close()


@pytest.fixture(params=["cgroup-v2", "cgroup-v1", "rlimit-data", "watch"])
def sandbox(request, clients):
    """A sandbox of every backend; leaves no process behind, or the test fails."""
    client = clients(request.param)
    yield client
    assert client.survivors() == []


@pytest.fixture(params=["cgroup-v2", "cgroup-v1"])
def cgroup_sandbox(request, clients):
    """A sandbox of every backend that sees the whole process tree."""
    client = clients(request.param)
    yield client
    assert client.survivors() == []


@pytest.fixture
def any_sandbox(clients):
    """A sandbox of the strongest backend, where backends do not differ."""
    client = clients(next(report.name for report in backends() if report.available))
    yield client
    assert client.survivors() == []
