import pytest
from project import Project


@pytest.fixture(scope="session")
def index_cache(tmp_path_factory):
    """The index of plugins takes seconds to make; all projects share one."""
    return tmp_path_factory.mktemp("index")


@pytest.fixture
def project(tmp_path, index_cache):
    return Project(tmp_path, index_cache)
