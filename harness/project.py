"""Where the project's own files are: a checkout, of which the package `harness` is one folder."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
PLUGINS = ROOT / "plugins"
CATALOG = ROOT / "datasets.yaml"
TEMPLATES = ROOT / "reports"
PUBLISHED = TEMPLATES / "published"
