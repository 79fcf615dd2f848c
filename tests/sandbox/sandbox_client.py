"""A sandbox in a process of its own, which runs the trials of `trials_*.py` by name."""

import json
import os
import subprocess
import sys
import uuid
from pathlib import Path
from types import SimpleNamespace

from harness.errors import HarnessError
from harness.sandbox import StageUsage

SERVER = Path(__file__).with_name("sandbox_server.py")


class Client:
    """Asks a `sandbox_server` to run trials."""

    def __init__(self, backend, before=()):
        self.backend = backend
        self._mark = f"HARNESS_TEST_MARK={uuid.uuid4().hex}"
        name, value = self._mark.split("=")
        self._process = subprocess.Popen(
            [*before, sys.executable, str(SERVER), backend],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            env={**os.environ, name: value},
        )

    def run(self, trial, memory=None, seconds=None, threads=1, timeline=False, **args):
        limits = {"memory": memory, "seconds": seconds, "threads": threads}
        request = {"trial": trial, "args": args, "limits": limits, "timeline": timeline}
        found = self._ask(request)
        found["stages"] = {k: StageUsage(**stage) for k, stage in found["stages"].items()}
        return SimpleNamespace(**found)

    def calibrate(self, **args):
        return self._ask({"calibrate": args})

    def survivors(self):
        """Return processes of this sandbox's trials that are still there, zombies too."""
        found = []
        for entry in Path("/proc").iterdir():
            if not entry.name.isdigit() or int(entry.name) == self._process.pid:
                continue
            try:
                if self._mark.encode() in (entry / "environ").read_bytes():
                    found.append((entry / "cmdline").read_bytes())
                elif f"PPid:\t{self._process.pid}\n" in (entry / "status").read_text():
                    found.append(b"zombie")
            except OSError:
                continue
        return found

    def close(self):
        self._process.communicate()

    def _ask(self, request):
        self._process.stdin.write(json.dumps(request) + "\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, "the sandbox's own process has ended"
        answer = json.loads(line)
        if "refused" in answer:
            raise HarnessError(answer["refused"])
        return answer
