# SPDX-License-Identifier: GPL-3.0-or-later
"""NVIDIA's own libnccl.so.2, fetched and made small; none of it is ever kept in git."""
