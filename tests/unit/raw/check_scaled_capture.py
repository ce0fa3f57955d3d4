#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The blocks of a scaled raw capture are the bytes that the run itself records."""
import sys
import unittest
from pathlib import Path

sys.dont_write_bytecode = True
sys.path.insert(0, str(Path(__file__).resolve().parents[3] / "testdata"))
import raw_workload  # noqa: E402
import scale_raw_capture as scale  # noqa: E402
from raw_process import Process  # noqa: E402
from raw_setup import Setup  # noqa: E402

LAYERS = 1


class ScaledCapture(unittest.TestCase):
    def setUp(self):
        self.run, measured = self.after_first_step(), self.after_first_step()
        self.block = scale.Block(measured, LAYERS)

    @staticmethod
    def after_first_step():
        process = Process(Setup("5", seed=None))
        raw_workload.start(process)
        raw_workload.step(process, scale.FIRST_STEP, LAYERS)
        process.drain()
        return process

    def test_blocks_are_what_the_run_records(self):
        for index, files in enumerate(self.block.copies(3)):
            for step in range(scale.STEPS_IN_BLOCK):
                number = scale.FIRST_STEP + 1 + scale.STEPS_IN_BLOCK * index + step
                raw_workload.step(self.run, number, LAYERS)
            self.assertEqual(self.run.drain(), {name: bytes(data) for name, data in files.items()})

    def test_task_numbers_begin_again_before_they_overflow(self):
        tasks = []
        for index, files in enumerate(self.block.copies(self.block.wrap + 1)):
            if index in (0, self.block.wrap - 1, self.block.wrap):
                tasks.append(self.tasks_of(files["compact.task_track"]))
        first, last, after = tasks
        self.assertEqual(first, after)
        # Another block would not fit.
        busiest = max(last, key=lambda stream: max(last[stream]))
        used = max(first[busiest]) - min(first[busiest]) + 1
        self.assertGreater(max(last[busiest]) + used, 65535)

    @staticmethod
    def tasks_of(tracks):
        """Stream -> numbers of its tasks."""
        tasks = {}
        for at in range(0, len(tracks), 64):
            stream, task = (int.from_bytes(tracks[at + o:at + o + n], "little")
                            for o, n in ((26, 2), (28, 4)))
            tasks.setdefault(stream, []).append(task)
        return tasks


if __name__ == "__main__":
    unittest.main()
