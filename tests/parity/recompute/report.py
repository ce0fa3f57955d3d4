# SPDX-License-Identifier: Apache-2.0
"""Everything that `compare` has to say of two captures."""

from dataclasses import dataclass
from pathlib import Path

from . import api, communication, kernels, memory, modules, operators, options, overall, screen
from .side import Side

MAKERS = {
    "OverallMetrics": ("profiling", overall.rows),
    "CommunicationCompare": ("communication", communication.rows),
    "ModuleCompareStatistic": ("operator", modules.module_statistic),
    "ModuleCompare": ("operator", modules.module_compare),
    "OperatorCompareStatistic": ("operator", operators.operator_statistic),
    "OperatorCompare": ("operator", operators.operator_compare),
    "MemoryCompareStatistic": ("memory", memory.memory_statistic),
    "MemoryCompare": ("memory", memory.memory_compare),
    "ApiCompare": ("api", api.api_compare),
    "KernelCompare": ("kernel", kernels.kernel_compare),
    "KernelTypeCompare": ("kernel", kernels.kernel_type_compare),
}


@dataclass
class Report:
    base_path: str
    comparison_path: str
    sheets: dict  # name: rows below the headers, exact
    screen: list | None  # rows of texts


def expected(words):
    """The report of the command line `words` after `compare`."""
    base_path, comparison_path, chosen = options.parse(words, {comparison for comparison, _ in MAKERS.values()})
    base = Side(base_path, chosen.base_step)
    comparison = Side(comparison_path, chosen.comparison_step)
    made = {}
    for sheet, (comparison_kind, maker) in MAKERS.items():
        if comparison_kind not in chosen.enabled:
            continue
        if sheet == ("KernelCompare" if chosen.use_kernel_type else "KernelTypeCompare"):
            continue
        rows = maker(base, comparison, chosen)
        if rows is not None:
            made[sheet] = rows
    table = screen.rows(base, comparison, chosen) if "profiling" in chosen.enabled else None
    return Report(*(str(Path(path).resolve()) for path in (base_path, comparison_path)), made,
                  table)
