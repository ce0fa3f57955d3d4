# SPDX-License-Identifier: Apache-2.0
"""The charts that sheets declare, as --export_type columns lists them, and the charts of a page."""

import json
import re

# Kind, title, labels, values, unit, what rows of one label are drawn as, order.
DECLARED = re.compile(r"Chart, (\w+): (.*)\. Labels (.*); values (.*) in (.*); rows of one label: (\w+); order: (\w+)\.")


def keys_in(text):
    """The columns that a part of such a line names."""
    return re.findall(r"`([^`]+)`", text)


def charts_in(page):
    """What the script of a page draws from."""
    data = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.read_text(encoding="utf-8"), re.S)
    return json.loads(data[1])["charts"] if data else []
