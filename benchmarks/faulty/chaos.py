"""What strikes at a running study: signals, nodes, a full disk, files that are late, clocks."""

from __future__ import annotations

import contextlib
import os
import random
import signal
import time
from collections import Counter
from collections.abc import Callable
from pathlib import Path

from faulty.study import ROLES, Study, keys

DAY_S = 86400


class Chaos:
    """Strikes at a study, one kind of fault at a time."""

    def __init__(self, study: Study, rng: random.Random, disk: bool) -> None:
        self.study, self.rng = study, rng
        self.struck: Counter[tuple[str, str]] = Counter()
        self.kinds: dict[str, Callable[[], str]] = {
            "kill": lambda: self._signal(signal.SIGKILL),
            "term": lambda: self._signal(signal.SIGTERM),
            "stop": self._stop,
            "node": self._node,
            "late": self._late,
            "clock": self._clock,
        }
        if disk:
            self.kinds["disk"] = self._disk

    @property
    def count(self) -> int:
        """How often it has struck."""
        return sum(self.struck.values())

    def strike(self) -> None:
        """Do one of what it can do, half of the time to a process."""
        self.study.look()
        others = [kind for kind in self.kinds if kind not in ("kill", "term")]
        kind = self.rng.choice(["kill", "term"] if self.rng.random() < 0.5 else others)
        if on := self.kinds[kind]():
            self.struck[kind, on] += 1

    def _any(self) -> tuple[int, str]:
        found = self.study.processes()
        roles = sorted({role for role, _ in found.values()})
        if not roles:
            return 0, ""
        # Snakemake is one process, whose end ends the run, and alone while it starts
        role = self.rng.choice([*roles, *ROLES])
        if role not in roles:
            return 0, ""
        return self.rng.choice([pid for pid in found if found[pid][0] == role]), role

    def _signal(self, number: int) -> str:
        pid, role = self._any()
        with contextlib.suppress(ProcessLookupError):
            if pid:
                os.kill(pid, number)
        return role

    def _stop(self) -> str:
        pid, role = self._any()
        with contextlib.suppress(ProcessLookupError):
            if pid:
                os.kill(pid, signal.SIGSTOP)
                self._pause(0.1, 4)
                os.kill(pid, signal.SIGCONT)
        return role

    def _node(self) -> str:
        found = self.study.processes()
        jobs = sorted({command for role, command in found.values() if role == "watcher"})
        if not jobs:
            return ""
        job = self.rng.choice(jobs)
        which, _, bundle = job.rpartition(" ")
        whole = self.rng.random() < 0.3
        # all at once: who is stopped cannot see others die
        for number in (signal.SIGSTOP, signal.SIGKILL):
            for pid, (_, command) in found.items():
                if whole or f"bundle study.yaml {bundle}" in command:
                    with contextlib.suppress(ProcessLookupError):
                        os.kill(pid, number)
        self._pause(0.3, 0.3)
        left = self.study.processes().values()
        if which.endswith("bundle study.yaml") and not any(bundle in text for _, text in left):
            self._damage(self.study.folder / f"results/study/journal/{bundle}.jsonl")
        return "the run" if whole else "a job"

    def _damage(self, journal: Path) -> None:
        """Do to the end of a journal what a file system may that lost power."""
        with contextlib.suppress(OSError):
            content = journal.read_bytes()
            last = content[:-1].rfind(b"\n") + 1
            cut = self.rng.randrange(last, len(content)) if content else 0
            kind = self.rng.choice(["cut", "zeros", "half", "nothing"])
            if kind == "half":
                journal.write_bytes(content + content[last:cut])
            elif kind != "nothing" and content:
                tail = bytes(len(content) - cut) if kind == "zeros" else b""
                journal.write_bytes(content[:cut] + tail)
                for key in keys(content[last:]):
                    self.study.lost[key] += 1
                    self.study.seen.pop(key, None)

    def _disk(self) -> str:
        ballast = self.study.folder / "ballast"
        with contextlib.suppress(OSError), ballast.open("wb", buffering=0) as file:
            while True:
                file.write(bytes(1 << 16))
        self._pause(0.5, 5)
        ballast.unlink(missing_ok=True)
        return "all"

    def _late(self) -> str:
        published = sorted((self.study.folder / "results/study/rows").rglob("*.jsonl"))
        if not published:
            return ""
        path = self.rng.choice(published)
        away = self.study.folder / "away"
        with contextlib.suppress(OSError):
            path.rename(away)
            self._pause(0.5, 6)
            away.rename(path)
        return "a file"

    def _clock(self) -> str:
        files = [path for path in self.study.folder.glob("results/study/*/**/*") if path.is_file()]
        files += self.study.folder.glob("prepared/*/meta.json")
        for path in self.rng.sample(sorted(files), min(10, len(files))):
            then = time.time() + self.rng.choice([-DAY_S, DAY_S])
            with contextlib.suppress(OSError):
                os.utime(path, (then, then))
        return "files"

    def _pause(self, least: float, most: float) -> None:
        time.sleep(self.rng.uniform(least, most))
