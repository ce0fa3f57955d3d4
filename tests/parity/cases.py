# SPDX-License-Identifier: Apache-2.0
"""The runs whose output is judged: of the captures in testdata, and of those with a recorded output
of the Python tool."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from captures import build_database

CAPTURES = Path(__file__).resolve().parents[2] / "testdata" / "captures"
PACKED = re.compile(r"\{gz:([^}]*)\}")
RECIPES = ("module_statistic", "operator_mfu")

TEXT, DB = ("text_base", "text_new"), ("db_base", "db_new")
TWIN_TEXT, TWIN_DB = ("twin_text_base", "twin_text_new"), ("twin_db_base", "twin_db_new")
GPU = ("gpu_base.json", "gpu_new.json")
OPERATORS = "--enable_operator_compare --disable_module"
KERNEL_TYPES = "--enable_kernel_compare --use_kernel_type"
STEPS = "--base_step {0} --comparison_step {0}"
PAIRS = (  # base and comparison, options
    (TEXT, ""), (TEXT, "--disable_module"), (TEXT, KERNEL_TYPES), (TEXT, STEPS.format(2)),
    (DB, ""), (DB, "--disable_module"), (DB, KERNEL_TYPES), (DB, STEPS.format(1)),
    (DB, STEPS.format(2)),
    (TWIN_TEXT, ""), (TWIN_TEXT, "--disable_module"), (TWIN_TEXT, KERNEL_TYPES),
    (TWIN_TEXT, STEPS.format(1)), (TWIN_TEXT, f"{OPERATORS} --max_kernel_num 4"),
    (TWIN_TEXT, f"{OPERATORS} --use_input_shape"), (TWIN_TEXT, "--disable_details"),
    (TWIN_TEXT, OPERATORS + """ --op_name_map "{'aten::gelu': 'aten::relu'}" """),
    (TWIN_DB, ""), (TWIN_DB, "--disable_module"), (TWIN_DB, KERNEL_TYPES),
    (TWIN_DB, STEPS.format(1)), (TWIN_DB, STEPS.format(2)),
    (TWIN_DB, f"{OPERATORS} --max_kernel_num 4"),
    ((TEXT[0], DB[1]), ""), ((TEXT[0], DB[1]), "--disable_module"),
    ((TWIN_DB[0], TWIN_TEXT[1]), ""), ((TWIN_DB[0], TWIN_TEXT[1]), "--disable_module"),
    ((TEXT[0], "text_level0"), ""), (("text_level0", "text_level0"), ""),
    ((TEXT[0], "broken/no_csv"), ""),
    (GPU, ""), (GPU, "--disable_module"),
    ((GPU[0], TWIN_DB[1]), "--disable_module"), ((TWIN_TEXT[0], GPU[1]), ""),
    ((GPU[0], TEXT[1]), KERNEL_TYPES),
)


@dataclass
class Case:
    name: str
    words: list  # the command line without the output directory
    golden: Path | None = None  # what the Python tool put out

    @property
    def is_recipe(self):
        return self.words[0] != "compare"


def capture(name, scratch):
    """A capture of testdata; databases are built in the scratch directory."""
    if name.endswith(".json"):
        return CAPTURES / name
    directory = CAPTURES / f"{name}_ascend_pt"
    return directory if directory.is_dir() else build_database(CAPTURES, directory.name, scratch)


def compare_words(names, options, scratch):
    base, comparison = (str(capture(name, scratch)) for name in names)
    return ["compare", "-d", comparison, "-bp", base, *shlex.split(options)]


def own_cases(scratch):
    return [Case(" ".join(("compare", *names, options)).strip(),
                 compare_words(names, options, scratch)) for names, options in PAIRS]


def golden_cases(shared):
    data = shared / "data"
    listed = json.loads((shared / "golden" / "cases.json").read_text(encoding="utf-8"))["cases"]
    for entry in listed:
        text = PACKED.sub(r"\1.gz", entry["args"]).replace("-o {out}", "")
        words = [str(data / word) if (data / word).exists() else word
                 for word in shlex.split(text)]
        if words[0] == "compare" or words[1] in RECIPES:
            yield Case(entry["name"], words, shared / "golden" / f"{entry['name']}.json")
