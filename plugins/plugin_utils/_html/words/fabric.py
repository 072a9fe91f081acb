# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of the section on fabrics: key -> (English, Chinese)."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, tuple[str, str]] = {
    "fabric.title": ("Fabric", "网络结构"),
    "fabric.name": ("Fabric {name}", "网络结构 {name}"),
    "fabric.nobody": (
        "Nobody asked the fabric in this run, so its switches and cables are not shown. "
        "Next: playbooks/fabric.yml.",
        "本次运行没有查询网络结构，因此不显示交换机和线缆。下一步：playbooks/fabric.yml。",
    ),
    "fabric.unknown": ("The fabric is not known:", "网络结构未知："),
    "fabric.none": ("no fabric was found", "没有找到网络结构"),
    "fabric.skipped": ("Skipped:", "已跳过："),
    "fabric.asked": ("Asked of {asked}.", "由 {asked} 查询。"),
    "fabric.asked_nobody": ("Who was asked is not told.", "未说明由谁查询。"),
    "fabric.counts": (
        "{switches} switches, {adapters} adapters, {links} links, {wrong} of them not as they "
        "should be.",
        "{switches} 台交换机，{adapters} 个适配器，{links} 条链路，其中 {wrong} 条不正常。",
    ),
    "fabric.nothing": (
        "It told of no node, so there is nothing to draw.",
        "它没有报告任何节点，因此没有可绘制的内容。",
    ),
    "fabric.links": (
        "{n} link is not as it should be|{n} links are not as they should be",
        "{n} 条链路不正常",
    ),
    "fabric.state": ("State", "状态"),
    "fabric.link": ("Link", "链路"),
}
