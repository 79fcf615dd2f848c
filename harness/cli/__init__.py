"""What a person types: `harness` and its commands, a module a kind."""

from harness.cli.main import main

__all__ = ["main"]
