"""What a command prints in a terminal of 80 columns."""

from click.testing import CliRunner

from harness.cli import main

WIDTH = 80
# Rich asks these; a dumb terminal gets no colours.
TERMINAL = {"TTY_COMPATIBLE": "1", "TERM": "dumb", "NO_COLOR": "1", "COLUMNS": str(WIDTH)}


def printed(*words):
    """Return what a command prints, a failure's message with its exit status."""
    done = CliRunner(env=TERMINAL).invoke(main, words)
    lines = [line.rstrip() for line in done.output.splitlines()]
    shown = "\n".join([f"$ harness {' '.join(words)}", *lines, ""])
    assert "Traceback" not in shown
    return shown if not done.exit_code else f"{shown}exit status {done.exit_code}\n"


def widest(shown):
    """Return the width of the widest line that a command printed."""
    return max(map(len, shown.splitlines()[1:]), default=0)
