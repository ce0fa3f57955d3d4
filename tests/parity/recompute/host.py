# SPDX-License-Identifier: Apache-2.0
"""The host side of a capture of any format; see host_records.py."""

from . import host_database, host_trace

READERS = {"text": host_trace, "gpu": host_trace, "db": host_database}


def load(capture):
    host = READERS[capture.kind].load(capture)
    host.threads = list(dict.fromkeys(operator.thread for operator in host.operators))
    host.tie_allocations()
    return host
