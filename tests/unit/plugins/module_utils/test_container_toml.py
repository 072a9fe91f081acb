# SPDX-License-Identifier: GPL-3.0-or-later
"""containerd's and podman's files; Python's own reader of TOML says what they mean."""

from __future__ import annotations

import copy
import json
import tomllib
from typing import Any

import pytest
from hypothesis import given, strategies as st

from ansible_collections.ibready.cluster.plugins.module_utils._act.container import containerd, podman, tomltext
from ansible_collections.ibready.cluster.plugins.module_utils._act.container.model import Desired, EngineError
from ansible_collections.ibready.cluster.plugins.module_utils._act.container.tomltext import Toml, TomlError

CONFIG = "/etc/containerd/config.toml"
CRI = "io.containerd.grpc.v1.cri"
DUMP = f"""\
disabled_plugins = []
version = 2

[plugins]

  [plugins."{CRI}"]
    cdi_spec_dirs = ["/etc/cdi", "/var/run/cdi"]
    enable_cdi = false
"""
# As Debian's package has it.
DEBIAN = f"""\
version = 2

[plugins]
  [plugins."{CRI}"]
    [plugins."{CRI}".cni]
      bin_dir = "/usr/lib/cni"
  [plugins."io.containerd.internal.v1.opt"]
    path = "/var/lib/containerd/opt"
"""
TEXTS = st.text(st.characters(exclude_categories=["Cs", "Cc"]), max_size=6)
VALUES = st.one_of(
    TEXTS.map(lambda one: json.dumps(one, ensure_ascii=False)),
    TEXTS.filter(lambda one: "'" not in one).map(lambda one: f"'{one}'"),
    st.integers(-(10**6), 10**6).map(str),
    st.sampled_from(
        [
            "true",
            "1.5e3",
            "0xff",
            "1979-05-27T07:32:00Z",
            "1979-05-27 07:32:00",
            '"""\n[not.a.table]\nx = 1 \\" \n"""',
            "'''\n# no comment\n'''",
            '[ # comment ]\n  "a",\n  [1, 2],\n]',
            '{ a = 1, b = { c = "}" } }',
            "[]",
        ]
    ),
)
KEYS = st.sampled_from(["a", "b-c", '"with.dot"', "'q'", '"# no"'])
COMMENTS = st.sampled_from(["", "  # why", " # [x]", "\n\n# enable_cdi = true"])


@st.composite
def tables(draw: st.DrawFn) -> str:
    """A file of format 2 with tables of the site, some of them of the CRI plugin."""
    text = "version = 2\n"
    names = draw(
        st.lists(
            st.sampled_from(
                [
                    "[grpc]",
                    "[plugins]",
                    f'[plugins."{CRI}"]',
                    f"[ plugins . '{CRI}' ]",
                    f'[plugins."{CRI}".registry]',
                    "[[list]]",
                ]
            ),
            unique_by=lambda name: name.replace(" ", "").replace("'", '"'),
        )
    )
    for name in ["", *names]:
        text += draw(st.sampled_from(["", "  "])) + name + (draw(COMMENTS) if name else "") + "\n"
        for key in draw(st.lists(KEYS, unique=True, max_size=3)):
            text += f"  {key}{draw(st.sampled_from(['=', ' = ']))}{draw(VALUES)}{draw(COMMENTS)}\n"
    return text if draw(st.booleans()) else text.rstrip("\n")


def plan(text: str | None, wish: Desired | None = None, **given: Any) -> Any:
    dump = tomltext.parse(given.get("dump", DUMP))
    record = given.get("record", {})
    return containerd.plan(CONFIG, text, dump, wish or Desired(), "1.7.24", record)


@given(tables())
def test_only_our_key_changes(text: str) -> None:
    before = tomllib.loads(text)
    made = plan(text)
    expected = copy.deepcopy(before)
    expected.setdefault("plugins", {}).setdefault(CRI, {})["enable_cdi"] = True
    assert tomllib.loads(made.after) == expected
    # Nothing of the text goes but for what comes in.
    assert made.after.replace(made.record["block"], "", 1) == text
    again = plan(made.after, dump=DUMP.replace("false", "true"), record=made.record)
    assert (again.changed, again.record) == (False, made.record)
    back = plan(made.after, Desired(cdi=False), record=made.record)
    assert back.after == text


@given(tables())
def test_every_key_is_found(text: str) -> None:
    found = tomltext.parse(text)
    for pair in found.pairs:
        assert found.text[pair.value : pair.value_end].strip()
    paths = {one.path for one in found.pairs}
    assert ("version",) in paths

    def leaves(tree: dict[str, Any], way: tuple[str, ...]) -> None:
        for key, one in tree.items():
            if isinstance(one, dict) and (*way, key) not in paths:
                leaves(one, (*way, key))
            elif not (isinstance(one, list) and key == "list"):
                assert (*way, key) in paths

    leaves(tomllib.loads(text), ())


@given(st.text(alphabet="[]{}\"'=.,# \n\tab1\\", max_size=30))
def test_foreign_text_is_read_or_refused_by_its_line(text: str) -> None:
    said = "line "
    try:
        tomltext.parse(text)
    except TomlError as exc:
        said = str(exc)
    assert said.startswith("line ")


def test_where_debian_has_the_table() -> None:
    made = plan(DEBIAN)
    assert f'[plugins."{CRI}"]\n    enable_cdi = true\n' in made.after


def test_a_value_of_the_site_gives_way_and_comes_back() -> None:
    text = DEBIAN.replace(f'"{CRI}"]\n', f'"{CRI}"]\n    enable_cdi = false # why\n', 1)
    made = plan(text)
    assert "enable_cdi = true # why" in made.after
    assert [(one.before, one.after) for one in made.overridden] == [("false", "true")]
    assert plan(made.after, Desired(cdi=False), record=made.record).after == text


def test_a_value_of_the_site_stays_without_consent() -> None:
    text = DEBIAN.replace(f'"{CRI}"]\n', f'"{CRI}"]\n    enable_cdi = false # why\n', 1)
    made = plan(text, Desired(replace=False))
    assert (made.after, made.overridden) == (text, [])
    assert "ibready_replace_settings_ok=true" in made.left["cdi"]
    # Where the site says nothing, ours comes.
    assert "enable_cdi = true" in plan(DEBIAN, Desired(replace=False)).after


def test_without_a_file_there_is_one_of_the_engines_format() -> None:
    made = plan(None)
    assert tomllib.loads(made.after) == {"version": 2, "plugins": {CRI: {"enable_cdi": True}}}
    assert plan(made.after, Desired(cdi=False), record=made.record).after is None


@pytest.mark.parametrize(
    ("version", "table"),
    [("", "cri"), ("version = 1\n", "cri"), ("version = 3\n", "io.containerd.cri.v1.runtime")],
)
def test_each_format_has_its_table(version: str, table: str) -> None:
    made = plan(f"{version}[grpc]\n")
    assert tomllib.loads(made.after)["plugins"] == {table: {"enable_cdi": True}}


@pytest.mark.parametrize(
    ("dump", "text", "left"),
    [
        pytest.param(DUMP.replace("[]", '["cri"]', 1), DEBIAN, "turned off", id="no CRI plugin"),
        pytest.param(DUMP.replace("enable_cdi", "x"), DEBIAN, "no enable_cdi", id="too old"),
        pytest.param(DUMP, "version = 9\n", "has format 9", id="a format to come"),
    ],
)
def test_what_cannot_be_is_told(dump: str, text: str, left: str) -> None:
    made = plan(text, dump=dump)
    assert left in made.left["cdi"]
    assert not made.changed


def test_what_is_on_already_is_left() -> None:
    assert not plan(DEBIAN, dump=DUMP.replace("false", "true")).changed


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("version = 2\nversion = 2\n", "line 2: the key version is there twice"),
        ("version 2\n", "line 1: neither a table nor `key = value`"),
        ("[a\n", "line 1: the name of a table does not end"),
        ('a = "x\n', "line 1: a string that does not end"),
        ("a = [1\n", "line 1: no ] for what begins here"),
        ("a = 1 b = 2\n", "line 1: 'b' behind the end of a value"),
        ('a = "\udcff"\n', "line 1: a byte that is no UTF-8"),
    ],
)
def test_what_is_no_toml_is_refused(text: str, told: str) -> None:
    with pytest.raises(TomlError) as caught:
        plan(text)
    assert told in str(caught.value)


def test_the_rest_of_a_dump_is_compared() -> None:
    def others(text: str) -> Any:
        return containerd.others(tomltext.parse(text))

    assert others(DUMP) == others(DUMP.replace("false", "true"))
    assert others(DUMP) != others(DUMP.replace("/etc/cdi", "/etc/other"))
    assert others(DUMP) == others('imports = ["x"]\n' + DUMP)


# podman

OURS = "/etc/containers/containers.conf.d/90-ibready.conf"


def conf(wish: Desired | None = None, **others: str) -> Any:
    places = {f"/etc/containers/containers.conf.d/{name}.conf": one for name, one in others.items()}
    return podman.plan(OURS, None, places, wish or Desired(shm_size="8g"))


def limits(made: Any) -> list[str]:
    found: list[str] = tomllib.loads(made.after)["containers"]["default_ulimits"]
    return found


def test_podman_gets_a_file_of_its_own() -> None:
    made = conf()
    assert limits(made) == ["memlock=-1:-1", "nofile=1048576:1048576"]
    assert tomllib.loads(made.after)["containers"]["shm_size"] == str(8 * 1024**3)
    assert not podman.plan(OURS, made.after, {}, Desired(shm_size="8g")).changed
    assert podman.plan(OURS, made.after, {}, Desired(None, None)).after is None


def test_other_limits_of_the_site_are_taken_along() -> None:
    site = '[containers]\ndefault_ulimits = ["nproc=5:6", "memlock=1:1"]\nshm_size = "1g"\n'
    made = podman.plan(OURS, None, {"/etc/containers/containers.conf": site}, Desired(shm_size="8g"))
    assert limits(made) == ["nproc=5:6", "memlock=-1:-1", "nofile=1048576:1048576"]
    assert [(one.key, one.before) for one in made.overridden] == [
        ("default_ulimits.memlock", "memlock=1:1"),
        ("shm_size", "1g"),
    ]


def test_limits_of_the_site_stay_without_consent() -> None:
    site = '[containers]\ndefault_ulimits = ["nproc=5:6", "memlock=1:1", "nofile=1048576:1048576"]\nshm_size = "1g"\n'
    made = podman.plan(OURS, None, {"/etc/containers/containers.conf": site}, Desired(shm_size="8g", replace=False))
    assert limits(made) == ["nproc=5:6", "memlock=1:1", "nofile=1048576:1048576"]
    assert "shm_size" not in tomllib.loads(made.after)["containers"]
    assert made.overridden == []
    assert set(made.left) == {"default_ulimits.memlock", "shm_size"}


def test_a_list_that_is_added_to_an_earlier_one() -> None:
    more = '[containers]\ndefault_ulimits = ["core=0:0", {append = true}]\n'
    made = conf(**{"10": '[containers]\ndefault_ulimits = ["nproc=5:6"]\n', "20": more})
    assert limits(made)[:2] == ["nproc=5:6", "core=0:0"]


def test_a_file_that_podman_reads_after_ours_is_named() -> None:
    made = conf(**{"99-site": '[containers]\nshm_size = "1g"\n'})
    assert made.left == {
        "shm_size": "/etc/containers/containers.conf.d/99-site.conf, which podman reads after ours, sets it"
    }


def test_a_file_of_the_site_that_cannot_be_read_is_named() -> None:
    with pytest.raises(EngineError) as caught:
        conf(**{"10-bad": "[containers\n"})
    assert "10-bad.conf: line 1: the name of a table does not end" in str(caught.value)


def test_a_table_means_what_python_says() -> None:
    text = 'a.b = 1\n[x."y.z".\'w\']\nc = "d"\n'
    found: Toml = tomltext.parse(text)
    assert [one.path for one in found.pairs] == [("a", "b"), ("x", "y.z", "w", "c")]
