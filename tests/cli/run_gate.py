#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""compare as a gate; the tests are in gate_*.py.

    run_gate.py --tool BINARY --testdata DIR GROUP [-v]

GROUP is one of the classes below: gate.
Exit status: 0 passed, 1 failed, 2 usage.
"""

import sys

from cli import main
from gate_changes import GateChanges
from gate_exit_codes import GateExitCodes
from gate_forms import GateForms
from gate_many_runs import GateManyRuns
from gate_metrics import GateMetrics


class Gate(GateExitCodes, GateMetrics, GateManyRuns, GateForms, GateChanges):
    """All of them."""


if __name__ == "__main__":
    sys.exit(main(__doc__, Gate))
