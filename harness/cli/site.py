"""The site of all kept studies: what fits, who leads, methods, data sets, papers, manual."""

from __future__ import annotations

from pathlib import Path

import click


@click.command()
@click.option(
    "-o",
    "--output",
    type=click.Path(path_type=Path),
    default="site",
    show_default=True,
    help="The folder that it is written to.",
)
@click.pass_context
def site(context: click.Context, output: Path) -> None:
    """Build the site of all kept studies, in a checkout: pages that need no server.

    A link that leads nowhere is an error.
    """
    from harness.site.build import build_site

    main = context.find_root().command
    assert isinstance(main, click.Group)
    count = build_site(output, main)
    click.echo(f"wrote {count} pages; open {output / 'index.html'}")


COMMANDS = (site,)
