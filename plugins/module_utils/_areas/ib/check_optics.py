# SPDX-License-Identifier: GPL-3.0-or-later
"""Judge bit errors and the cable's module, as mlxlink shows them."""

from __future__ import annotations

from typing import Iterator

from ..._data.ib_counters import RAW_BER, RESIDUAL_BER
from ..._expect.expectations import CAPABILITY
from ..._ground.check import Cause, Check, failed, passed, skipped, unknown
from ..._ground.look import look
from ..._ground.reading import Reading
from ..._parse.mlxlink import Measured, Mlxlink
from ..._rails.ib import Pair
from ..._rails.ib_ports import IbFacts, port_name
from . import link_advice
from .fold import fold

_CHECKS = ("ib.port.ber", "ib.port.optics")
# The firmware shows 15E-255 where it has counted no error.
_NONE = 1e-40


def judge_optics(facts: IbFacts, ports: list[Pair]) -> Iterator[Check]:
    """ib.port.ber and ib.port.optics of these ports, where mlxlink is installed."""
    checks: list[Check] = []
    for ca, port in ports:
        name = port_name(ca, port)
        seen = facts.detail(name).optics
        if seen.value is None and seen.missing:
            why = "mlxlink, which is optional, is not installed"
            if "not installed" not in seen.why:
                why = seen.why
            if facts.simulated:
                why = f"simulated node: {facts.simulated}"
            checks += [skipped(check_id, name, why) for check_id in _CHECKS]
        else:
            checks += _port(name, seen)
    yield from fold(checks, "ports")


def _port(name: str, seen: Reading[Mlxlink]) -> list[Check]:
    return [
        look("ib.port.ber", name, seen, lambda entry: _ber(name, entry)),
        look("ib.port.optics", name, seen, lambda entry: _optics(name, entry)),
    ]


def _ber(name: str, seen: Mlxlink) -> Check:
    """Errors that are left after correction first: these are what the applications meet."""
    residual = seen.symbol_ber if seen.symbol_ber is not None else seen.effective_ber
    expected = f"residual at most {RESIDUAL_BER:g}, raw at most {RAW_BER:g}"
    shown = ", ".join(
        f"{word} {value:.0e}" if value > _NONE else f"{word} none"
        for word, value in (("residual", residual), ("raw", seen.raw_ber))
        if value is not None
    )
    said = link_advice.of(seen)
    if (residual or 0.0) > RESIDUAL_BER:
        cause: str = "errors are left after correction: the cable, the transceiver or dirt"
    elif (seen.raw_ber or 0.0) > RAW_BER:
        cause = "the signal is so bad that correction is near its end: the cable, transceiver, dirt"
    elif said is not None:
        shown += f"; mlxlink says: {seen.recommendation}"
        cause = said
    elif seen.raw_ber is None:
        why = "mlxlink showed no raw bit error rate, which comes last: its output may be cut"
        return unknown("ib.port.ber", name, why, observed=shown)
    else:
        return passed("ib.port.ber", name, shown, expected, CAPABILITY)
    return failed("ib.port.ber", name, shown, expected, CAPABILITY, cause=cause)


def _optics(name: str, seen: Mlxlink) -> Check:
    """The module's own limits and fault flags; copper has neither."""
    if not seen.module and not seen.faults:
        why = f"no optics: {seen.cable}" if seen.cable else "the cable's module shows no values"
        return skipped("ib.port.optics", name, why)
    expected = "within the module's own limits"
    wrong = [*seen.faults, *(_outside(entry, _lanes(seen)) for entry in seen.module)]
    wrong = [entry for entry in wrong if entry]
    if wrong:
        observed = "; ".join(wrong)
        return failed("ib.port.optics", name, observed, expected, CAPABILITY, cause=_why(wrong))
    shown = ", ".join(f"{entry.name} {entry.values[0]:g}" for entry in seen.module if entry.values)
    return passed("ib.port.optics", name, shown, expected, CAPABILITY)


def _lanes(seen: Mlxlink) -> int:
    """How many lanes carry the link: a split cable leaves the others dark."""
    digits = seen.width.lower().rstrip("x")
    return int(digits) if digits.isdecimal() and digits.isascii() and len(digits) < 3 else 64


def _outside(measured: Measured, lanes: int) -> str:
    for value in sorted(measured.values, reverse=True)[:lanes]:
        if measured.low is not None and value < measured.low:
            return f"{measured.name} {value:g} below {measured.low:g}"
        if measured.high is not None and value > measured.high:
            return f"{measured.name} {value:g} above {measured.high:g}"
    return ""


def _why(wrong: list[str]) -> str:
    text = " ".join(wrong)
    if "Rx power" in text or "Rx LOS" in text:
        return "too little light arrives: dirt, a bent fibre, or the other end's transmitter"
    if "Tx power" in text or "Tx Fault" in text or "bias" in text:
        return Cause("the transceiver's own laser fails", "swap the transceiver; cleaning the fibre mends no laser")
    if "temperature" in text:
        return Cause(
            "the transceiver runs outside its temperature: airflow or a failing fan",
            "leave the cable; look at fans and air flow, and at the modules beside it (`mlxlink -d DEVICE -m`); swap "
            "it only where the others are cool",
        )
    return ""
