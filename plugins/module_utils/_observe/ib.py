# SPDX-License-Identifier: GPL-3.0-or-later
"""Gather the InfiniBand facts of one host from its evidence, live or bundled."""

from __future__ import annotations

from ansible_collections.ibready.cluster.plugins.module_utils._evidence import (
    Evidence,
    Unavailable,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.ib import (
    IbFacts,
    SmAnswer,
    is_infiniband,
    port_name,
)
from ansible_collections.ibready.cluster.plugins.module_utils._facts.machine import Machine
from ansible_collections.ibready.cluster.plugins.module_utils._observe import sysfs_ib
from ansible_collections.ibready.cluster.plugins.module_utils._parse import ibstat, sminfo
from ansible_collections.ibready.cluster.plugins.module_utils._parse._text import (
    ParseError,
    clean_lines,
    is_warning,
    last_word,
)
from ansible_collections.ibready.cluster.plugins.module_utils._parse.ibstat import Ca

_NO_ANSWER = "failed: query"


def observe(evidence: Evidence, machine: Machine) -> IbFacts:
    """Ask ibstat, the kernel and, from every live InfiniBand port, the subnet manager."""
    cas, error_lines, ibstat_unknown = _ask_ibstat(evidence)
    sysfs, sysfs_unknown = _ask_kernel(evidence)
    return IbFacts(
        cas=cas,
        error_lines=error_lines,
        ibstat_unknown=ibstat_unknown,
        sysfs=sysfs,
        sysfs_unknown=sysfs_unknown,
        sm={
            port_name(ca, port): _ask_sm(evidence, ca.name, port.num)
            for ca in cas
            for port in ca.ports
            if is_infiniband(port) and port.state == "Active"
        },
    )


def _ask_ibstat(evidence: Evidence) -> tuple[tuple[Ca, ...], tuple[str, ...], str]:
    """Devices, complaints, and why nothing can be told; all empty where ibstat was silent."""
    try:
        output = evidence.run("ibstat")
    except Unavailable as exc:
        return (), (), str(exc)
    if not output.stdout.strip() and output.rc == 0 and not output.stderr.strip():
        return (), (), ""
    try:
        # No fact is ever taken from stderr; what it complains of counts.
        parsed = ibstat.parse(output.stdout if output.stdout.strip() else output.stderr)
    except ParseError as exc:
        return (), (), f"{exc} (exit status {output.rc})"
    if parsed.cas and not output.stdout.strip():
        return (), (), "ibstat: it printed devices to stderr only"
    errors = parsed.error_lines + (_complaints(output.stderr) if output.stdout.strip() else ())
    if output.rc != 0 and not errors:
        errors = (f"ibstat ended with status {output.rc}",)
    return parsed.cas, errors, ""


def _ask_kernel(evidence: Evidence) -> tuple[tuple[Ca, ...], str]:
    try:
        return sysfs_ib.read_cas(evidence), ""
    except (Unavailable, ParseError) as exc:
        return (), str(exc)


def _ask_sm(evidence: Evidence, device: str, port: int) -> SmAnswer:
    try:
        output = evidence.run("sminfo", "-C", device, "-P", str(port))
    except Unavailable as exc:
        return SmAnswer(unavailable=str(exc))
    try:
        parsed = sminfo.parse(output.stdout)
    except ParseError as exc:
        said = last_word(output.stdout, output.stderr) or str(exc)
        # "failed: query": it asked and nobody answered. Anything else: it could not ask.
        unheard = _NO_ANSWER in output.stdout or _NO_ANSWER in output.stderr
        return SmAnswer(error=said) if unheard else SmAnswer(unavailable=said)
    if output.rc != 0:
        return SmAnswer(
            error=f"sminfo ended with status {output.rc}: {last_word(output.stdout, output.stderr)}"
        )
    return SmAnswer(sm=parsed)


def _complaints(stderr: str) -> tuple[str, ...]:
    """Every line but ibwarn's, which the tools print when all is well, too."""
    lines = [line.strip() for line in clean_lines(stderr)]
    return tuple(line for line in lines if line and not is_warning(line))
