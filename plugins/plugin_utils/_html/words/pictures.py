# SPDX-License-Identifier: GPL-3.0-or-later
"""Words in the pictures: key -> (English, Chinese)."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, tuple[str, str]] = {
    "picture.ok": ("as it should be", "正常"),
    "picture.slow": ("slower than both ends can", "低于两端能力"),
    "picture.errors": ("errors rise", "错误在增加"),
    "picture.miscabled": ("plugged in at the wrong place", "插错位置"),
    "picture.down": ("down", "断开"),
    "picture.unknown": ("not known", "未知"),
    "picture.no_cable": ("no cable", "无线缆"),
    "picture.port": ("port", "端口"),
    "picture.core": ("core", "核心"),
    "picture.spine": ("spines", "主干"),
    "picture.leaf": ("leaves", "叶"),
    "picture.leaf_rail": ("leaves of rail {rail}", "轨道 {rail} 的叶"),
    "picture.switches": ("{n} switch|{n} switches", "{n} 台交换机"),
    "picture.fabric": ("The fabric {name}", "网络结构 {name}"),
    "picture.by_leaf": ("The fabric {name} by leaf", "网络结构 {name}，按叶交换机"),
    "picture.by_port": (
        "Links of the fabric {name} by switch and port",
        "网络结构 {name} 的链路，按交换机和端口",
    ),
    "picture.sums": (
        "{hosts} hosts, {links} links. Not as they should be: {bad}",
        "{hosts} 台主机，{links} 条链路。不正常：{bad}",
    ),
    "picture.numbers": (
        "A number is the adapters on a leaf, or the links of another switch; the colour is the "
        "worst link's.",
        "数字是叶交换机上的适配器数，或其他交换机的链路数；颜色取最差的链路。",
    ),
    "picture.strangers": (
        "{n} adapter is of no host of the inventory.|{n} adapters are of no host of the inventory.",
        "{n} 个适配器不属于清单中的任何主机。",
    ),
    "picture.bundles": (
        "{n} pairs of switches are joined. Lines: the {shown} worst of {bad} with a link that is "
        "not well.",
        "{n} 对交换机相连。连线：有异常链路的 {bad} 对中最差的 {shown} 对。",
    ),
    "picture.signs": (
        "{n} of {all} cells that are not well have a sign and tell why.",
        "{all} 个异常格中有 {n} 个带符号并说明原因。",
    ),
    "picture.more_switches": (
        "{n} switches more are not drawn; those with bad links come first.",
        "另有 {n} 台交换机未绘制；链路异常的在前。",
    ),
    "picture.pings": (
        "Pings on rail {rail}: rows ask, columns are asked",
        "轨道 {rail} 的互通测试：行为发起方，列为应答方",
    ),
    "picture.answered": ("answered", "有应答"),
    "picture.answered_to": ("answered, to {ms} ms", "有应答，至 {ms} 毫秒"),
    "picture.some_lost": ("some lost", "部分丢失"),
    "picture.no_answer": ("a pair without answer", "有一对无应答"),
    "picture.untested": ("not tested", "未测试"),
    "picture.itself": ("itself", "自身"),
    "picture.rails": ("Rails of {name}", "{name} 的轨道"),
}
