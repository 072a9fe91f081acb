# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of the section on pings: key -> (English, Chinese)."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, tuple[str, str]] = {
    "pings.title": ("Pings", "互通测试"),
    "pings.rail": ("Pings on rail {rail}", "轨道 {rail} 的互通测试"),
    "pings.nobody": (
        "No pings were planned in this run, so no matrix is shown.",
        "本次运行没有安排互通测试，因此不显示矩阵。",
    ),
    "pings.odd": ("The matrix of this rail cannot be read.", "该轨道的矩阵无法读取。"),
    "pings.each_host": ("A row and a column for each host.", "每台主机一行一列。"),
    "pings.each_leaf": ("A row and a column for each leaf switch.", "每台叶交换机一行一列。"),
    "pings.each_group": ("A row and a column for each group of hosts.", "每组主机一行一列。"),
    "pings.tested": (
        "{tested} of {every} pairs were tested, {bad} of them lost pings. Darker is slower.",
        "共 {every} 对，测试了 {tested} 对，其中 {bad} 对有丢失。颜色越深越慢。",
    ),
    "pings.single": ("{n} ping|All {n} pings", "全部 {n} 次测试"),
    "pings.few": (
        "Of {every} pings, {n} in which something is wrong or missing; the JSON report has all.",
        "共 {every} 次测试，这里是其中有问题或缺失的 {n} 次；JSON 报告中有全部。",
    ),
    "pings.from": ("From", "从"),
    "pings.to": ("To", "到"),
    "pings.port": ("Rail", "轨道"),
    "pings.answered": ("Answered", "应答"),
    "pings.mean": ("Mean ms", "平均毫秒"),
    "pings.longest": ("Longest ms", "最长毫秒"),
    "pings.why": ("Not tested because", "未测试的原因"),
    "pings.untested": ("untested", "未测试"),
    "pings.of": ("{n} of {sent}", "{n} / {sent}"),
}
