# SPDX-License-Identifier: GPL-3.0-or-later
"""Words of the sections below the grid: key -> (English, Chinese)."""

from __future__ import annotations

from collections.abc import Mapping

WORDS: Mapping[str, tuple[str, str]] = {
    "rails.title": ("Rails", "轨道"),
    "rails.about": (
        "Every port that is a rail: its state, its rate in Gb/s and, of RoCE, the GID that jobs "
        "take. Ports that were set apart are not shown.",
        "每个作为轨道的端口：状态、速率（Gb/s），RoCE 端口还有作业使用的 GID。被排除的端口不显示。",
    ),
    "rails.ok": ("as it should be", "正常"),
    "rails.fail": ("a check failed", "有检查失败"),
    "rails.odd": ("unlike most equal hosts", "与多数同类主机不同"),
    "rails.unknown": ("could not be looked at", "无法检查"),
    "rails.none": ("not looked at", "未检查"),
    "rails.waived": ("failed, and waived", "失败，已豁免"),
    "rails.absent": ("no such port", "无此端口"),
    "rails.silent": ("no state told", "未报告状态"),
    "rails.unseen": (
        "{n} host of which no port is known:|{n} hosts of which no port is known:",
        "{n} 台主机的端口未知：",
    ),
    "rails.counts": (
        "{n} host, {rails} rails, {odd} with something odd.|"
        "{n} hosts, {rails} rails, {odd} with something odd.",
        "{n} 台主机，{rails} 条轨道，其中 {odd} 台有异常。",
    ),
    "rails.folded": (
        "A column for each host, a row for each rail. In the table below hosts whose ports are "
        "equal are one row, those with something wrong first.",
        "每台主机一列，每条轨道一行。下表中端口相同的主机合为一行，有问题的在前。",
    ),
    "rails.hosts": ("{n} host:|{n} hosts:", "{n} 台主机："),
    "rails.more_rails": (
        "{n} port more is not shown; the JSON report has it.|"
        "{n} ports more are not shown; the JSON report has them.",
        "另有 {n} 个端口未显示，见 JSON 报告。",
    ),
    "nvlink.title": ("NVLink", "NVLink 链路"),
    "nvlink.about": (
        "A row for each GPU, a column for each of its links; the number is that of hosts. Which "
        "NVSwitch a link leads to is not in the report.",
        "每个 GPU 一行，每条链路一列，数字是主机数。报告不含链路通向哪个 NVSwitch。",
    ),
    "nvlink.ok": ("up on so many hosts", "在这些主机上已连通"),
    "nvlink.fail": ("down on so many hosts", "在这些主机上断开"),
    "nvlink.odd": ("counts errors on so many hosts", "在这些主机上有错误计数"),
    "nvlink.unused": ("not used on so many hosts", "在这些主机上未使用"),
    "nvlink.none": ("no such link was told", "未报告此链路"),
    "nvlink.unseen": (
        "{n} host was not looked at:|{n} hosts were not looked at:",
        "{n} 台主机未检查：",
    ),
    "nvlink.without": (
        "{n} host without NVLinks to look at:|{n} hosts without NVLinks to look at:",
        "{n} 台主机没有可查看的 NVLink：",
    ),
    "nvlink.hosts": ("{n} host:|{n} hosts:", "{n} 台主机："),
    "nvlink.joined_by": ("Pairs of GPUs are joined by", "GPU 之间的连接："),
    "nvlink.gpu": ("GPU", "GPU 编号"),
    "nvlink.differs": ("What differs, and where", "差异及所在主机"),
    "nvlink.alike": (
        "Nothing differs between these hosts, and no link of theirs is down.",
        "这些主机之间没有差异，也没有断开的链路。",
    ),
    "nvlink.host": ("Host", "主机"),
    "nvlink.part": ("Part", "部件"),
    "nvlink.what": ("What", "内容"),
    "nvlink.seen": ("Seen", "实际"),
    "nvlink.usual": ("On most others", "多数主机"),
    "nvlink.down": ("links down", "链路断开"),
    "nvlink.fewer": ("fewer links up", "连通的链路较少"),
    "nvlink.missing": ("GPU not told", "未报告该 GPU"),
    "nvlink.joined": ("joined otherwise", "连接方式不同"),
    "nvlink.errors": ("errors counted", "有错误计数"),
    "nvlink.manager": ("fabric manager", "fabric manager 服务"),
    "nvlink.switch": ("NVSwitch complains", "NVSwitch 报错"),
    "counters.title": ("Error counters", "错误计数器"),
    "counters.about": (
        "{n} of {read} hosts have counted errors since their counters were cleared. A number "
        "proves nothing by itself: what rises does.",
        "{read} 台主机中有 {n} 台自计数器清零以来有错误。数值本身不说明问题，上升才说明问题。",
    ),
    "counters.usual": (
        "The link of most ports went down once; more than that is counted.|"
        "The link of most ports went down {n} times; more than that is counted.",
        "多数端口的链路断开过 {n} 次；超出的部分计入。",
    ),
    "counters.zero": (
        "No port of the {n} host whose counters were read has counted an error.|"
        "No port of the {n} hosts whose counters were read has counted an error.",
        "已读取计数器的 {n} 台主机都没有错误。",
    ),
    "counters.unread": (
        "{n} host with counters that could not be read:|"
        "{n} hosts with counters that could not be read:",
        "{n} 台主机的计数器无法读取：",
    ),
    "counters.none": (
        "The driver of {n} host shows no error counters.|"
        "The drivers of {n} hosts show no error counters.",
        "{n} 台主机的驱动不提供错误计数器。",
    ),
    "counters.rises": ("rises too fast, or the link went down", "上升过快，或链路曾断开"),
    "counters.no": ("none", "无"),
    "counters.to": ("to {n}", "至 {n}"),
    "counters.beyond": ("{n} and more", "{n} 及以上"),
    "counters.unknown": ("could not be read", "无法读取"),
    "stack.title": ("Versions", "版本"),
    "stack.about": (
        "What is installed on how many hosts. The checks of the fleet compare equal hosts.",
        "各版本安装在多少台主机上。由全体检查在同类主机之间比较。",
    ),
    "stack.component": ("Component", "组件"),
    "stack.version": ("Version", "版本"),
    "stack.count": ("Hosts", "主机数"),
    "stack.standing": ("Among its equals", "与同类相比"),
    "stack.which": ("Which", "哪些"),
    "stack.os": ("Operating system", "操作系统"),
    "stack.kernel": ("Kernel", "内核"),
    "stack.rdma": ("RDMA stack", "RDMA 软件栈"),
    "stack.firmware": ("HCA firmware", "HCA 固件"),
    "stack.driver": ("NVIDIA driver", "NVIDIA 驱动"),
    "stack.vbios": ("GPU VBIOS", "GPU VBIOS 固件"),
    "stack.fabric_manager": ("Fabric manager", "Fabric manager 服务"),
    "stack.nccl": ("NCCL", "NCCL 库"),
    "stack.container": ("Container runtime", "容器运行时"),
    "stack.bios": ("BIOS", "BIOS 固件"),
    "stack.usual": ("as most", "与多数一致"),
    "stack.odd": ("odd one out", "与多数不同"),
    "stack.split": ("they differ, no majority", "互不相同，无多数"),
    "stack.alone": ("not compared", "未比较"),
    "stack.absent": ("not compared", "未比较"),
    "stack.silent": ("the host did not tell", "主机未报告"),
    "stack.unseen": ("not looked at", "未检查"),
    "since.title": ("Since the last run", "与上次运行相比"),
    "since.error": ("Not compared:", "未比较："),
    "since.nothing": (
        "Nothing got better or worse since {created}.",
        "自 {created} 以来没有变化。",
    ),
    "since.counts": (
        "{n} differs since {created}. Checks: {worse} worse, {better} better, {gone} gone.|"
        "{n} differ since {created}. Checks: {worse} worse, {better} better, {gone} gone.",
        "自 {created} 以来 {n} 处不同。检查：{worse} 项变差，{better} 项变好，{gone} 项消失。",
    ),
    "since.gone_means": (
        "Gone is a failure that nobody looked for again, or could look for: nothing says that it "
        "is mended.",
        "消失是指没有再检查或无法再检查的失败：不代表已修复。",
    ),
    "since.host": ("Host or fabric", "主机或网络结构"),
    "since.before": ("Before", "之前"),
    "since.now": ("Now", "现在"),
    "since.what": ("Checks", "检查"),
    "since.same": ("as before", "与之前相同"),
    "since.worse": ("Worse:", "变差："),
    "since.better": ("Better:", "变好："),
    "since.gone": ("Gone:", "消失："),
    "changes.title": ("What this run changed", "本次运行的改动"),
    "changes.would": (
        "Check mode: this is what a run would have changed; nothing was.",
        "检查模式：以下是实际运行会做的改动；本次没有改动任何东西。",
    ),
    "changes.nothing": ("This run changed nothing.", "本次运行没有改动任何东西。"),
    "changes.counts": (
        "{tasks} tasks changed something on {n} host.|"
        "{tasks} tasks changed something on {n} hosts.",
        "{tasks} 个任务在 {n} 台主机上做了改动。",
    ),
    "changes.task": ("Task", "任务"),
    "changes.times": ("Times", "次数"),
    "changes.hosts": ("Hosts", "主机"),
    "plan.title": ("Plan", "计划"),
    "plan.nothing": ("The plan has no class.", "计划中没有类别。"),
    "plan.known": ("known to go together", "已知可配套"),
    "plan.allowed": ("breaks no rule", "不违反任何规则"),
    "plan.hosts": ("{n} host:|{n} hosts:", "{n} 台主机："),
    "plan.digest": ("Digest", "摘要"),
    "plan.part": ("Part", "部分"),
    "plan.version": ("There will be", "将安装"),
    "plan.because": ("Because:", "原因："),
    "waivers.title": ("Waivers", "豁免"),
    "waivers.counts": (
        "{used} used, {unused} not used, {expired} expired.",
        "{used} 项在用，{unused} 项未用到，{expired} 项已过期。",
    ),
    "waivers.about": (
        "A failure whose waiver has expired counts again. One that is not used was for no failure "
        "that this run saw: of hosts that it did not look at that says nothing.",
        "豁免过期后，失败重新计入。未用到表示本次运行没有看到对应的失败：对未检查的主机不说明任何问题。",
    ),
    "waivers.state": ("State", "状态"),
    "waivers.used": ("used", "在用"),
    "waivers.unused": ("not used", "未用到"),
    "waivers.expired": ("expired", "已过期"),
    "waivers.check": ("Check", "检查"),
    "waivers.host": ("Host", "主机"),
    "waivers.subject": ("Subject", "对象"),
    "waivers.until": ("Until", "截止"),
    "waivers.reason": ("Reason", "理由"),
    "benchmarks.title": ("Benchmarks", "性能测试"),
    "benchmarks.error": ("Not shown:", "未显示："),
    "benchmarks.about": (
        "Measured {created} on {n} host, not in this run.|"
        "Measured {created} on {n} hosts, not in this run.",
        "于 {created} 在 {n} 台主机上测得，不属于本次运行。",
    ),
    "benchmarks.unmeasured": (
        "{n} host was not measured:|{n} hosts were not measured:",
        "{n} 台主机未测量：",
    ),
    "tcp.title": ("TCP", "TCP 连接"),
    "tcp.counts": (
        "Connections: {good} came about, {bad} did not; not tried: {untested}.",
        "{good} 个连接成功，{bad} 个失败，{untested} 个未尝试。",
    ),
    "rdma.title": ("Data over RDMA", "RDMA 数据传输"),
    "rdma.counts": (
        "Tests: {good} moved data, {bad} did not; not tried: {untested}.",
        "{good} 项测试传输了数据，{bad} 项失败，{untested} 项未尝试。",
    ),
    "reach.from": ("From", "从"),
    "reach.to": ("To", "到"),
    "reach.tcp": ("Port", "端口"),
    "reach.rdma": ("Rail, place, test", "轨道、位置、测试"),
    "reach.outcome": ("Outcome", "结果"),
    "reach.said": ("What was said", "所报内容"),
    "reach.untested": ("Not tried", "未尝试"),
    "reach.culprit": ("Because of", "归因于"),
    "reach.why": ("Why", "原因"),
    "reach.count": ("How many", "数量"),
    "reach.ways": ("Which", "哪些"),
}
