# SPDX-License-Identifier: GPL-3.0-or-later
"""Texts that hold a secret, made of parts: its name, how it is joined, the value, what is around.

No text is written out here, so that masks are held to the parts and not to examples.
"""

from __future__ import annotations

import base64
import json
import shlex
import string
from typing import NamedTuple

from hypothesis import strategies as st

# Names by their words; they are joined and spelt in every way below.
WORDS = [
    *(("password",), ("passwd",), ("pass",), ("pwd",), ("secret",), ("token",), ("jwt",)),
    *(("passphrase",), ("pass", "phrase"), ("pass", "code"), ("psk",), ("pre", "shared", "key")),
    *(("api", "key"), ("private", "key"), ("access", "key"), ("ssh", "key"), ("secret", "key")),
    *(("auth", "key"), ("session", "key"), ("luks", "key"), ("encryption", "key")),
    *(("credential",), ("credentials",), ("cred",), ("auth",), ("community",), ("authorization",)),
    *(("signing", "key"), ("pwds",), ("authtok",)),
    *(("client", "secret"), ("auth", "token"), ("aws", "secret", "access", "key"), ("cookie",)),
]
BEFORE = ["", "", "x", "db", "bmc", "ipmi", "my", "rd.iscsi", "proxy", "admin", "ldap-bind"]
AFTER = ["", "", "1", "2"]
JOINTS = ["_", "-", ".", ""]
CASES = ["lower", "upper", "camel", "pascal"]
# What may stand before and after on the same line, and must not change what is masked.
LEFT = [
    "",
    "    ",
    "# ",
    "// ",
    "export ",
    "set ",
    "quiet iommu=pt ",
    "[   12.345678] app: ",
    "a, ",
]
PLAIN = string.ascii_letters + string.digits
ODD = PLAIN + "!#$%^*()_+-=[]{}|:,.?/~@äß密é\u00a0"


class Reported(NamedTuple):
    """A text with a secret in it; ``parts``: what of that must not be found in the masked text."""

    text: str
    parts: tuple[str, ...]


def _parts(value: str) -> tuple[str, ...]:
    """Pieces of a value that are in no text by chance."""
    pieces = [one for one in value.replace("\n", " ").replace('"', " ").split() if len(one) > 3]
    return tuple(pieces or [value])


@st.composite
def names(draw: st.DrawFn, *, spaced: bool = False) -> str:
    words = list(draw(st.sampled_from(WORDS)))
    before, after = draw(st.sampled_from(BEFORE)), draw(st.sampled_from(AFTER))
    joint = draw(st.sampled_from([*JOINTS, " "] if spaced else JOINTS))
    case = draw(st.sampled_from(CASES))
    name = joint.join(words)
    if case == "upper":
        name = name.upper()
    elif case in ("camel", "pascal") and joint == "":
        name = "".join(one.capitalize() for one in words)
        name = name if case == "pascal" or before else name[0].lower() + name[1:]
    edge = {" ": "_", "": "" if case in ("camel", "pascal") else "_"}.get(joint, joint)
    return f"{before}{edge if before else ''}{name}{edge if after else ''}{after}"


MARK = "Zq7"


def values(alphabet: str, *, blanks: bool = False) -> st.SearchStrategy[str]:
    """Words that begin and end with what no mask and no context holds."""
    word = st.text(alphabet, max_size=12).map(lambda text: f"{MARK}{text}{MARK}")
    long = st.sampled_from([64, 400]).map(lambda size: MARK * (size // 3))
    encoded = st.binary(min_size=6, max_size=48).map(lambda data: MARK + base64.b64encode(data).decode())
    single = st.one_of(word, word, long, encoded)
    return st.lists(single, min_size=2, max_size=4).map(" ".join) if blanks else single


def _assigned(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(names(spaced=True))
    sign = draw(st.sampled_from(["=", " = ", "  = ", ": ", ":", " : ", ":=", " => ", "=\t"]))
    blanks = sign not in ("=", ":", ":=")
    value = draw(values(ODD, blanks=blanks and draw(st.booleans())))
    return f"{name}{sign}{value}", value


def _quoted(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(names(spaced=True))
    sign = draw(st.sampled_from(["=", " = ", ": ", ":", " : ", " => "]))
    value = draw(values(ODD + "'<>;&`\\\"", blanks=draw(st.booleans())))
    quote = draw(st.sampled_from(['"', "'"]))
    inner = value.replace("\\", "\\\\").replace(quote, "\\" + quote)
    return f"{name}{sign}{quote}{inner}{quote}", value


def _whole(draw: st.DrawFn) -> tuple[str, str]:
    """systemd and shells quote "NAME=a value" as a whole."""
    name, value = draw(names()), draw(values(ODD, blanks=True))
    quote = draw(st.sampled_from(['"', "'"]))
    return f"Environment=A=1 {quote}{name}={value}{quote} B=2", value


def _shell(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(ODD + " '\"\\&;<>", blanks=True))
    how = draw(st.sampled_from(["{0}={1}", "--{0}={1}", "--{0} {1}", "-{0} {1}", "env {0}={1} x"]))
    return how.format(draw(names()), shlex.quote(value)), value


def _json(draw: st.DrawFn) -> tuple[str, str]:
    name = draw(names(spaced=True))
    value = draw(values(ODD + "\"'\\<>&;", blanks=draw(st.booleans())))
    seen = draw(
        st.sampled_from(
            [
                {name: value, "port": 5},
                {"a": {"b": [{name: value}]}},
                {"name": name, "value": value},
                {name: [value, value]},
                ["--" + name.replace(" ", "-"), value],
            ]
        )
    )
    made = json.dumps(
        seen,
        ensure_ascii=draw(st.booleans()),
        indent=draw(st.sampled_from([None, None, 2])),
        separators=draw(st.sampled_from([None, (",", ":")])),
    )
    return (json.dumps({"said": made}) if draw(st.booleans()) else made), value


def _number(draw: st.DrawFn) -> tuple[str, str]:
    number = draw(st.integers(10**9, 10**14))
    return json.dumps({draw(names()): number, "port": 5}), str(number)


def _xml(draw: st.DrawFn) -> tuple[str, str]:
    name, value = draw(names()), draw(values(ODD + "\"'", blanks=draw(st.booleans())))
    attribute = value.replace('"', "&quot;")
    made = draw(
        st.sampled_from(
            [
                f"<{name}>{value}</{name}>",
                f"<a:{name} type='x'>{value}</a:{name}>",
                f"<{name}><![CDATA[{value}]]></{name}>",
                f'<user {name}="{attribute}" />',
                f'<entry key="{name}" value="{attribute}"/>',
                f'<entry key="{name}">{value}</entry>',
                f"<name>{name}</name>\n  <value>{value}</value>",
            ]
        )
    )
    return made, value


def _yaml(draw: st.DrawFn) -> tuple[str, str]:
    name, value = draw(names()), draw(values(ODD, blanks=draw(st.booleans())))
    made = draw(
        st.sampled_from(
            [
                f"{name}: |\n  {value}\n  {value}\nport: 5",
                f"  {name}: >-\n    {value}\n  port: 5",
                f"{name}:\n  {value}\nport: 5",
                f"{name}:\n  - {value}\n  - {value}\nport: 5",
                f"{name}:\n- {value}\nport: 5",
                f"- name: {name}\n  value: {value}",
                f"{{user: x, {name}: {value}, port: 5}}",
            ]
        )
    )
    return made, value


def _address(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "!$%^*()_+-=:,.@/äß"))
    scheme = draw(st.sampled_from(["http", "https", "ftp", "redis", "git+https", "postgresql"]))
    who = draw(st.sampled_from(["user:", ":", ""]))
    value = value.replace("/", "") if not who else value
    return f'proxy "{scheme}://{who}{value}@192.0.2.1:3128/x";', value


def _header(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "+/=._-"))
    name = draw(st.sampled_from(["Authorization", "proxy-authorization", "X-Api-Key", "Cookie"]))
    scheme = draw(st.sampled_from(["Bearer ", "Basic ", "Token ", "", "AWS4 a=b, c="]))
    made = f"{name}: {scheme}{value}"
    return draw(st.sampled_from([made, f"-H '{made}' x", f'-H "{made}" x'])), value


def _query(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "%-_."))
    return f"GET https://host/a?x=1&{draw(names())}={value}&y=2", value


def _pem(draw: st.DrawFn) -> tuple[str, str]:
    kind = draw(st.sampled_from(["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "]))
    lines = draw(st.lists(st.text(PLAIN + "+/", min_size=40, max_size=64), min_size=2, max_size=5))
    end = draw(st.sampled_from(["\n", "\r\n", "\\n"]))
    body = end.join([f"-----BEGIN {kind}PRIVATE KEY-----", *lines])
    return f"{body}{end}-----END {kind}PRIVATE KEY-----", " ".join(lines)


def _environ(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(ODD + "\"'\n", blanks=True))
    return f"A=1\0{draw(names())}={value}\0B=2", value


def _kernel(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "!$%-_.:/"))
    made = draw(
        st.sampled_from(
            [
                f"netroot=iscsi:user:{value}@192.0.2.1::3260::iqn.x",
                f"netroot=iscsi:user:{value}:r:{value}@192.0.2.1",
                f"rd.luks.key={value}",
                f"rd.iscsi.in.password={value}",
                f"ds=nocloud;s=http://u:{value}@192.0.2.1/",
            ]
        )
    )
    return made, value


def _setting(draw: st.DrawFn) -> tuple[str, str]:
    """Files in which a blank is what joins."""
    value = draw(values(PLAIN + "!$%-_.:/"))
    name = draw(
        st.sampled_from(["password", "requirepass", "bindpw", "rootpw", "rocommunity", "set password", "secret"])
    )
    key = draw(st.sampled_from(["m_key", "sa_key", "SM_Key", "M_Key"]))
    number = f"0x{draw(st.integers(1 << 40, (1 << 64) - 1)):016x}"
    return draw(
        st.sampled_from(
            [
                (f"{name} {value}", value),
                (f"machine h login me password {value}", value),
                (f"{key} {number}", number),
                (f"{key}................{number}", number),
                (f"{key}={number}", number),
                (f"{key}: {number}", number),
            ]
        )
    )


def _by_look(draw: st.DrawFn) -> tuple[str, str]:
    """What is named by nothing, but looks like nothing else."""
    word = draw(st.text(PLAIN, min_size=30, max_size=60))
    upper = draw(st.text(string.ascii_uppercase + string.digits, min_size=16, max_size=16))
    maker = draw(st.sampled_from(["ghp_", "glpat-", "hf_", "nvapi-", "github_pat_", "xoxb-"]))
    value = draw(
        st.sampled_from(
            [
                *(f"{maker}{word}", f"AKIA{upper}", f"eyJ{word}.eyJ{word}.{word}"),
                *(f"$6$salt$./{word}", f"$y$j9T$ab$./{word}", f"$2b$12${word}"),
            ]
        )
    )
    return f"app said {value} today", value


def _bracketed(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "+/=._-"))
    scheme = draw(st.sampled_from(["Bearer ", "Basic ", "a, ", ""]))
    opened, closed = draw(st.sampled_from(["[]", "()", "{}"]))
    return f"{draw(names())}={opened}{scheme}{value}{closed} and more", value


def _encoded(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "._-"))
    sign = draw(st.sampled_from(["%3D", "%3A", "%3d", "%22%3A%22", "%22%3A%20%22", "%27%3A%27"]))
    return f"GET https://host/a?next=b%3F{draw(names())}{sign}{value}", value


def _flow(draw: st.DrawFn) -> tuple[str, str]:
    value = draw(values(PLAIN + "+/=._"))
    name = draw(names())
    return draw(st.sampled_from([f"args: [--{name}, {value}]", f"args: [run, -{name}, {value}, x]"])), value


def _program(draw: st.DrawFn) -> tuple[str, str]:
    """What is no name, but an option of a program that everybody knows."""
    value = draw(values(PLAIN + "!%_.:/"))
    said = [
        *(
            "mysql -u root -p{0} db",
            "mysqldump -h h -p'{0}' db",
            "mariadb-admin -p{0} status",
            "redis-cli -h h -a {0} ping",
        ),
        *(
            "docker login -u me -p {0} registry.example",
            "podman --log-level=debug login -p={0} r",
            "helm registry login r -p {0}",
        ),
        *("echo root:{0} | sudo /usr/sbin/chpasswd", "echo {0}|sudo --stdin ls", "echo '{0}' | tee x | sudo -S id"),
        *("echo {0} | kinit admin", "sudo -S ls <<< '{0}'", "chpasswd <<< root:{0}", "ldapcompare -w {0} -x"),
        *("curl -sSu a:{0} https://h/", "curl -u a:b --proxy-user c:{0} https://h/"),
        *(
            "snmpwalk -v3 -A x -x AES -X {0} h",
            "echo {0} | sudo -S true",
            "printf '{0}' | docker login --password-stdin r",
            "echo 'root:{0}' |chpasswd",
        ),
        *(
            "sshpass -p {0} ssh h",
            "curl -u me:{0} https://h/",
            "ldapsearch -x -D cn=a -w {0} -b dc=b",
            "lftp -u me,{0} h",
        ),
        *("smbclient //h/s -U me%{0}", "snmpwalk -v2c -c {0} h", "snmpget -v3 -A {0} h", "xfreerdp /u:me /p:{0} /v:h"),
    ]
    return draw(st.sampled_from(said)).format(value), value


def _hashed(draw: st.DrawFn) -> tuple[str, str]:
    value = MARK + draw(st.text(PLAIN + "./", min_size=20, max_size=60))
    kinds = [
        "{{SSHA}}{0}",
        "{{SHA512}}{0}==",
        "{{SMD5}}{0}",
        "{{CRYPT}}{0}",
        "$apr1$ab$.{0}",
        "$argon2id$v=19$m=6,t=3$ab${0}",
    ]
    return f"said {draw(st.sampled_from(kinds)).format(value)}", value


def _webhook(draw: st.DrawFn) -> tuple[str, str]:
    value = MARK + draw(st.text(PLAIN + "-_", min_size=20, max_size=60))
    where = [
        *("hooks.slack.com/services/T0/B0/{0}", "discord.com/api/webhooks/123/{0}", "hooks.example.com/{0}"),
        *("x.webhook.office.com/webhookb2/{0}@a/b", "api.telegram.org/bot123456789:{0}/send", "host/a?b=c&sig={0}"),
        "host/a?key={0}&b=c",
    ]
    return f"posted to https://{draw(st.sampled_from(where))} today".format(value), value


def _named_alone(draw: st.DrawFn) -> tuple[str, str]:
    """A name that a blank joins, on a line of its own."""
    value = draw(values(PLAIN + "!$%_.:/"))
    names_ = [
        *("apikey", "api-key", "preshared-key", "pre-shared-key", "ike psk", "StoragePass", "DbdPass", "authtok"),
        *("PAT=", "ldap_default_authtok =", "signing_key =", "SIGNING-KEY=", "pwds="),
    ]
    return f"{draw(st.sampled_from(names_))} {value}".replace("= ", "="), value


SHAPES = {
    one.__name__.strip("_"): one
    for one in (
        *(_assigned, _quoted, _whole, _shell, _json, _number, _xml, _yaml, _address, _header),
        *(_query, _pem, _environ, _kernel, _setting, _by_look),
        *(_bracketed, _encoded, _flow, _program, _hashed, _webhook, _named_alone),
    )
}
# These end their line, or are a file of their own.
ALONE = ("setting", "yaml", "environ", "named_alone")


@st.composite
def told(draw: st.DrawFn, kind: str) -> Reported:
    """A text of some lines with one secret in it."""
    text, value = SHAPES[kind](draw)
    if kind not in ALONE:
        text = draw(st.sampled_from(LEFT)) + text
    end = draw(st.sampled_from(["\n", "\r\n"]))
    if kind in ("yaml", "pem"):
        text = text.replace("\r\n", "\n").replace("\n", end)
    if kind != "environ":
        lines = ["Node GUID: 0xa088c20300e3142a", text, "iommu=pt", ""]
        text = draw(st.sampled_from([text, end.join(lines)]))
    return Reported(text, _parts(value))
