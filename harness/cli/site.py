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
@click.option(
    "--report",
    "reports",
    multiple=True,
    type=click.Path(path_type=Path, exists=True, file_okay=False),
    help="A published folder, whose report is shown with its files. Repeat it for more.",
)
@click.pass_context
def site(context: click.Context, output: Path, reports: tuple[Path, ...]) -> None:
    """Build the site of all kept studies, in a checkout: pages that need no server.

    A link that leads nowhere is an error.
    """
    from harness.site.build import build_site

    main = context.find_root().command
    assert isinstance(main, click.Group)
    count = build_site(output, main, published=reports)
    click.echo(f"wrote {count} pages; open {output / 'index.html'}")


COMMANDS = (site,)
