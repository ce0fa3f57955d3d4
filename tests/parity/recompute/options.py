# SPDX-License-Identifier: Apache-2.0
"""The command line of `compare`, as far as it decides about rows."""

import argparse
import ast
from dataclasses import dataclass, field


@dataclass
class Options:
    base_step: int | None = None
    comparison_step: int | None = None
    disable_details: bool = False
    disable_module: bool = False
    use_input_shape: bool = False
    use_kernel_type: bool = False
    max_kernel_num: int | None = None
    op_name_map: dict = field(default_factory=dict)
    compat: bool = False
    enabled: frozenset = frozenset()

    def matched_name(self, name):
        """What names that are declared equal have in common. The Python tool follows one step."""
        if self.compat:
            return self.op_name_map.get(name, name)
        equal = {name}
        while True:
            more = {other for pair in self.op_name_map.items() if equal & set(pair)
                    for other in pair} - equal
            if not more:
                return min(equal)
            equal |= more

    def row_name(self, name):
        """What the operators of a row of the statistics have in common."""
        return name if self.compat else self.matched_name(name)


def parse(words, comparisons):
    """(path of the base, path of the comparison, Options) of a command line after `compare`. Without a choice all
    comparisons are enabled."""
    parser = argparse.ArgumentParser(allow_abbrev=False)
    parser.add_argument("-d", "--profiling_path", required=True)
    parser.add_argument("-bp", "--benchmark_profiling_path", required=True)
    parser.add_argument("-o", "--output_path")
    for comparison in comparisons:
        parser.add_argument(f"--enable_{comparison}_compare", dest="enabled", action="append_const",
                            const=comparison)
    for flag in ("compat", "disable_details", "disable_module", "use_input_shape", "use_kernel_type"):
        parser.add_argument(f"--{flag}", action="store_true")
    for number in ("base_step", "comparison_step", "max_kernel_num"):
        parser.add_argument(f"--{number}", type=int)
    parser.add_argument("--op_name_map", type=ast.literal_eval, default={})
    given = vars(parser.parse_args(words))
    given.pop("output_path")
    base, comparison = given.pop("benchmark_profiling_path"), given.pop("profiling_path")
    given["enabled"] = frozenset(given["enabled"] or comparisons)
    return base, comparison, Options(**given)
