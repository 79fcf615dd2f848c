"""`python -m harness.cli`, the same as `harness`."""

from harness.cli import main

main()
