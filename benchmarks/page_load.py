"""CPU seconds of Chromium until a page is loaded and painted, less those for an empty page.

`python benchmarks/page_load.py results/quickstart/report.html`. All its processes count.
`python benchmarks/records.py --folder DIR` makes studies whose pages are large.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import tempfile
import time
from pathlib import Path

REPEATS = 5
TICKS = os.sysconf("SC_CLK_TCK")
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-sync", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update", "--window-size=1400,1000"),
]


def main() -> None:
    """Print a line for each page: its bytes, and the least and the most seconds."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("pages", nargs="+", type=Path)
    pages = parser.parse_args().pages
    empty = min(loaded("about:blank") for _ in range(REPEATS))
    print(f"an empty page: {empty:.2f} s\n      MB   least s   most s  page")
    for page in pages:
        seconds = [loaded(page.absolute().as_uri()) - empty for _ in range(REPEATS)]
        size = page.stat().st_size / 1e6
        print(f"{size:8.1f}  {min(seconds):8.2f} {max(seconds):8.2f}  {page}", flush=True)


def loaded(address: str) -> float:
    """Return the CPU seconds of a browser that takes a picture of a page, and ends."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        picture = f"--screenshot={folder}/picture.png"
        command = ["chromium", *OPTIONS, f"--user-data-dir={folder}/profile", picture, address]
        browser = subprocess.Popen(command, start_new_session=True, stderr=subprocess.DEVNULL)
        ticks: dict[str, int] = {}
        while browser.poll() is None:
            ticks |= session_ticks(browser.pid)
            time.sleep(0.02)
    return sum(ticks.values()) / TICKS


def session_ticks(session: int) -> dict[str, int]:
    """Return what each process of a session has had of a CPU so far."""
    found = {}
    for process in Path("/proc").glob("[0-9]*"):
        try:
            fields = (process / "stat").read_text().rsplit(")", 1)[1].split()
        except OSError:  # it has ended
            continue
        if int(fields[3]) == session:
            found[process.name] = int(fields[11]) + int(fields[12])
    return found


if __name__ == "__main__":
    main()
