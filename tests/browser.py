"""A page as a real browser shows it: its document after all scripts, and what it complained of."""

import html
import json
import re
import shutil
import subprocess
import tempfile
from pathlib import Path

import pytest

needs_browser = pytest.mark.skipif(
    shutil.which("chromium") is None, reason="chromium is not installed"
)
OPTIONS = [
    *("--headless", "--no-sandbox", "--disable-gpu", "--disable-sync", "--no-first-run"),
    *("--disable-background-networking", "--disable-component-update"),
    *("--enable-logging=stderr", "--virtual-time-budget=20000"),
]


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
