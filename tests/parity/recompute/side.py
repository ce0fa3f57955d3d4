# SPDX-License-Identifier: Apache-2.0
"""One side of a comparison: a capture with its host and its device, cut to the step asked for."""

from . import device, host, steps
from .files import Capture


class Side:
    def __init__(self, path, step=None):
        self.capture = Capture(path)
        self.host = host.load(self.capture)
        self.device = device.load(self.capture, self.host)
        self.step = step
        if step is not None:
            self.device = steps.cut(self.device, self.host, step)
            self.host = self.host.cut(step)
