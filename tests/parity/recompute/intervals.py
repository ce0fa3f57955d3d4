# SPDX-License-Identifier: Apache-2.0
"""Sets of time: sorted lists of (begin, end) that neither touch nor overlap."""


def union(spans):
    result = []
    for begin, end in sorted(spans):
        if result and begin <= result[-1][1]:
            result[-1] = (result[-1][0], max(result[-1][1], end))
        else:
            result.append((begin, end))
    return [(begin, end) for begin, end in result if begin < end]


def of(works):
    return union((work.start, work.end) for work in works)


def minus(times, taken):
    result = []
    taken = iter([*taken, (None, None)])
    begin_taken, end_taken = next(taken)
    for begin, end in times:
        while begin_taken is not None and end_taken <= begin:
            begin_taken, end_taken = next(taken)
        while begin_taken is not None and begin_taken < end:
            if begin < begin_taken:
                result.append((begin, begin_taken))
            begin = max(begin, end_taken)
            if end_taken > end:
                break
            begin_taken, end_taken = next(taken)
        if begin < end:
            result.append((begin, end))
    return result


def common(first, second):
    return minus(first, minus(first, second))


def length(times):
    return sum(end - begin for begin, end in times)
