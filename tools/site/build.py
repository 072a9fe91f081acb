# SPDX-License-Identifier: GPL-3.0-or-later
"""Build the documentation as a site of static pages in dist/site, and look whether it is whole.

python -m tools.site.build
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import yaml

from tools.site import check, names, navigation

ROOT = Path(__file__).resolve().parents[2]
HOME = ROOT / ".cache/site"
SITE = ROOT / "dist/site"
PLUGINS = navigation.PLUGINS.partition("/")[0]
# What pages show, or offer to be taken along.
BESIDE = ("*.png", "*.json", "*.yml")


def run(*argv: str, **environment: str) -> None:
    """Run a program of this virtual environment, which finds the others, at the top of the checkout."""
    programs = Path(sys.executable).parent
    path = os.pathsep.join([str(programs), os.environ["PATH"]])
    done = subprocess.run([programs / argv[0], *argv[1:]], cwd=ROOT, env={**os.environ, "PATH": path, **environment})
    if done.returncode:
        sys.exit(f"site: {argv[0]} ended with status {done.returncode}: its lines above say why")


def lay_out(root: Path, source: Path) -> None:
    """Copy the pages to where Sphinx reads them, each where it is in the repository."""
    shutil.rmtree(source, ignore_errors=True)
    beside = [path for pattern in BESIDE for path in (root / "docs").rglob(pattern)]
    for path in [*(root / page for page in navigation.pages(root)), *beside]:
        copy = source / path.relative_to(root)
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(path, copy)
    (source / "index.rst").write_text(navigation.index(root), encoding="utf-8")


def document_plugins(root: Path, source: Path) -> None:
    """Have antsibull-docs write a page for each plugin and role."""
    galaxy = yaml.safe_load((root / "galaxy.yml").read_text(encoding="utf-8"))
    config = source / "antsibull-docs.cfg"
    config.write_text(
        f'collection_url = {{\n  * = "{galaxy["repository"]}"\n}}\n'
        "collection_install = {\n"
        f'  * = "ansible-galaxy collection install {{namespace}}-{{name}}-{galaxy["version"]}.tar.gz"\n}}\n'
    )
    # antsibull-docs takes no folder that others may write to.
    (source / PLUGINS).mkdir(mode=0o755)
    run(
        *("antsibull-docs", "--config-file", str(config), "collection", "--use-current", "--fail-on-error"),
        *("--squash-hierarchy", "--no-breadcrumbs", "--no-add-antsibull-docs-version"),
        *("--dest-dir", str(source / PLUGINS)),
        f"{galaxy['namespace']}.{galaxy['name']}",
        ANSIBLE_COLLECTIONS_PATH=str(root / "collections"),
    )


def link_back(root: Path, source: Path) -> None:
    """Have the page of each plugin name the pages that tell of it."""
    named = names.plugins(source / PLUGINS)
    for plugin, pages in names.told_in(source, navigation.pages(root), named).items():
        lines = ["", "Pages that mention it", "-" * 21, "", *(f"- :doc:`/{page}`" for page in pages), ""]
        with (source / f"{plugin}.rst").open("a", encoding="utf-8") as file:
            file.write("\n".join(lines))


def main() -> int:
    source = HOME / "source"
    lay_out(ROOT, source)
    document_plugins(ROOT, source)
    link_back(ROOT, source)
    shutil.rmtree(SITE, ignore_errors=True)
    run(
        *("sphinx-build", "--builder", "html", "--conf-dir", "tools/site", "--doctree-dir", str(HOME / "doctrees")),
        *("--fail-on-warning", "--keep-going", "--fresh-env", "--jobs", "auto", "--quiet", str(source), str(SITE)),
        PYTHONPATH=str(ROOT),
    )
    # The page that holds the navigation has no text; who opens the site reads the overview.
    shutil.copyfile(SITE / "README.html", SITE / "index.html")
    problems = check.problems(ROOT, SITE)
    for problem in problems:
        print(f"site: {problem}", file=sys.stderr)
    if problems:
        return 1
    print(f"{len([*SITE.rglob('*.html')])} pages: open {SITE.relative_to(ROOT)}/index.html in a browser")
    return 0


if __name__ == "__main__":
    sys.exit(main())
