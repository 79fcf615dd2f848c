"""A page as a real browser shows it: its document after all scripts, and what it complained of."""

import contextlib
import functools
import html
import json
import os
import re
import shutil
import subprocess
import tempfile
import time
from pathlib import Path

import pytest

needs_browser = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed"
)
PLAIN = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-sync", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
]
OPTIONS = [*PLAIN, "--enable-logging=stderr", "--virtual-time-budget=20000"]


def shown(path, at="", script="", dark=False):
    """Open a page at an address behind #, run a script of the test, and return its document.

    Parameters
    ----------
    path : Path
    at : str
        Behind the # of the address.
    script : str
        Run two seconds after the page was loaded, as the body of an asynchronous function.
    dark : bool
    """
    if script:
        once = f"""<script>addEventListener("load", () => setTimeout(async () => {{
          {script}
        }}, 2000));</script></body>"""
        changed = path.with_name("changed.html")
        # Vega has a body of its own
        changed.write_text(once.join(path.read_text().rsplit("</body>", 1)))
        path = changed
    with tempfile.TemporaryDirectory() as profile:
        done = subprocess.run(
            [
                "chromium",
                *OPTIONS,
                f"--user-data-dir={profile}",
                f"--blink-settings=preferredColorScheme={0 if dark else 1}",
                "--dump-dom",
                f"{path.as_uri()}#{at}" if at else path.as_uri(),
            ],
            capture_output=True,
            text=True,
            timeout=300,
            check=True,
        )
    complaints = [line for line in done.stderr.splitlines() if "CONSOLE" in line]
    assert not complaints, complaints
    return re.sub(r"<script.*?</script>", "", done.stdout, flags=re.DOTALL)


def violations(path, dark=False):
    """Return what axe finds on a page that would keep a reader with other senses from using it.

    Parameters
    ----------
    path : Path
    dark : bool

    Returns
    -------
    list of str
        Impact, rule and the first element.
    """
    axe_core = pytest.importorskip("axe_core_python", reason="pip install '.[accessibility]'")
    axe = (Path(axe_core.__path__[0]) / "axe.min.js").read_text(encoding="utf-8")
    document = shown(
        path,
        script=f"""{axe}
          const found = await axe.run(document, {{preload: false, iframes: false}});
          document.body.append(Object.assign(document.createElement("pre"), {{
            id: "axe",
            textContent: JSON.stringify(found.violations.map(
              (rule) => `${{rule.impact}} ${{rule.id}}: ${{rule.nodes[0].html}}`)),
          }}));""",
        dark=dark,
    )
    return json.loads(
        html.unescape(re.search(r'<pre id="axe">(.*?)</pre>', document, re.DOTALL)[1])
    )


def opened(document):
    """Return the dialog that is open in a document, or fail."""
    found = re.search(r'<dialog id="drill"[^>]* open="".*?</dialog>', document, re.DOTALL)
    assert found, "no dialog is open"
    return found[0]


def wait_until(said):
    """Wait until something is so, for half a minute at most."""
    end = time.monotonic() + 30
    while not said():
        assert time.monotonic() < end, "it has not come so far"
        time.sleep(0.1)


@contextlib.contextmanager
def window(path):
    """Load a page in a window of 1,400 x 1,000 points that is painted, as `shown` is not.

    Yields
    ------
    callable
        Runs a script as the body of an asynchronous function, and returns what that returns. Its
        `order` gives the page an order of the DevTools protocol.
    """
    (theirs_in, ours_out), (ours_in, theirs_out) = os.pipe(), os.pipe()

    def wire():  # the browser reads its orders from descriptor 3, and answers on 4
        low, high = os.dup(theirs_in), os.dup(theirs_out)
        os.dup2(low, 3)
        os.dup2(high, 4)

    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as profile:
        browser = subprocess.Popen(
            [
                *("chromium", *PLAIN, "--remote-debugging-pipe", "--window-size=1400,1000"),
                *(f"--user-data-dir={profile}", "about:blank"),
            ],
            stderr=subprocess.DEVNULL,
            close_fds=False,
            preexec_fn=wire,
        )
        os.close(theirs_in)
        os.close(theirs_out)
        with os.fdopen(ours_in, "rb") as answers, os.fdopen(ours_out, "wb", 0) as orders:
            try:
                run = _script_runner(answers, orders, path.as_uri())
                wait_until(lambda: run("return document.readyState === 'complete'"))
                yield run
            finally:
                browser.kill()
                browser.wait()


def _script_runner(answers, orders, address):
    asked = iter(range(1, 10**6))

    def call(method, session=None, **params):
        number = next(asked)
        order = {"id": number, "method": method, "params": params}
        orders.write(
            json.dumps(order | ({"sessionId": session} if session else {})).encode() + b"\0"
        )
        while True:
            text = b""
            while not text.endswith(b"\0"):
                text += answers.read(1)
                assert text, "the browser has ended"
            answer = json.loads(text[:-1])
            if answer.get("id") == number:
                assert "error" not in answer, answer
                return answer["result"]

    targets = call("Target.getTargets")["targetInfos"]
    (page,) = (one for one in targets if one["type"] == "page")
    session = call("Target.attachToTarget", targetId=page["targetId"], flatten=True)["sessionId"]
    call("Page.navigate", session, url=address)

    def run(script):
        done = call(
            "Runtime.evaluate",
            session,
            expression=f"(async () => {{ {script} }})()",
            awaitPromise=True,
            returnByValue=True,
        )
        assert "exceptionDetails" not in done, done["exceptionDetails"]
        return done["result"].get("value")

    run.order = functools.partial(call, session=session)
    return run
