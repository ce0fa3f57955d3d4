# SPDX-License-Identifier: Apache-2.0
"""Recomputes the tables of recipes over all ranks from the files of captures, without the program."""
