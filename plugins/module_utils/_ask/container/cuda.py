# SPDX-License-Identifier: GPL-3.0-or-later
"""The part of the probe's script that looks for CUDA in an image, and for which libcuda the loader takes.

`loads` is told in the order of the loader: LD_LIBRARY_PATH, its cache, its own folders (ld.so(8)). What a program
brings along by RPATH or LD_PRELOAD is not seen. Packages of pip are those of the python3 in PATH (a virtual
environment, conda), and of the usual places. POSIX sh, after `say` and `two` are defined.
"""

from __future__ import annotations

SCRIPT = r"""
say cuda.looked 1
f=/usr/local/cuda/version.json
if [ -e "$f" ]; then
  say cuda.json ""
  while read -r line || [ -n "$line" ]; do [ -n "$line" ] && say cuda.json "$line"; done <"$f"
fi
for d in /usr/local/cuda*/lib64 /usr/local/cuda*/targets/*/lib /usr/lib/*-linux-gnu /usr/lib64 /opt/conda/lib; do
  for f in "$d"/libcudart.so.[0-9]*; do [ -e "$f" ] && say cudart "$f"; done
done
home=$(command -v python3)
home=${home%/bin/python3}
for d in "$home"/lib/python3*/site-packages /usr/lib/python3*/*-packages /usr/local/lib/python3*/*-packages \
    /opt/*/lib/python3*/site-packages /opt/conda/envs/*/lib/python3*/site-packages; do
  for f in "$d"/nvidia_cuda_runtime*-*.dist-info "$d"/nvidia/cu1[0-9]/lib/libcudart.so.[0-9]* \
      "$d"/nvidia/cuda_runtime/lib/libcudart.so.[0-9]* "$d"/torch/lib/libcudart-*.so.[0-9]*; do
    [ -e "$f" ] && say cudart "$f"
  done
done
for f in /usr/local/cuda*/compat/libcuda.so.[0-9]*.* /usr/local/cuda*/compat/lib.real/libcuda.so.[0-9]*.* \
    /opt/conda/cuda-compat/libcuda.so.[0-9]*.*; do
  [ -e "$f" ] && say compat "$f"
done
loads() {
  [ -e "$1" ] || return 0
  to=$(readlink -f "$1") || to=
  two loads "$1" "${to:-untold}"
}
rest=$LD_LIBRARY_PATH
while [ -n "$rest" ]; do
  case $rest in *:*) d=${rest%%:*}; rest=${rest#*:} ;; *) d=$rest; rest= ;; esac
  [ -n "$d" ] || continue
  loads "$d/libcuda.so.1"
  for f in "$d"/libcudart.so.[0-9]*; do [ -e "$f" ] && say cudart "$f"; done
done
if command -v ldconfig >/dev/null; then
  ldconfig -p | while read -r name rest; do
    case "$name $rest" in
      "libcuda.so.1 (libc6,"*) loads "${rest##*=> }" ;;
      libcudart.so.[0-9]*) say cudart "${rest##*=> }" ;;
    esac
  done
fi
for d in /lib/*-linux-gnu /usr/lib/*-linux-gnu /lib64 /usr/lib64; do loads "$d/libcuda.so.1"; done
"""
