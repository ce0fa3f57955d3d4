#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The recipe head_overhead; the tests are in head_calls.py and head_outputs.py.

    run_head_overhead.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: headoverhead.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import sys

from cli import main
from head_calls import HeadCalls
from head_outputs import HeadOutputs


class HeadOverhead(HeadCalls, HeadOutputs):
    """All of them."""


if __name__ == "__main__":
    sys.exit(main(__doc__, HeadOverhead))
