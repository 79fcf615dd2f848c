"""Where damaged files are tried: a folder of its own, and what is around it must not change."""

import contextlib
import hashlib
import os
import shutil
import signal
import stat
import traceback
from collections import Counter
from pathlib import Path

import click

from harness.errors import HarnessError

CPU_S, WALL_S = 20, 120
"""What one input may take before it counts as a hang."""


class HangError(BaseException):
    """Raised by a timer: nothing that is tried may catch it."""


class Sandbox:
    """A folder `run`, where everything happens, beside `theirs`, which holds what others own."""

    def __init__(self, around):
        self.around, self.run, self.theirs = around, around / "run", around / "theirs"
        self.theirs.mkdir(parents=True)
        (self.theirs / "kept.txt").write_text("kept\n")
        (self.theirs / "data.csv").write_text("1,2,no\n3,4,yes\n5,6,no\n7,9,yes\n")
        (self.theirs / "deeper").mkdir()
        (self.theirs / "deeper" / "x.npy").write_bytes(b"theirs")
        self.pipe = self.theirs / "pipe"
        os.mkfifo(self.pipe)
        self.counts, self.faults = Counter(), []
        self.before = self._outside()

    @contextlib.contextmanager
    def fresh(self):
        """An empty folder `run` with the working directory in it."""
        shutil.rmtree(self.run, ignore_errors=True)
        self.run.mkdir()
        with contextlib.chdir(self.run):
            yield self.run

    def attempt(self, what, number, function):
        """Call a function; note whether it ended well, was refused, broke, hung or escaped."""
        self.counts[f"{what}: inputs"] += 1
        try:
            with _timed():
                function()
            self.counts[f"{what}: accepted"] += 1
        except (HarnessError, click.ClickException) as error:
            self.counts[f"{what}: refused"] += 1
            if not str(error).strip() or len(str(error)) > 40_000:
                self.note("unclear message", what, number, str(error)[:300])
        except HangError:
            self.note("hang", what, number, traceback.format_exc()[-3000:])
        except BaseException:
            self.note("traceback", what, number, traceback.format_exc()[-3000:])
        now = self._outside()
        if now != self.before:
            changed = sorted(map(str, set(now.items()) ^ set(self.before.items())))
            self.note("escape", what, number, "\n".join(changed))
            self.before = now

    def note(self, fault, what, number, told):
        self.counts[fault] += 1
        self.faults.append(f"{fault} ({what}, input {number}):\n{told}")
        print(self.faults[-1], flush=True)  # a long run says what it finds when it finds it

    def figure(self):
        """The figure as one line."""
        inputs = sum(n for name, n in self.counts.items() if name.endswith(": inputs"))
        kinds = ("traceback", "hang", "escape", "unclear message")
        told = ", ".join(f"{self.counts[kind]} {kind}s" for kind in kinds)
        return f"{inputs} inputs: {told}"

    def _outside(self):
        found = {}
        for folder, names, files in os.walk(self.around):
            if Path(folder) == self.around:
                names.remove("run") if "run" in names else None
            for name in [*names, *files]:
                path = Path(folder) / name
                status = path.lstat()
                content = ""
                if stat.S_ISREG(status.st_mode):
                    content = hashlib.sha256(path.read_bytes()).hexdigest()
                found[str(path)] = (status.st_mode, status.st_mtime_ns, content)
        return found


@contextlib.contextmanager
def _timed():
    """Raise after some seconds of CPU, and where nothing is computed after more of them."""

    def hang(number, frame):
        raise HangError

    timers = [(signal.SIGVTALRM, signal.ITIMER_VIRTUAL, CPU_S)]
    timers.append((signal.SIGALRM, signal.ITIMER_REAL, WALL_S))
    for number, timer, seconds in timers:
        signal.signal(number, hang)
        signal.setitimer(timer, seconds)
    try:
        yield
    finally:
        for number, timer, _ in timers:
            signal.setitimer(timer, 0)
            signal.signal(number, signal.SIG_DFL)
