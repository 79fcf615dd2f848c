import json
import subprocess
import sys

import pytest

from harness.sandbox import backends

HARNESS = [sys.executable, "-m", "harness.cli"]
AVAILABLE = [report.name for report in backends() if report.available]


@pytest.fixture(params=["cgroup-v2", "cgroup-v1", "rlimit-data", "watch"])
def backend(request):
    if request.param not in AVAILABLE:
        pytest.skip(f"{request.param} is not available here")
    return request.param


def execute(*arguments):
    return subprocess.run(
        [*HARNESS, "exec", *arguments], capture_output=True, text=True, check=False, input="given"
    )


def python(code, *options):
    done = execute("--json", *options, "--", sys.executable, "-c", code)
    return done, json.loads(done.stdout)


@pytest.mark.memory
def test_a_command_that_fits_is_measured(backend):
    figures = []
    for size in (0, 40_000_000):
        code = f"import os; b = b'1' * {size}; os._exit(0)"
        done, told = python(code, "--budget", "200MB", "--backend", backend)
        assert (done.returncode, told["outcome"], told["exit_code"]) == (0, "ok", 0)
        assert told["means"].startswith(backend)
        assert told["measured_by"] == "VmHWM"
        figures.append(told["peak_bytes"])
    assert figures[1] - figures[0] == pytest.approx(40_000_000, abs=25_000 + 400_000)


def test_a_command_that_takes_more_is_over_budget(backend):
    code = "b = b'1' * 200_000_000; import time; time.sleep(60)"
    done, told = python(code, "--budget", "50MB", "--backend", backend)
    assert (done.returncode, told["outcome"]) == (123, "over_budget")
    assert "budget of 50 MB" in told["reason"]


def test_a_budget_below_the_interpreters_needs_is_an_outcome(backend):
    done, told = python("print(1)", "--budget", "500kB", "--backend", backend)
    assert (done.returncode, told["outcome"]) == (123, "over_budget")
    assert "budget of 500 kB" in told["reason"]


def test_children_of_the_command_count(backend):
    """Both hold their bytes for a second at once, however late one of them is."""
    code = (
        "import os, time\n"
        "told, asked = os.pipe(), os.pipe()\n"
        "p = os.fork()\n"
        "b = b'1' * 60_000_000\n"
        "if p == 0: os.write(told[1], b'1'), os.read(asked[0], 1)\n"
        "else: os.read(told[0], 1), time.sleep(1), os.write(asked[1], b'1'), os.wait()"
    )
    done, told = python(code, "--budget", "400MB", "--backend", backend)
    assert (done.returncode, told["outcome"]) == (0, "ok")
    assert told["peak_bytes"] > 110_000_000
    assert told["measured_by"] == (backend if backend.startswith("cgroup") else "watch")
    forks = "import os, time; p = os.fork(); b = b'1' * 60_000_000; time.sleep(60)"
    done, told = python(forks, "--budget", "90MB", "--backend", backend)
    assert (done.returncode, told["outcome"]) == (123, "over_budget")


def test_the_exit_code_is_the_commands_own():
    done, told = python("raise SystemExit(7)")
    assert (done.returncode, told["outcome"], told["means"]) == (7, "error", "none")
    done, told = python("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    assert (done.returncode, told["outcome"], told["signal"]) == (128 + 11, "crashed", 11)
    assert "SIGSEGV" in told["reason"]


def test_a_time_limit_ends_it():
    done, told = python("while True: pass", "--time", "0.5s")
    assert (done.returncode, told["outcome"]) == (124, "timeout")


def test_input_and_output_are_the_commands():
    done = execute("--", sys.executable, "-c", "import sys; print(sys.stdin.read()[::-1])")
    assert done.stdout == "nevig\n"
    assert done.stderr.startswith("harness: ok, peak ")
    done, _ = python("import sys; print('out'); print('err', file=sys.stderr)")
    assert {"out", "err"} <= set(done.stderr.splitlines())


def test_a_command_keeps_the_threads_that_it_has(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "7")
    done, _ = python("import os; print(os.environ['OPENBLAS_NUM_THREADS'])")
    assert "7" in done.stderr.split()


def test_a_large_file_may_be_written(backend, tmp_path):
    code = f"open({str(tmp_path / 'model')!r}, 'wb').write(b'1' * 1_000_000)"
    done, _ = python(code, "--budget", "200MB", "--backend", backend)
    assert done.returncode == 0
    assert (tmp_path / "model").stat().st_size == 1_000_000


@pytest.mark.parametrize(
    ("arguments", "code", "told"),
    [
        (["--", "no-such-command"], 127, "command 'no-such-command' is not found"),
        (["--budget", "1MB", "true"], 2, "write -- before the command"),
        (["--budget", "1MB", "--"], 126, "no command is given after --"),
        (["--budget", "lots", "--", "true"], 125, "'lots' is not bytes"),
        (["--time", "soon", "--", "true"], 125, "'soon' is not a duration"),
        (["--backend", "magic", "--", "true"], 125, "unknown memory backend 'magic'"),
    ],
)
def test_mistakes_are_one_sentence(arguments, code, told):
    done = execute(*arguments)
    assert done.returncode == code
    assert told in done.stderr
    assert "Traceback" not in done.stderr


def test_a_file_that_is_no_program_is_told(tmp_path):
    file = tmp_path / "text"
    file.write_bytes(b"\0\0\0\0")
    file.chmod(0o755)
    done = execute("--", str(file))
    assert done.returncode == 126
    assert "cannot be run: Exec format error" in done.stderr
