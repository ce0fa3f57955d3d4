# SPDX-License-Identifier: Apache-2.0
"""The order of lists of `compare`: what changed most comes first."""

from .sheets import round_half_away


def size(change):
    """As people see it; below every other where it is unknown."""
    return -1 if change is None else round_half_away(abs(change), 2)


def largest_change_first(rows, change):
    """change(row) is the difference, or None."""
    return sorted(rows, key=lambda row: -size(change(row)))


def largest_blocks_first(blocks, change):
    """The rows of blocks, whose first row tells their change and the others have an order of their own."""
    ordered = sorted(blocks, key=lambda block: -size(change(block[0])))
    return [row for head, *others in ordered for row in (head, *largest_change_first(others, change))]
