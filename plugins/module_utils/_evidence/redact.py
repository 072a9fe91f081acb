# SPDX-License-Identifier: GPL-3.0-or-later
"""Keep secrets out of bundles and reports: logs and command lines may carry passwords.

Masked is what is named like a secret, however name and value are joined, logins in addresses, and
what looks like nothing but a secret. In doubt more is masked, to the end of the word or line. No
expression here looks at a text more often than once: a hostile line has megabytes.
"""

from __future__ import annotations

import functools
import json
import re
from typing import Any, Mapping

# What is in a name of a secret. Counts of tokens are none: tokens=4096.
_LONG = (
    r"passw(?:or)?d|pass[-_. ]?(?:phrase|code|key)|secret(?:[-_. ]key)?|credential|jwt"
    # What NCCL's ranks know each other by.
    r"|nccl_(?:psk|socket_magic)"
    r"|authorization|token(?!i[sz]|(?:s|[-_]?(?:count|limit))[\"']?(?:[ \t]{0,64}[=:][ \t]{0,64}|\t)"
    r"[0-9]{1,9}(?![\w.-]))"
    r"|(?:api|ssh|priv(?:ate)?|access|auth|account|(?:pre)?shared|encryption|master|session|storage"
    r"|deploy|licen[cs]e|luks|wep|wpa|hmac|munge)[-_. ]?key"
    # That of modules is told by its path.
    r"|sign(?:ing)?[-_. ]?key(?![\"']?[ \t]{0,8}[=:][ \t]{0,8}[\"']?/)"
)
# These are parts of other words, too: bypass, author.
_SHORT = (
    r"(?:(?<!by)(?<!com)(?<!tres)(?<!sur)(?<!over)(?<!under)pass|pwds?|psk|auth(?:tok)?|creds?|community"
    # In the kernel's log PAT is a table, and sig= a processor's.
    r"|cookie|(?<![a-z])pat(?=[\"']|[ \t]?=|%3d)|(?<=[?&])(?:sig|key)(?==)"
    r"|(?<![a-z])(?:root|bind|user|admin|db)?pw)(?![a-z])(?:[-_.]?[0-9]{1,3})?"
)
_NAME = rf"(?:(?:{_LONG})[\w.-]{{0,40}}|{_SHORT})"
# passwd:amd64 is a package of Debian.
_ARCH = r"(?:all|any|amd64|arm64|i386)(?![\w.-])"
_QUOTE = r"\\{0,8}[\"']"
_SPACE = r"(?:\s|\\{1,8}[nrt])"
_HEAD = re.compile(
    rf"(?P<name>{_NAME})(?P<closed>{_QUOTE})?\]?(?:"
    # %3D and %3A are signs, %22 and %27 quotes, where an address is in an address.
    rf"(?P<before>[ \t]{{0,64}})(?P<sign>=>|:=|=|:(?!{_ARCH})|(?:%2[27])?(?:%20)?%3[ad])(?P<gap>[ \t]{{0,64}})"
    # name: PASSWORD, value: x
    rf"|(?P<pair>(?:[,;]|{_SPACE}){_SPACE}{{0,64}}(?:{_QUOTE})?value(?:{_QUOTE})?"
    r"[ \t]{0,64}[:=][ \t]{0,64})"
    # ["--password", "x"], ("password", "x")
    rf"|(?P<next>,{_SPACE}{{0,64}}(?={_QUOTE}))"
    # [--password, x]
    r"|(?P<flow>,[ \t]{0,64}(?![\s\"'\\-]))"
    r"|(?P<blank>[ \t]{1,64}(?:\\\r?\n[ \t]{0,64})?))",
    re.IGNORECASE,
)
# How a name begins, and how where "key" is in the text: one without such words is not looked at again.
_BEGINS = "pass pwd psk secret cred jwt token nccl_ auth communit cookie pat sig pw rootpw bindpw userpw adminpw dbpw"
_BEGINS_KEY = (
    "key api ssh priv access account preshared shared encryption master session storage deploy licen luks wep wpa hmac"
    " munge"
)
# Letters that are equal to i, s and k where case does not matter.
_EQUAL = {0x130: "i", 0x131: "i", 0x17F: "s", 0x212A: "k"}
# "password x" is a setting where it begins its line, and so named; else it is prose.
_BEGIN = re.compile(r"[ \t#;/*]*(?:(?:export|set|setenv|ike|.*\blogin[ \t]+\S+)[ \t]+)?")
_SETTING = re.compile(
    r"(?:[\w.-]*[_.-])?(?:passw(?:or)?d|passphrase|secret|token|psk|_pass|(?:storage|dbd|bind|root)pass|authtok"
    r"|api[-_]?key|(?:pre[-_]?)?shared[-_]key)"
    r"|(?P<sure>requirepass|masterauth|(?:bind|root)pw|r[ow]community)",
    re.IGNORECASE,
)
_ALONE = re.compile(r"(?:\"[^\"\r\n]*\"|'[^'\r\n]*'|[^\s\"']\S*)[ \t]*(?:[\r\n]|\Z)")
_NEAR = 512

_OPEN = re.compile(_QUOTE)
_EDGE = re.compile(r"(\\*)([\"'])|[\r\n\0]")
_PLAIN = re.compile(r"[^ \t\r\n\v\f\0\"'\\]+|\\[^\r\n\0]|\\")
_AFTER = " \t\r\n\0,;:)}]>|&"
_LINE = re.compile(r"[\r\n\0]|\Z")
_FLOW = re.compile(r"[,\]\r\n\0]|\Z")
_BRACKETS = {"[": "]", "(": ")", "{": "}"}
_MARK = re.compile(r"([|>]?)[-+0-9]{0,2}[ \t]*(?=[\r\n]|\Z)")
_SCHEME = re.compile(r"(?:bearer|basic|digest|token|negotiate|ntlm)[ \t]{1,8}", re.IGNORECASE)
_ITEM = re.compile(rf"{_QUOTE}|\]")
# What JSON has without quotes; a name that follows an empty value; what YAML writes below a name.
_BARE = re.compile(r"(?:(null|true|false|\{)|[0-9.eE+-]+)(?=[\s,}\]]|\Z|(?<=\{))")
_ANOTHER = re.compile(r"[\w.-]+=[^=\s]")
_BELOW = re.compile(r"\r?\n([ \t]*)([^\r\n]*)")
_KEYED = re.compile(r"[\w.\"'-]+[ \t]*:(?:\s|\Z)")
MASK = "[masked]"

_PEM = re.compile(r"(-{4,5} ?BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY[A-Z ]{0,10}-{4,5})[^-]*(?:-(?!---)[^-]*)*")
_ADDRESS = re.compile(r"(://|\biscsi:(?!//))([^\s\"'<>\0]+)")
_USER = re.compile(r"[a-z]{1,16}:")
_XML = re.compile(
    rf"(<[^<>]{{0,256}}?{_NAME}[^<>]{{0,256}}>|{_NAME}</\w{{1,32}}>\s{{0,64}}<\w{{1,32}}>)"
    r"(?!\s)(?:<!\[CDATA\[(?:(?!\]\]>)[\s\S]){0,16384}(?:\]\]>)?|[^<]+(?=</))",
    re.IGNORECASE,
)
# Programs (a word that they have), and the options that a secret follows; _BETWEEN: blanks or = may stand before it.
_BETWEEN = r"[ \t=]*"
_PROGRAMS = (
    ("sshpass|ipmitool", r"sshpass|ipmitool", rf"-[pP]{_BETWEEN}"),
    ("curl", r"curl", rf"(?:-[A-Za-z]{{0,6}}[uU]|--user|--proxy-user){_BETWEEN}"),
    ("mysql|mariadb", r"(?:mysql|mariadb)(?:-?(?:dump|admin|import|check))?", r"-p(?=[^\s,;|&)\]-])"),
    (
        "login",
        r"(?:docker|podman|nerdctl|helm|buildah|skopeo|oras|crane)[ \t][^\n|;&]{0,40}?\blogin",
        rf"-p{_BETWEEN}",
    ),
    ("redis-cli", r"redis-cli", rf"-a{_BETWEEN}"),
    ("mongo", r"mongo(?:sh|dump|restore)?", rf"-p{_BETWEEN}"),
    ("ldap", r"ldap\w{3,8}", rf"-w{_BETWEEN}"),
    ("smbclient|rpcclient|lftp", r"(?:smbclient|rpcclient|lftp)", rf"-[uU]{_BETWEEN}"),
    ("snmp", r"snmp(?:b?walk|b?get|bulkwalk|bulkget|getnext|set|table|trap)", rf"-[cAX]{_BETWEEN}"),
    ("xfreerdp", r"xfreerdp", r"/p:"),
)
# Who reads a secret from what is piped into it.
_READS = (
    r"(?:(?:sudo|doas|env)\b(?:[ \t]{1,8}-\w{1,16}){0,4}[ \t]{1,8})?"
    r"(?:/[\w./-]{1,64}/)?(?:chpasswd|passwd|cryptsetup|kinit)\b"
    r"|sudo\b[^\n|]{0,80}[ \t](?:-\w{0,8}S\b|--stdin\b)"
    r"|[^\n|]{0,120}--(?:password|passphrase|token)[\w-]{0,16}stdin"
)
_PIPED = re.compile(rf"\|[ \t]{{0,8}}(?:{_READS})")
_SAYS = re.compile(r"\b(?:echo|printf)[ \t]{1,8}")
# To its end, as a shell reads it.
_WORD = r"(?:\"[^\"\n]*\"|'[^'\n]*'|\S)+"
# Each is tried in texts that have one of the words, in lower case.
_SHAPES = (
    # Keys of a subnet's managers; 0 is none. To the end of the word: what is masked ends no word anew.
    (
        "_key|mkey",
        r"(?i)(\b(?:(?:m|sm|sa|vs|cc|n2n|am)_key|mkey(?=:?\.))[\"' \t:=.]{1,64})"
        r"(?!0x0*\b|0\b)(?:0x[0-9a-f]|[0-9])\w*",
    ),
    # A variable in a list of settings that were found: name, value, file, line.
    # NCCL's own words: `NCCL_PSK set by environment to x`, `NCCL_SOCKET_MAGIC invalid value "x"`.
    (" set | invalid ", rf"(?i)({_NAME} (?:set (?:by environment )?to|invalid value) )\S+"),
    ("set\t", rf"(?i)((?:\A|\n)set\t[\w.-]{{0,80}}?{_NAME}\t)[^\t\n]+"),
    ("bearer|basic", r"(?i)(\b(?:bearer|basic)[ \t]{1,8})[\w.~+/-]{16,}={0,2}"),
    # Who has such an address may post there.
    (
        "http",
        r"(https?://(?:hooks\.[^\s/\"'<>]{1,100}/(?:services/)?"
        r"|[^\s/\"'<>]{1,100}/(?:[\w.-]{1,40}/){0,4}(?:webhooks?|webhookb2)/|[^\s/\"'<>]{1,100}/bot(?=[0-9]{6,12}:)))"
        r"[^\s\"'<>]{8,}",
    ),
    # Keys and tokens of well-known makers, and hashes of passwords.
    (
        "akia|asia|ghp_|gho_|ghs_|ghu_|ghr_|github_pat_|glpat-|xox|hf_|nvapi-|sk-|aiza|eyj",
        r"()(?<![\w-])(?:(?:AKIA|ASIA)[0-9A-Z]{16}[\w-]*|(?:gh[opsur]_|github_pat_|glpat-|xox[abeprs]-|hf_"
        r"|nvapi-|sk-|AIza)[\w-]{20,}|eyJ[\w-]{10,}\.[\w-]{10,}\.?[\w-]*)",
    ),
    ("$", r"()\$(?:[1567y]|2[abxy]|gy|apr1|argon2(?:id?|d)|scrypt|pbkdf2[\w-]{0,16})\$[./\w$=,+-]{8,}"),
    ("}", r"(\{(?:S?SHA(?:[-_]?(?:256|384|512))?|S?MD5|CRYPT|PBKDF2[\w-]{0,16}|ARGON2)\})[\w+/=$.,-]{8,}"),
    # What is piped into it, as a word: `sudo -S ls <<< x`.
    ("<<<", rf"((?:(?<![\w.-])(?:{_READS}))[^\n]{{0,120}}?<<<[ \t]{{0,8}})((?:\"[^\"\n]*\"|'[^'\n]*'|\S)+)"),
)

_COMMANDS = [
    (
        words,
        re.compile(rf"\b(?:{program})\b[^\n]*"),
        re.compile(rf"\b(?:{program})\b|(?P<option>[ \t]{option})(?P<word>{_WORD})"),
    )
    for words, program, option in _PROGRAMS
]
_FAR = 200


def masked(text: str) -> str:
    """The text with what is secret in it masked; masked again, it is the same."""
    text = _ADDRESS.sub(_login, _PEM.sub(rf"\1{MASK}", text))
    low = _low(text)
    if "</" in low or "<![" in low:
        text = _XML.sub(rf"\1{MASK}", text)
    for words, shape in _SHAPES:
        if any(word in low for word in words.split("|")):
            text = re.sub(shape, rf"\1{MASK}", text)
    for words, line, options in _COMMANDS:
        if any(word in low for word in words.split("|")):
            text = line.sub(functools.partial(_options, line, options), text)
    return _masked(_piped(text), MASK)


def _low(text: str) -> str:
    """The text in lower case, place by place: to look for words in it costs a hundredth of an expression."""
    return (text if text.isascii() else text.translate(_EQUAL)).lower()


def _places(text: str) -> list[int]:
    """Where the name of a secret may begin."""
    low = _low(text)
    found = set()
    for word in (f"{_BEGINS} {_BEGINS_KEY}" if "key" in low else _BEGINS).split():
        at = low.find(word)
        while at >= 0:
            found.add(at)
            at = low.find(word, at + 1)
    return sorted(found)


def _options(line: re.Pattern[str], words: re.Pattern[str], command: re.Match[str]) -> str:
    """A command line with the word after each such option masked; far behind, they are another command's."""
    near = 0

    def shown(found: re.Match[str]) -> str:
        nonlocal near
        if found["option"] is None:
            said = found[0]
        elif found.start() - near <= _FAR:
            said = f"{found['option']}{MASK}"
        else:
            # Nothing of this program; its words may begin one anew.
            return found["option"] + line.sub(functools.partial(_options, line, words), found["word"])
        near = found.end()
        return said

    return words.sub(shown, command[0])


def masked_values(value: Any, key: str) -> Any:
    """The same JSON with what is secret in it masked, by itself or for the name above it."""
    if isinstance(value, Mapping):
        return {str(name): masked_values(inner, str(name)) for name, inner in value.items()}
    if isinstance(value, (list, tuple)):
        return [masked_values(inner, key) for inner in value]
    if value is None or isinstance(value, bool):
        return value
    try:
        return json.loads(masked(json.dumps({key: value})))[key]
    except (ValueError, KeyError, TypeError):
        return MASK  # no JSON any more: something in it was masked


def masked_bytes(data: bytes) -> bytes:
    """The same for a file in whatever encoding; what holds a zero byte is no text and stays."""
    if b"\0" in data:
        return data
    return masked(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _login(found: re.Match[str]) -> str:
    rest = found[2]
    host = re.split("[/?#]", rest, maxsplit=1)[0]
    at = rest.rfind("@")
    if at < 1 or not ("@" in host or ":" in host):
        return found[0]
    # A name alone, or what is no word, may be a token.
    user = _USER.match(rest)
    return f"{found[1]}{user[0] if user else ''}{MASK}{rest[at:]}"


def _piped(text: str) -> str:
    """The text without what a shell says into the pipe of a program that reads a secret from there."""
    reported: list[str] = []
    done = looked = 0
    for pipe in _PIPED.finditer(text):
        end = pipe.start()
        near = max(done, looked, end - 16 * _NEAR)
        looked = end - 16  # Up to here nobody says anything, but for a word that begins just before.
        says = _SAYS.search(text, max(near, text.rfind("\n", near, end) + 1), end)
        if says:
            said = text[says.end() : end]
            reported += text[done : says.end()], MASK, said[len(said.rstrip()) :]
            done = end
    return "".join([*reported, text[done:]])


def _masked(text: str, mask: str) -> str:
    """The text with ``mask`` in the place of the values of secrets; quotes around them stay."""
    reported: list[str] = []
    done = at = 0
    for place in _places(text):
        head = _HEAD.match(text, place) if place >= at else None
        if head:
            begin = head.end()
            end, shown = _value(text, head, done, mask)
            if end > begin:
                reported += text[done:begin], shown
                done = end
            at = max(begin, end)
    return "".join([*reported, text[done:]])


def _value(text: str, head: re.Match[str], done: int, mask: str) -> tuple[int, str]:
    """Where the value that begins after ``head`` ends, and what is shown in its place."""
    begin, start = head.end(), head.start()
    while start > done and (text[start - 1].isalnum() or text[start - 1] in "_.-"):
        start -= 1
    if not _is_joined(text, head, start, mask):
        return begin, ""
    if head["sign"] and not head["closed"]:
        before = text[start - 1 : start] if start > done else ""
        if before == "\0" or (start == 0 and "\0" in text):
            # As environments are kept.
            end = text.find("\0", begin)
            return (end if end >= 0 else len(text)), mask
        if before and before in "\"'":
            # "NAME=a value with blanks"
            at = start - 1
            while at > done and text[at - 1] == "\\":
                at -= 1
            return _closing(text, begin, text[at:start])[0], mask
    quote = _OPEN.match(text, begin)
    if quote:
        whole = head["closed"] or len(quote[0]) > 1
        end = _closing(text, quote.end(), quote[0])[1] if whole else _word(text, begin)
        return end, f"{quote[0]}{mask}{quote[0]}"
    if head["closed"]:
        bare = _BARE.match(text, begin)
        if bare and bare[1]:
            return begin, ""
        end = bare.end() if bare else _array(text, begin, mask)
        if end > begin:
            return end, f"{head['closed']}{mask}{head['closed']}"
    listed = _MARK.match(text, begin) if head["sign"] == ":" else None
    if listed:
        return _below(text, listed, start, mask)
    if head["flow"]:
        end = _FLOW.search(text, begin + len(mask) * text.startswith(mask, begin)).start()  # type: ignore[union-attr]
    elif not (head["pair"] or head["before"] or head["gap"]):
        end = max(_word(text, begin), _bracket(text, begin, mask))
    elif head["sign"] == "=" and head["gap"] == " " and not head["before"] and _ANOTHER.match(text, begin):
        return begin, ""
    else:
        end = _LINE.search(text, begin).start()  # type: ignore[union-attr]
    return min(end, _inside(text, begin)), mask


def _is_joined(text: str, head: re.Match[str], start: int, mask: str) -> bool:
    """Whether what follows the name that begins at ``start`` is its value, and no prose."""
    begin = head.end()
    if head["next"]:
        return text[start] == "-" or text[max(start - 2, 0) : start - 1] in ("(", "[")
    if head["flow"]:
        line = _line(text, start)
        return text[start] == "-" and text.rfind("[", line, start) > text.rfind("]", line, start)
    if not head["blank"]:
        return True
    if text[start] == "-":
        return text[begin : begin + 1] != "-"
    named = _SETTING.fullmatch(text, start, head.end("name"))
    alone = _ALONE.match(text, begin)
    if not named or not (named["sure"] or (alone and mask not in alone[0])):
        return False
    return _BEGIN.fullmatch(text, _line(text, start), start) is not None


def _closing(text: str, at: int, quote: str, limit: int | None = None, *, shell: bool = False) -> tuple[int, int]:
    """Where the quote that closes ``quote`` begins and ends; the end of the line without one.

    ``shell``: between single quotes a backslash is a character like others.
    """
    escapes = len(quote) - 1
    limit = len(text) if limit is None else limit
    for edge in _EDGE.finditer(text, at, limit):
        if not edge[2]:
            return edge.start(), edge.start()
        closes = len(edge[1]) <= escapes if escapes else len(edge[1]) % 2 == 0 or (shell and quote == "'")
        if edge[2] == quote[-1] and closes:
            return (edge.start() if escapes else edge.start(2)), edge.end()
    return limit, limit


def _word(text: str, begin: int) -> int:
    """The end of a word: of two readings the later, where \\' may end a quote or not."""
    end = _read(text, begin, shell=False)
    return max(end, _read(text, begin, shell=True)) if "\\'" in text[begin:end] else end


def _read(text: str, begin: int, *, shell: bool) -> int:
    """The end of a word as a shell reads it, or others do: pieces with quotes and without."""
    scheme = _SCHEME.match(text, begin)
    at = scheme.end() if scheme else begin
    whole, plain = _OPEN.match(text, begin), None
    while at < len(text):
        quote = _OPEN.match(text, at) if at == begin or text[at] != "\\" else None
        if quote:
            if plain and not whole and text[at + 1 : at + 2] in _AFTER:
                break
            at, plain = _closing(text, quote.end(), quote[0], shell=shell)[1], None
            if whole and text[at : at + 1] in _AFTER:
                break
            continue
        plain = _PLAIN.match(text, at)
        if not plain:
            break
        at = plain.end()
    return at


def _array(text: str, begin: int, mask: str) -> int:
    """The end of an array that begins here; the same place where there is none."""
    at = begin + 1
    while text.startswith("[", begin) and not text.startswith(mask, begin):
        item = _ITEM.search(text, at, begin + 16 * _NEAR)
        if not item:
            break
        if item[0] == "]":
            return item.end()
        at = _closing(text, item.end(), item[0])[1]
    return begin


def _bracket(text: str, begin: int, mask: str) -> int:
    """Where what closes a value in brackets ends; the same place where it is in none, or nothing closes it."""
    closing = _BRACKETS.get(text[begin : begin + 1])
    if not closing:
        return begin
    line = text.find("\n", begin, begin + 16 * _NEAR)
    limit = begin + 16 * _NEAR if line < 0 else line
    end = text.find(closing, begin, limit)
    while text.endswith(mask, begin + 1, end + 1):  # that bracket closes what was masked before
        end = text.find(closing, end + 1, limit)
    return end + 1 or begin


def _inside(text: str, at: int) -> int:
    """Where the string ends in which this is; the end of the text where it is in none."""
    line = text[_line(text, at) : at]
    if (line.count('"') - line.count('\\"')) % 2 == 0:
        return len(text)
    return _closing(text, at, '"', min(at + 16 * _NEAR, len(text)))[0]


def _line(text: str, at: int) -> int:
    """Where the line begins, or what of it is near."""
    near = max(at - _NEAR, 0)
    return max(text.rfind("\n", near, at) + 1, near)


def _below(text: str, mark: re.Match[str], start: int, mask: str) -> tuple[int, str]:
    """The value of a name that YAML writes in the lines below it, as a block behind a mark."""
    line = _line(text, start)
    depth = start - line - len(text[line:start].lstrip(" \t"))
    first = last = at = mark.end()
    for below in _BELOW.finditer(text, at):
        indent, said = below.groups()
        listed = not mark[1] and said.startswith("- ") and len(indent) == depth
        if below.start() != at or (said and not (len(indent) > depth or listed)):
            break
        if not mark[1] and (not said or _KEYED.match(said)):
            break
        at = below.end()
        if said:
            first, last = (below.start(2) if last == mark.end() else first), at
    if last == mark.end():
        return mark.start(), ""
    return last, f"{text[mark.start() : first]}{mask}"
