# SPDX-License-Identifier: GPL-3.0-or-later
"""What runs inside the container: POSIX sh, builtins only where it has to, nothing is written.

Every line is a key, a tab and what was seen, between `begin` and `end`; _parse/container_probe
reads it. Device files of the subnet manager (issm*) are never opened: that alone announces one.
"""

from __future__ import annotations

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

SCRIPT = r"""
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
export -p | while read -r line; do
  line=${line#export }; line=${line#declare -x }
  case $line in NCCL_*=*|LD_LIBRARY_PATH=*|LC_ALL=*) say env "$line" ;; esac
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
""".replace("PYTHON", _PYTHON)
