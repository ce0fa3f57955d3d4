# SPDX-License-Identifier: Apache-2.0
"""Runs compare as a gate. The captures come from tests/support/steps.py: steps of about 100 ms with
40 ms MatMulV2, 2 ms Relu, 10 ms exposed allreduce and the rest free."""

import json

from cli import DOCS, Cli
from formats import check_document
from steps import write_capture


class GateRuns(Cli):
    STEPS = (99_900, 100_000, 100_100)
    SLOW = dict(lengths_us=(104_900, 105_000, 105_100),
                kernels=(("MatMulV2", 43_000), ("Relu", 2_000)), allreduce_us=11_500)
    HEADLINE = ("REGRESSION step_time 100.0 -> 105.0 ms (+5.0 %, limit 3 %, noise 0.3 %): "
                "+3.0 ms MatMulV2, +1.5 ms exposed allreduce, +0.5 ms free time (host not recorded)")

    def setUp(self):
        super().setUp()
        self.base = self.capture("base")

    def capture(self, name, lengths_us=STEPS, **settings):
        return write_capture(self.scratch / f"{name}_ascend_pt", lengths_us, **settings)

    def gate(self, comparison, *more, base=None, **settings):
        wide = {"COLUMNS": "1000"}  # each line of the report is one on the screen
        settings["env"] = {**wide, **settings.get("env", {})}
        return self.compare(*more, comparison=comparison, base=base or self.base, **settings)

    def assert_verdict(self, result, code, line):
        """Exit code, and the first line of the screen."""
        self.assertEqual(result.code, code, (result.out, result.err))
        self.assertEqual(result.errors, [])
        first = result.out.splitlines()[0]
        self.assertTrue(first.startswith(line), first)

    def document(self, result):
        document = json.loads(result.out)
        check_document(document, "gate", DOCS)
        self.assertEqual(document["exit_code"], result.code)
        return document
