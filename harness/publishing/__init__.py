"""A study as one folder that others can read, cite and check, and the check of such a folder.

`folder` puts it together; `scrubbing` takes names of machines and paths out, `bundled_inputs`
brings study, catalog and plugins along, `citing` and `crate` describe it for people and programs.
`verifying` compares checksums and runs some of its rows again.
"""
