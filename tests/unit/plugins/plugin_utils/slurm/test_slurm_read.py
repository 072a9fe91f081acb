# SPDX-License-Identifier: GPL-3.0-or-later
"""A topology.conf and a topology.yaml: read as Slurm reads them, refused as Slurm refuses them."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._ground.text import ParseError
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm import read, write
from ansible_collections.ibready.cluster.plugins.plugin_utils._slurm.model import BLOCK, TREE, Block, Switch, Topology

# Made up in the form of topology.conf(5).
TREE_CONF = """\
# comment
switchname=s0 Nodes=dev[0-1]   # more
SwitchName=s1 Nodes="dev[2-3]" LinkSpeed=4
SwitchName=s2 \\
  Switches=s[0-1]
"""


def test_a_tree_is_read() -> None:
    (found,) = read.conf(TREE_CONF)
    assert found.kind == TREE
    assert [(one.name, one.nodes, one.children, one.line) for one in found.switches] == [
        ("s0", ("dev0", "dev1"), (), 2),
        ("s1", ("dev2", "dev3"), (), 3),
        ("s2", (), ("s0", "s1"), 4),
    ]
    assert found.below()["s2"] == {"dev0", "dev1", "dev2", "dev3"}


@pytest.mark.parametrize(
    "text",
    [
        "SwitchName=s0 Nodes=a,\\\nb\n",
        "SwitchName=s0 Nodes=\\ # why\r\na,b\r\n",
        "Switch\\\nName=s0 Nodes=a,b",
        "SwitchName=s0 \\\n\\\nNodes=a,b\\",
    ],
)
def test_a_line_goes_on_after_its_backslash_without_a_blank(text: str) -> None:
    (found,) = read.conf(text)
    assert [(one.name, one.nodes, one.line) for one in found.switches] == [("s0", ("a", "b"), 1)]


def test_a_long_chain_of_switches_is_read_at_once() -> None:
    chain = "".join(f"SwitchName=s{at} Switches=s{at + 1}\n" for at in range(5000))
    (found,) = read.conf(chain + "SwitchName=s5000 Nodes=a\n")
    assert found.below()["s0"] == {"a"}


def test_blocks_are_read() -> None:
    (found,) = read.conf("BlockName=b1 Nodes=n[1-2]\nBlockName=b2 Nodes=n[3-4]\nBlockSizes=2,4\n")
    assert (found.kind, found.sizes) == (BLOCK, (2, 4))
    assert [(one.name, one.nodes) for one in found.blocks] == [("b1", ("n1", "n2")), ("b2", ("n3", "n4"))]


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "neither a switch nor a block"),
        ("# nothing\n", "neither a switch nor a block"),
        ("SwitchName=s0 Nodes=a\nfoo\n", "line 2 .*is no KEY=VALUE"),
        ("SwitchName=s0 Nodes=a b\n", "line 1 .*'b' is no KEY=VALUE"),
        ("SwitchName=s0 Hosts=a\n", "line 1 .*'hosts' is none of"),
        ("Include other.conf\n", "line 1 .*is no KEY=VALUE"),
        ("RingName=r Nodes=a\n", "line 1 .*neither SwitchName"),
        ("\nSwitchName=s0 Nodes=a[1-\n", "line 2 .*in no pair of brackets"),
        ("SwitchName=s0 Nodes=a\nSwitchName=s0 Nodes=b\n", "line 2 's0': a second one"),
        ("SwitchName=s0 Nodes=a Nodes=b\n", "line 1 .*Nodes twice"),
        ("SwitchName=s0 Nodes=a\nSwitchName=s1 Switches=s[0,2]\n", "line 2 's1': s2 is below it"),
        ("SwitchName=s0 Nodes=a\nSwitchName=s1 Switches=s0 Nodes=b\n", "line 2 's1': .*not both"),
        ("SwitchName=s0 Switches=s1\nSwitchName=s1 Switches=s0\n", "line 1 's0': it is below itself"),
        (
            "SwitchName=t Switches=s0\nSwitchName=s0 Switches=s[0-1]\nSwitchName=s1 Nodes=a\n",
            "line 2 's0': it is below",
        ),
        (f"SwitchName={'s' * 65} Nodes=a\n", "1 to 64 characters"),
        ("SwitchName=s0 Nodes=a\nBlockName=b Nodes=a\n", "switches and blocks in one file"),
        ("BlockName=b\n", "line 1 'b': a block without nodes"),
        ("BlockName=b Nodes=a\nBlockSizes=2,6\n", "line 2 .*6 is not 2 times a power of two"),
        ("BlockName=b Nodes=a\nBlockSizes=0\n", "line 2 .*a number from 1 on"),
        ("BlockName=b Nodes=a\nBlockSizes=1,65536\n", "line 2 .*65536 is not 1 times a power of two below"),
        ("SwitchName=s0 Nodes=a\\\nSwitches=s1\n", "line 1 .*'aSwitches=s1' is no name"),
        ("SwitchName=s0 Nodes=a, \\\n b\n", "line 1 .*'b' is no KEY=VALUE"),
        ("SwitchName=s0 Nodes=a\nSwitchName=s\\#1 Nodes=b\n", "line 2 .*a backslash"),
        ("SwitchName=s0 Nodes=a \\# b\nSwitches=s1\n", "line 1 .*a backslash"),
        ("SwitchName=s0 Nodes=a\\\\\nSwitches=s1\n", "line 1 .*a backslash"),
        ("SwitchName=s0\0 Nodes=a\n", "line 1 .*a NUL"),
        ("\ufeffSwitchName=s0 Nodes=a\n", "line 1 .*is no KEY=VALUE"),
        ("SwitchName=s0 Nodes=a\u00a0\n", "line 1 .*is no name"),
        ("SwitchName=s0 Nodes+=a\n", "line 1 .*is no KEY=VALUE"),
    ],
)
def test_what_slurm_refuses_names_its_line(text: str, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        read.conf(text)


# The example of topology.yaml(5), shortened.
YAML = """\
- topology: topo1
  cluster_default: True
  tree:
    switches:
    - switch: sw_root
      children: s[1-2]
    - switch: s1
      nodes: node[01-02]
    - switch: s2
      nodes: node[03-04]
- topology: topo2
  cluster_default: False
  block:
    block_sizes:
      - 2
      - 4
    blocks:
    - block: b1
      nodes: node[01-02]
    - block: b2
      nodes: node[03-04]
- topology: topo3
  cluster_default: False
  flat: True
"""


def test_every_topology_of_a_yaml_is_read() -> None:
    tree, blocks, flat = read.yml(YAML)
    assert (tree.name, tree.kind, tree.below()["sw_root"]) == ("topo1", TREE, {"node01", "node02", "node03", "node04"})
    assert [one.line for one in tree.switches] == [5, 7, 9]
    assert (blocks.kind, blocks.sizes, [one.nodes[0] for one in blocks.blocks]) == (BLOCK, (2, 4), ["node01", "node03"])
    assert (flat.kind, flat.switches) == ("flat", ())


@pytest.mark.parametrize(
    ("text", "says"),
    [
        ("", "there is no topology in it"),
        ("[]", "there is no topology in it"),
        ("a: [", "no YAML"),
        ("- &a {topology: t, flat: *a}\n", "an alias"),
        ("topology: t\n", "line 1: a list is needed|line 1 '': a list is needed"),
        ("- topology: t\n", "line 1 .*a topology has a name and one of"),
        ("- topology: t\n  tree: {switches: []}\n  flat: true\n", "a name and one of"),
        ("- topology: t\n  tree:\n    switch: a\n", "line 3 'switch': 'switch' is none of switches"),
        ("- topology: t\n  tree: {}\n", "line 2 .*no switches in it"),
        ("- topology: t\n  tree:\n    switches:\n    - switch: a\n      nodes: [b]\n", "line 5 .*a text is needed"),
        ("- topology: t\n  tree:\n    switches:\n    - switch: a\n      children: b\n", "line 4 'a': b is below it"),
        ("- topology: t\n  flat: true\n- topology: t\n  flat: true\n", "topology t twice"),
    ],
)
def test_a_yaml_that_is_none_names_its_line(text: str, says: str) -> None:
    with pytest.raises(ParseError, match=says):
        read.yml(text)


NAMES = st.lists(st.integers(0, 300).map("node{}".format), min_size=1, max_size=30, unique=True)


@st.composite
def trees(draw: st.DrawFn) -> Topology:
    """Leaves with nodes, and switches above those that no other is above yet."""
    nodes = draw(NAMES)
    cuts = draw(st.integers(1, min(6, len(nodes))))
    switches = [Switch(f"leaf{at + 1}", tuple(nodes[at::cuts])) for at in range(cuts)]
    free = [switch.name for switch in switches]
    while len(free) > 1 and draw(st.booleans()):
        take = draw(st.integers(1, len(free)))
        switches.append(
            Switch(f"spine{len(switches)}", (), tuple(free[:take]), 0, draw(st.sampled_from(["", "two: # of it"])))
        )
        free = [*free[take:], switches[-1].name]
    return Topology(TREE, "tree", tuple(switches))


@st.composite
def blocks(draw: st.DrawFn) -> Topology:
    nodes = draw(NAMES)
    cuts = draw(st.integers(1, min(6, len(nodes))))
    least = len(nodes) // cuts
    made = tuple(Block(f"block{at + 1}", tuple(nodes[at::cuts])) for at in range(cuts))
    return Topology(BLOCK, "block", (), made, (least, 2 * least))


def plain(topology: Topology, name: str) -> Topology:
    """Without lines, comments and the order of names in a list, which mean nothing to Slurm."""
    return replace(
        topology,
        name=name,
        switches=tuple(
            Switch(one.name, tuple(sorted(one.nodes)), tuple(sorted(one.children))) for one in topology.switches
        ),
        blocks=tuple(Block(one.name, tuple(sorted(one.nodes))) for one in topology.blocks),
    )


@given(st.one_of(trees(), blocks()))
def test_what_was_written_is_read_as_the_same(topology: Topology) -> None:
    (found,) = read.conf(write.conf(topology))
    assert plain(found, "") == plain(topology, "")


@given(trees(), blocks())
def test_what_was_written_as_yaml_is_read_as_the_same(tree: Topology, block: Topology) -> None:
    assert [plain(one, one.kind) for one in read.yml(write.yml([tree, block]))] == [
        plain(tree, TREE),
        plain(block, BLOCK),
    ]


@given(st.text(alphabet='SwitchNamesodeBlk=[0-9],\n# \\"', max_size=120))
def test_foreign_text_is_read_or_refused(text: str) -> None:
    for parse in (read.conf, read.yml):
        try:
            found = parse(text)
        except ParseError:
            continue
        assert found
