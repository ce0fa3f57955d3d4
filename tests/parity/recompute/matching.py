# SPDX-License-Identifier: Apache-2.0
"""Which operators of two captures belong together."""

from difflib import SequenceMatcher
from itertools import groupby, zip_longest


def match(base, comparison, key):
    """Pairs of both sides, None beside what only one has: the longest common run of keys first,
    then what lies left and right of it."""
    matcher = SequenceMatcher(None, [key(item) for item in base],
                              [key(item) for item in comparison], autojunk=False)
    pairs, left, right = [], 0, 0
    for block in matcher.get_matching_blocks():
        pairs += alone(base[left:block.a], comparison[right:block.b])
        left, right = block.a + block.size, block.b + block.size
        pairs += zip(base[block.a:left], comparison[block.b:right])
    return pairs


def alone(base, comparison):
    return [(item, None) for item in base] + [(None, item) for item in comparison]


def match_operators(base, comparison, options):
    """Pairs of the outermost operators of two `Operators`, or of those within where they have
    more kernels than is allowed."""
    if options.disable_details:
        return alone(base.tops, comparison.tops)
    key = key_of_operators(options)
    pairs = []
    for left, right in segments(base, comparison):
        pairs += match(left, right, key)
    return drill_down(pairs, key, options.max_kernel_num)


def key_of_operators(options):
    def key(node):
        name = options.matched_name(node.span.name)
        return name + shapes_key(node.span.shapes) if options.use_input_shape else name
    return key


def shapes_key(shapes):
    """In the form of NPU captures."""
    if isinstance(shapes, str):
        return shapes
    return ";\r\n".join(",".join(map(str, shape)) for shape in shapes)


def segments(base, comparison):
    """Runs of operators on and off the backward threads that stand beside each other."""
    if None in (base.backward_thread, comparison.backward_thread) \
            or not base.tops or not comparison.tops:
        return [(base.tops, comparison.tops)]
    left, right = runs(base), runs(comparison)
    if left[0][0] != right[0][0]:  # the first of the side with more of them stands alone
        longer, other = (left, right) if len(left) > len(right) else (right, left)
        other.insert(0, (longer[0][0], []))
    return [(a[1], b[1]) for a, b in zip_longest(left, right, fillvalue=(None, []))]


def runs(side):
    is_backward = lambda node: node.span.thread[1] == side.backward_thread
    return [(kind, list(nodes)) for kind, nodes in groupby(side.tops, is_backward)]


def drill_down(pairs, key, most):
    """Opens pairs of operators with more kernels than `most`."""
    if most is None:
        return pairs
    result = []
    for left, right in pairs:
        if left and right and left.children and right.children \
                and max(len(left.all_work()), len(right.all_work())) > most:
            result += drill_down(match(left.children, right.children, key), key, most)
        else:
            result.append((left, right))
    return result
