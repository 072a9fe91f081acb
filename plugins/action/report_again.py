# SPDX-License-Identifier: GPL-3.0-or-later
"""Render a kept run object again, and say what got better and worse since another.

Runs on the controller alone: all that it reads are files there.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from ansible.errors import AnsibleActionFail
from jinja2 import TemplateError

from ansible_collections.ibready.cluster.plugins.plugin_utils._hosts import summary
from ansible_collections.ibready.cluster.plugins.plugin_utils._run import compare, history, read
from ansible_collections.ibready.cluster.plugins.plugin_utils._site.site_action import SiteAction
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell import render_text, rendered
from ansible_collections.ibready.cluster.plugins.plugin_utils._tell.shown import show

# Facts are as the release that wrote them has them, and no schema is held against them.
_ODD = (AttributeError, IndexError, KeyError, TypeError, ValueError, TemplateError)


class ActionModule(SiteAction):
    """The whole of the module ``report_again``: there is nothing to do on a node."""

    trusted = False
    SPEC: ClassVar[dict[str, Any]] = {
        "folder": {"type": "path", "required": True},
        "run": {"type": "str", "default": ""},
        "since": {"type": "str", "default": ""},
        "formats": {
            "type": "list",
            "elements": "str",
            "choices": list(rendered.FORMATS),
            "default": list(rendered.FORMATS),
        },
        "fail_on": {"choices": list(summary.ACCEPTED), "default": "never"},
    }

    def act(self, args: dict[str, Any], variables: dict[str, Any]) -> dict[str, Any]:
        try:
            path, report = self._read(args)
            texts = rendered.render(report, args["formats"])
            shown = render_text.render(report)
            bad = summary.bad(report, summary.ACCEPTED[args["fail_on"]])
        except read.RunError as exc:
            raise AnsibleActionFail(str(exc)) from exc
        except _ODD as exc:
            raise AnsibleActionFail(
                f"the facts of a run object cannot be rendered ({exc!r}): it was written by "
                "another release, or by hand; next: name another run, or run verify.yml again"
            ) from exc
        show(self._display, shown)
        if args["since"]:
            show(self._display, render_text.since(report["since"]))
        try:
            paths = rendered.write(history.stem(path), texts)
        except OSError as exc:
            raise AnsibleActionFail(
                f"what was rendered was not written beside {path}: {exc}; next: copy the run "
                "object to a folder that can be written to, and name it there"
            ) from exc
        result: dict[str, Any] = dict(
            changed=False,
            run=str(path.resolve()),
            verdicts={name: host["verdict"] for name, host in report["hosts"].items()},
            since=report["since"],
            bad=bad,
            **paths,
        )
        if bad:
            result.update(failed=True, msg=" ".join(bad.values()))
        return result

    def _read(self, args: dict[str, Any]) -> tuple[Path, dict[str, Any]]:
        """Where the run object is, and what it holds; raises RunError."""
        folder = Path(args["folder"])
        path = folder / f"{rendered.NAME}{rendered.JSON}"
        if args["run"] and not args["run"].isdigit():
            path = Path(args["run"]).expanduser()
        elif args["run"] not in ("", "0"):
            path = history.find(folder, read.standing(path), args["run"], by="report_from")
        report = read.read(path)
        if args["since"]:
            before = read.standing(history.find(folder, report, args["since"], by="since"))
            report["since"] = compare.compare(before, report)
        return path, report
