"""What the workflow runs: one module a rule of `rules/`, and what these share."""
