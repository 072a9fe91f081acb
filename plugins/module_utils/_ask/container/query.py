# SPDX-License-Identifier: GPL-3.0-or-later
"""Run the probe in real containers of this host, as root and as another user, and tell of it.

What runs inside is POSIX sh, builtins only where it has to, and nothing is written. Every line is a
key, a tab and what was seen, between `begin` and `end`; _parse/container_probe reads it, each line
behind who said it and a tab: it is evidence like a command's output (`container_probe`). Device
files of the subnet manager (issm*) are never opened: that alone announces one. Containers, and the
image where it was made here, are gone when it ends.
"""

from __future__ import annotations

import os
import tempfile
from typing import Iterator

from ..._ground.bound import Bound
from ..._ground.command import Output, Unavailable
from ..._ground.text import last_word
from ..._parse._container_desired import Desired, from_text
from . import cuda, devices, engine, image
from .engine import Engine, Job

# Prints "NAME<TAB>ok" or "NAME<TAB>reason" for each RDMA device; no single quotes in it.
_PYTHON = r"""
import ctypes, os
try:
    v = ctypes.CDLL("libibverbs.so.1", use_errno=True)
except OSError as e:
    raise SystemExit("opens.said\t%s" % e)
v.ibv_get_device_list.restype = ctypes.POINTER(ctypes.c_void_p)
v.ibv_get_device_name.restype = ctypes.c_char_p
v.ibv_get_device_name.argtypes = [ctypes.c_void_p]
v.ibv_open_device.restype = ctypes.c_void_p
v.ibv_open_device.argtypes = [ctypes.c_void_p]
n = ctypes.c_int()
l = v.ibv_get_device_list(ctypes.byref(n))
for i in range(n.value if l else 0):
    ctypes.set_errno(0)
    got = v.ibv_open_device(l[i])
    why = "ok" if got else os.strerror(ctypes.get_errno())
    print("opens\t%s\t%s" % (v.ibv_get_device_name(l[i]).decode(), why))
"""

_SCRIPT = r"""
LC_ALL=C
PATH=$PATH:/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin
export LC_ALL PATH
exec 2>/dev/null
say() { printf '%s\t%s\n' "$1" "$2"; }
two() { printf '%s\t%s\t%s\n' "$1" "$2" "$3"; }
say begin 1
while read -r line; do
  case $line in Uid:*|Gid:*|Cap*) say status "$line" ;; esac
done </proc/self/status
while read -r line; do
  case $line in Max\ locked*|Max\ open*) say limits "$line" ;; esac
done </proc/self/limits
while read -r line; do say uid_map "$line"; break; done </proc/self/uid_map
for f in /dev/infiniband/*; do
  [ -e "$f" ] || continue
  case ${f##*/} in
    uverbs*|rdma_cm)
      why=$( { : <>"$f"; } 2>&1 ) && why=ok
      two device "${f##*/}" "${why##*: }" ;;
    *) two device "${f##*/}" unopened ;;
  esac
done
while read -r what where kind how rest; do
  [ "$where" = /dev/shm ] && two shm "$kind" "$how"
done </proc/mounts
while read -r line; do
  case $line in MemTotal:*) say memory "$line" ;; esac
done </proc/meminfo
while read -r name rest; do
  case $name in *:*) ;; *) continue ;; esac
  name=${name%%:*}
  if [ -d "/sys/class/net/$name/device/infiniband" ]; then two net "$name" rdma
  else two net "$name" plain; fi
done </proc/net/dev
for f in /sys/class/infiniband/*; do [ -e "$f" ] && say rdma "${f##*/}"; done
for f in /etc/os-release /usr/lib/os-release; do
  [ -r "$f" ] || continue
  while read -r line || [ -n "$line" ]; do
    case $line in ID=*|ID_LIKE=*|VERSION_ID=*) say os "$line" ;; esac
  done <"$f"
  break
done
libraries() {
  for f in "$1"/libibverbs.so.1* "$1"/librdmacm.so.1* "$1"/libmlx5.so.1* "$1"/libnccl.so.2* \
      "$1"/libibverbs/lib*-rdmav*.so; do
    [ -e "$f" ] && say library "$f"
  done
}
for d in /usr/lib/*-linux-gnu /lib/*-linux-gnu /usr/lib64 /lib64 /usr/lib /lib \
    /usr/local/lib /usr/local/lib64 /opt/conda/lib \
    /usr/lib/python3*/*-packages/nvidia/nccl/lib \
    /usr/local/lib/python3*/*-packages/nvidia/nccl/lib \
    /opt/*/lib/python3*/site-packages/nvidia/nccl/lib; do
  [ -d "$d" ] && libraries "$d"
done
rest=$LD_LIBRARY_PATH
while [ -n "$rest" ]; do
  case $rest in *:*) d=${rest%%:*}; rest=${rest#*:} ;; *) d=$rest; rest= ;; esac
  [ -n "$d" ] && libraries "$d"
done
if command -v ldconfig >/dev/null; then
  ldconfig -p | while read -r name rest; do
    case $name in libibverbs.so.1|librdmacm.so.1|libmlx5.so.1|libnccl.so.2)
      say library "${rest##*=> }" ;; esac
  done
fi
for f in /etc/libibverbs.d/*.driver; do
  [ -r "$f" ] || continue
  while read -r word name rest || [ -n "$word" ]; do
    [ "$word" = driver ] && say driver "$name"
  done <"$f"
done
if command -v dpkg-query >/dev/null; then
  say packages dpkg
  dpkg-query -W -f 'package\t${Package}\t${Version}\t${db:Status-Status}\n' \
    libibverbs1 ibverbs-providers librdmacm1 libnccl2
elif command -v rpm >/dev/null; then
  say packages rpm
  for name in libibverbs librdmacm libnccl; do
    rpm -q --qf 'package\t%{NAME}\t%{VERSION}-%{RELEASE}\tinstalled\n' "$name" |
      while read -r line; do
        case $line in package*not\ installed*) ;; package*) printf '%s\n' "$line" ;; esac
      done
  done
elif command -v apk >/dev/null; then
  say packages apk
fi
for f in /dev/nvidia[0-9]*; do [ -e "$f" ] && say gpu "${f##*/}"; done
if command -v nvidia-smi >/dev/null; then
  out=$(nvidia-smi -L 2>&1); say smi.rc $?
  printf '%s\n' "$out" | while read -r line; do say smi "$line"; done
fi
f=/etc/nccl.conf
if [ -e "$f" ]; then
  if [ -r "$f" ]; then
    say conf readable
    while IFS= read -r line || [ -n "$line" ]; do say conf.line "$line"; done <"$f"
  else say conf unreadable; fi
else say conf none; fi
CUDA
export -p | while read -r line; do
  line=${line#export }; line=${line#declare -x }
  case $line in
    NCCL_*=*|LD_LIBRARY_PATH=*|LC_ALL=*|CUDA_VERSION=*|NVIDIA_REQUIRE_*=*|NVIDIA_DISABLE_R*=*|NVIDIA_DRIVER_C*=*)
      say env "$line" ;;
  esac
done
if command -v ibv_devinfo >/dev/null; then
  say opens.by ibv_devinfo
  out=$(ibv_devinfo 2>&1); say opens.rc $?
  printf '%s\n' "$out" | while read -r line; do
    case $line in
      hca_id:*) set -- $line; two opens "$2" ok ;;
      *ailed*|*arning*|No\ IB*) say opens.said "$line" ;;
    esac
  done
elif command -v python3 >/dev/null; then
  say opens.by python3
  out=$(python3 -c 'PYTHON' 2>&1); say opens.rc $?
  printf '%s\n' "$out" | while read -r line; do
    case $line in opens*) printf '%s\n' "$line" ;; ?*) say opens.said "$line" ;; esac
  done
else say opens.by nothing; fi
say end 1
""".replace("PYTHON", _PYTHON).replace("CUDA\n", cuda.SCRIPT, 1)
# Seconds for one container, of which the script takes one or two.
_RUN = 90.0
_HERE = "host"
_MOST_LINES: Bound = 5000
# docker's last line, below what went wrong.
_POINTERS = ("See 'docker ", "Run 'docker ")
_BUILT, _LOCAL, _PULLED = "built", "local", "pulled"


def ask(wish: str = "{}") -> Output:
    """Look once; ``wish``: as `Desired.to_text` writes it."""
    lines = list(_lines(from_text(wish)))
    lines.append(_told(_HERE, "end", str(len(lines))))
    return Output(0, "".join(f"{line}\n" for line in lines), "")


def _lines(wish: Desired) -> Iterator[str]:
    yield _told(_HERE, "format", "1")
    yield _told(_HERE, "wish", wish.kept().to_text())
    try:
        found = engine.find(wish.engine)
    except engine.NoEngine as exc:
        yield _told(_HERE, "no_engine", str(exc))
        return
    except Unavailable as exc:
        yield _told(_HERE, "unusable", exc.what, exc.reason)
        return
    yield _told(_HERE, "engine", found.name, found.version, found.program)
    made = ""
    try:
        if wish.image:
            found, name, origin = engine.elsewhere(found, wish.image), wish.image, _LOCAL
            if not found.has(name):
                origin = _PULLED
                _pull(found, name, wish.pull)
        else:
            name, origin = _make(found), _BUILT
            made = name
        yield _told(_HERE, "image", name, origin)
        yield from _both(found, wish, name)
    except Unavailable as exc:
        yield _told(_HERE, "no_image", wish.image or image.NAME, exc.reason)
    finally:
        if made:
            found.forget(made)


def _pull(found: Engine, name: str, allowed: bool) -> None:
    if not allowed:
        raise Unavailable(name, "not on this host, and nobody allowed it to be pulled")
    done = found.pull(name)
    if done.rc:
        raise Unavailable(name, f"not pulled: {last_word(done.stdout, done.stderr)}")


def _make(found: Engine) -> str:
    """Load the image of this host's own files under a name that no other run has."""
    with tempfile.TemporaryDirectory(prefix="ibready-") as folder:
        archive = os.path.join(folder, "image.tar")
        tag = os.urandom(4).hex()
        name = image.write(image.gather(), archive, tag, os.uname().machine)
        done = found.load(archive)
    if done.rc or not found.has(name):
        found.forget(name)
        raise Unavailable(name, f"not loaded: {last_word(done.stdout, done.stderr)}")
    return name


def _both(found: Engine, wish: Desired, name: str) -> Iterator[str]:
    for who, user in (("root", 0), ("user", wish.user)):
        job = Job(
            image=name,
            name=f"ibready-probe-{os.urandom(6).hex()}",
            user=user,
            network=wish.network,
            devices=devices.devices(wish),
            mounts=devices.mounts(),
            options=wish.options,
            gpus=devices.asks_engine_for_gpus(wish, found.name),
            words=(image.SHELL, "-c", _SCRIPT),
        )
        yield from _once(found, job, who)


def _once(found: Engine, job: Job, who: str) -> Iterator[str]:
    try:
        done = found.start(job, _RUN)
    except Unavailable as exc:
        yield _told(_HERE, "run", who, str(job.user), "failed", exc.reason)
        return
    finally:
        found.remove(job.name)
    inside = _inside(done.stdout)
    if not inside:
        said = last_word(_complaints(done.stderr), done.stdout) or f"ended with status {done.rc}"
        yield _told(_HERE, "run", who, str(job.user), _how(said), said)
        return
    yield _told(_HERE, "run", who, str(job.user), "ran", "")
    for line in inside:
        yield f"{who}\t{line}"


def _complaints(text: str) -> str:
    """What an engine's client says of a failure, without where to read how it is called."""
    return "\n".join(line for line in text.splitlines() if not line.startswith(_POINTERS))


def _how(said: str) -> str:
    """An image without a shell is another thing than a container that cannot be started."""
    none = ("not found", "no such file")
    return "no_shell" if image.SHELL in said and any(entry in said.lower() for entry in none) else "failed"


def _inside(text: str) -> list[str]:
    """What the script printed; an image's own entrypoint may say something before it."""
    lines = [line.replace("\r", " ") for line in text.replace("\0", "").split("\n")]
    begun = next((at for at, line in enumerate(lines) if line == "begin\t1"), None)
    if begun is None:
        return []
    return [line for line in lines[begun:] if line][:_MOST_LINES]


def _told(*words: str) -> str:
    return "\t".join(" ".join(word.split()) for word in words)
