# SPDX-License-Identifier: GPL-3.0-or-later
"""Servers, as containers, that install NVIDIA's real packages from their distributions' archives."""
