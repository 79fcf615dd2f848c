"""Storage models of methods that come without one: measured, fitted, kept.

`study` says what a study's trials are, `design` which of them are measured, `measuring` runs them
in a process of its own, `kept` remembers what they held, `model` and `envelope` make a storage
model of it that plans, commands and the report use like a written one.
"""
