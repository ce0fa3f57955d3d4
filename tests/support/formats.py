# SPDX-License-Identifier: Apache-2.0
"""Checks documents against the rules of their format; each raises ValueError at the first fault."""

import json
import re
import xml.etree.ElementTree as ElementTree

TYPES = {"object": dict, "array": list, "string": str, "boolean": bool, "null": type(None)}


def _has_type(value, name):
    if name in ("integer", "number"):
        return not isinstance(value, bool) and isinstance(
            value, int if name == "integer" else (int, float))
    return isinstance(value, TYPES[name])


KEYWORDS = {"$schema", "$defs", "$ref", "title", "description", "const", "enum", "type", "pattern", "minimum", "maximum",
            "minItems", "maxItems", "items", "required", "properties", "additionalProperties"}


def check_json(value, schema, root=None, place="document"):
    """The keywords of JSON Schema that the schemas of docs/ use; another one is a fault, too."""
    root = root or schema
    if not KEYWORDS.issuperset(schema):
        raise ValueError(f"{place}: the schema has unknown keywords {set(schema) - KEYWORDS}")
    if "$ref" in schema:
        target = root
        for key in schema["$ref"].removeprefix("#/").split("/"):
            target = target[key]
        return check_json(value, target, root, place)
    if "const" in schema and value != schema["const"]:
        raise ValueError(f"{place}: {value!r} is not {schema['const']!r}")
    if "enum" in schema and value not in schema["enum"]:
        raise ValueError(f"{place}: {value!r} is none of {schema['enum']}")
    types = schema.get("type", [])
    types = types if isinstance(types, list) else [types]
    if types and not any(_has_type(value, name) for name in types):
        raise ValueError(f"{place}: {value!r} is no {types}")
    if isinstance(value, str) and not re.search(schema.get("pattern", ""), value):
        raise ValueError(f"{place}: {value!r} does not match {schema['pattern']}")
    if _has_type(value, "number"):
        _check_bounds(value, schema, "minimum", "maximum", place)
    if isinstance(value, list):
        _check_bounds(len(value), schema, "minItems", "maxItems", place)
        for number, item in enumerate(value):
            check_json(item, schema.get("items", {}), root, f"{place}[{number}]")
    if isinstance(value, dict):
        for key in schema.get("required", []):
            if key not in value:
                raise ValueError(f"{place}: no {key}")
        others = schema.get("additionalProperties", True)
        for key, item in value.items():
            known = schema.get("properties", {}).get(key, others)
            if known is False:
                raise ValueError(f"{place}: {key} is unknown")
            check_json(item, {} if known is True else known, root, f"{place}.{key}")
    return None


def _check_bounds(value, schema, least, most, place):
    if not schema.get(least, value) <= value <= schema.get(most, value):
        raise ValueError(f"{place}: {value} is not within {schema.get(least)} and {schema.get(most)}")


def check_document(value, name, docs):
    """Against docs/schemas/NAME.schema.json; of a report also that every row has the keys of its sheet, and that a
    column holds either numbers or texts."""
    check_json(value, json.loads((docs / "schemas" / f"{name}.schema.json").read_text(encoding="utf-8")))
    for sheet in value["sheets"] if name == "report" else ():
        if len(set(sheet["columns"])) != len(sheet["columns"]):
            raise ValueError(f"{sheet['name']}: keys occur twice: {sheet['columns']}")
        for row in sheet["rows"]:
            if list(row) != sheet["columns"]:
                raise ValueError(f"{sheet['name']}: {list(row)} are not the columns {sheet['columns']}")
        for key in sheet["columns"]:
            kinds = {isinstance(row[key], str) for row in sheet["rows"] if row[key] is not None}
            if len(kinds) > 1:
                raise ValueError(f"{sheet['name']}.{key}: numbers and texts in one column")


# Element: required attributes, optional ones, elements within. The rules that readers of JUnit
# results share (the schema of Jenkins' xUnit plugin).
JUNIT = {
    "testsuites": ((), ("name", "tests", "failures", "errors", "disabled", "time"),
                   ("testsuite",)),
    "testsuite": (("name", "tests"),
                  ("failures", "errors", "skipped", "disabled", "time", "timestamp", "hostname",
                   "id", "package"), ("properties", "testcase", "system-out", "system-err")),
    "testcase": (("name", "classname"), ("time", "status", "assertions"),
                 ("skipped", "error", "failure", "system-out", "system-err")),
    "failure": ((), ("message", "type"), ()),
    "error": ((), ("message", "type"), ()),
    "skipped": ((), ("message", "type"), ()),
    "system-out": ((), (), ()),
}


def check_junit(text):
    """Returns the test cases as {name: outcome}, where passed ones have none."""
    root = ElementTree.fromstring(text)
    if root.tag != "testsuites":
        raise ValueError(f"root is {root.tag}")
    cases = {}

    def visit(element):
        required, optional, children = JUNIT[element.tag]
        for name in required:
            if name not in element.attrib:
                raise ValueError(f"{element.tag}: no {name}")
        for name, value in element.attrib.items():
            if name not in required + optional:
                raise ValueError(f"{element.tag}: {name} is unknown")
            if name in ("tests", "failures", "errors", "skipped", "time") and not re.fullmatch(
                    r"\d+(\.\d+)?", value):
                raise ValueError(f"{element.tag}: {name} is no number: {value}")
        for child in element:
            if child.tag not in children:
                raise ValueError(f"{child.tag} in {element.tag}")
            visit(child)
        if element.tag == "testcase":
            outcomes = [child.tag for child in element if child.tag in ("skipped", "error",
                                                                        "failure")]
            if len(outcomes) > 1:
                raise ValueError(f"{element.attrib['name']} has {outcomes}")
            cases[element.attrib["name"]] = outcomes[0] if outcomes else None
        if element.tag == "testsuite":
            for attribute, tag in (("failures", "failure"), ("errors", "error"),
                                   ("skipped", "skipped")):
                found = len(element.findall(f"./testcase/{tag}"))
                if int(element.attrib.get(attribute, found)) != found:
                    raise ValueError(f"{attribute} is not {found}")
            if int(element.attrib["tests"]) != len(element.findall("testcase")):
                raise ValueError("tests is not the number of test cases")
    visit(root)
    return cases


NAME = r"[a-zA-Z_:][a-zA-Z0-9_:]*"
SAMPLE = re.compile(rf"({NAME})(?:\{{(.*)\}})? (-?\d+(?:\.\d+)?)")
LABEL = re.compile(r'([a-zA-Z_][a-zA-Z0-9_]*)="((?:[^"\\\n]|\\["\\n])*)"(,|$)')


def parse_openmetrics(text):
    """Returns {(name, labels as sorted pairs): value}; strict as the OpenMetrics text format is."""
    lines = text.split("\n")
    if lines[-2:] != ["# EOF", ""]:
        raise ValueError("the last line is not '# EOF'")
    samples, kinds, family, closed = {}, {}, None, set()
    for line in lines[:-2]:
        comment = re.fullmatch(rf"# (TYPE|UNIT|HELP) ({NAME}) (.+)", line)
        if comment:
            kind, name, value = comment.groups()
            if name != family:
                if name in closed:
                    raise ValueError(f"{name} comes in two places")
                closed.add(name)
                family = name
            if (name, kind) in kinds:
                raise ValueError(f"a second {kind} of {name}")
            kinds[name, kind] = value
            if kind == "UNIT" and not name.endswith(f"_{value}"):
                raise ValueError(f"{name} does not end in its unit {value}")
            if kind == "TYPE" and value not in ("gauge", "stateset"):
                raise ValueError(f"{name}: type {value}")
            continue
        sample = SAMPLE.fullmatch(line)
        if not sample or sample[1] != family:
            raise ValueError(f"no sample of {family}: {line}")
        labels, rest = {}, sample[2] or ""
        while rest:
            label = LABEL.match(rest)
            if not label or label[1] in labels:
                raise ValueError(f"labels: {rest}")
            labels[label[1]] = re.sub(r'\\(.)', lambda match: {"n": "\n"}.get(match[1], match[1]),
                                      label[2])
            rest = rest[label.end():]
        if kinds.get((family, "TYPE")) == "stateset" and (
                family not in labels or sample[3] not in ("0", "1")):
            raise ValueError(f"no state: {line}")
        key = sample[1], tuple(sorted(labels.items()))
        if key in samples:
            raise ValueError(f"twice: {line}")
        samples[key] = float(sample[3])
    return samples
