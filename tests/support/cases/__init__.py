# SPDX-License-Identifier: Apache-2.0
"""Captures with known causes, a healthy twin of each, and what a diagnosis has to say of them; see case.py."""
