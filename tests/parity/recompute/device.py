# SPDX-License-Identifier: Apache-2.0
"""The device side of a capture of any format; see device_records.py."""

from . import device_db, device_gpu, device_text

READERS = {"text": device_text, "db": device_db, "gpu": device_gpu}


def load(capture, host):
    device = READERS[capture.kind].load(capture, host)
    device.is_minimal = is_minimal(capture)
    return device


def is_minimal(capture):
    """Collected at Level0 without the activity of the CPU."""
    if capture.root is None:
        return False
    for file in sorted(capture.root.glob("profiler_info*.json")):
        config = capture.json(file.name).get("config", {})
        level = config.get("experimental_config", {}).get("_profiler_level")
        activities = config.get("common_config", {}).get("activities", [])
        return level == "Level0" and "ProfilerActivity.CPU" not in activities
    return False
