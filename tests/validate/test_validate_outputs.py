#!/usr/bin/env python3
"""Sees each check of validate_outputs.py pass once and fail once for each reason it has."""

import contextlib
import io
import json
import tempfile
import unittest
from pathlib import Path

import validate_outputs

REPORT = {
    "apiVersion": "sundown.dev/v1alpha1",
    "kind": "Report",
    "summary": {"files": 1, "objects": 2, "targeted": 1, "errors": 1, "warnings": 0, "infos": 0, "problems": 0},
    "findings": [
        {
            "rule": "grace-period",
            "severity": "error",
            "policy": "selectel-mks",
            "file": "a.yaml",
            "document": 1,
            "line": 12,
            "column": 7,
            "object": {"apiVersion": "apps/v1", "kind": "Deployment", "namespace": "shop", "name": "web"},
            "path": "/spec/template/spec/terminationGracePeriodSeconds",
            "action": "change",
            "message": "600 s asked, 120 s given",
            "from": 600,
            "to": 120,
        }
    ],
    "problems": [],
}

SARIF = {
    "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
    "version": "2.1.0",
    "runs": [
        {
            "tool": {"driver": {"name": "sundown", "rules": [{"id": "grace-period"}]}},
            "results": [
                {
                    "ruleId": "grace-period",
                    "level": "error",
                    "message": {"text": "600 s asked, 120 s given"},
                    "locations": [
                        {
                            "physicalLocation": {
                                "artifactLocation": {"uri": "a.yaml"},
                                "region": {"startLine": 12, "startColumn": 7},
                            }
                        }
                    ],
                }
            ],
        }
    ],
}

JUNIT = """<?xml version="1.0" encoding="UTF-8"?>
<testsuites name="sundown" tests="2" failures="1" errors="0">
  <testsuite name="a.yaml" tests="2" failures="1" errors="0">
    <testcase name="web"><failure message="600 s asked" type="grace-period"/></testcase>
    <testcase name="api"/>
  </testsuite>
</testsuites>
"""

POLICY_SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "additionalProperties": False,
    "required": ["kind", "metadata"],
    "properties": {
        "kind": {"const": "PreemptionPolicy"},
        "metadata": {"type": "object", "properties": {"name": {"type": "string"}}},
    },
}


class Outputs(unittest.TestCase):
    def setUp(self):
        holder = tempfile.TemporaryDirectory()
        self.addCleanup(holder.cleanup)
        self.folder = Path(holder.name)
        (self.folder / "policies").mkdir()
        self.write("report.json", json.dumps(REPORT))
        self.write("report.sarif", json.dumps(SARIF))
        self.write("report.junit.xml", JUNIT)
        self.write("policy.schema.json", json.dumps(POLICY_SCHEMA))
        self.write("policies/a.yaml", "kind: PreemptionPolicy\nmetadata: {name: a}\n")

    def write(self, name, text):
        (self.folder / name).write_text(text, encoding="utf-8")

    def change(self, name, old, new):
        text = (self.folder / name).read_text(encoding="utf-8")
        self.assertIn(old, text)
        self.write(name, text.replace(old, new))

    def run_all(self):
        out = io.StringIO()
        with contextlib.redirect_stdout(out):
            code = validate_outputs.main([str(self.folder)])
        return code, out.getvalue()

    def fails(self, message):
        code, out = self.run_all()
        self.assertEqual(code, 1, out)
        self.assertIn(message, out)

    def test_good_outputs_pass(self):
        code, out = self.run_all()
        self.assertEqual(code, 0, out)
        self.assertEqual(out.count("ok  "), 4, out)

    def test_report_with_an_unknown_member(self):
        self.change("report.json", '"problems": []', '"problems": [], "extra": 1')
        self.fails("'extra' was unexpected")

    def test_report_with_an_unknown_severity(self):
        self.change("report.json", '"severity": "error"', '"severity": "fatal"')
        self.fails("$.findings[0].severity: 'fatal' is not one of")

    def test_report_that_counts_wrongly(self):
        self.change("report.json", '"warnings": 0', '"warnings": 3')
        self.fails("summary.warnings is 3, but 0 are listed")

    def test_report_that_proves_nothing(self):
        self.write("report.json", json.dumps({**REPORT, "findings": []}))
        self.fails("no findings, so nothing was proved")

    def test_report_that_is_missing(self):
        (self.folder / "report.json").unlink()
        self.fails("No such file")

    def test_sarif_against_the_published_schema(self):
        self.change("report.sarif", '"level": "error"', '"level": "fatal"')
        self.fails("$.runs[0].results[0].level: 'fatal' is not one of")

    def test_sarif_with_a_path_that_is_no_uri(self):
        self.change("report.sarif", '"uri": "a.yaml"', '"uri": "my file.yaml"')
        self.fails("'my file.yaml' is not a 'uri-reference'")

    def test_sarif_with_line_zero(self):
        self.change("report.sarif", '"startLine": 12', '"startLine": 0')
        self.fails("0 is less than the minimum of 1")

    def test_sarif_of_another_rule(self):
        self.change("report.sarif", '"ruleId": "grace-period"', '"ruleId": "single-replica"')
        self.fails("results of rules single-replica, but report.json has grace-period")

    def test_junit_that_is_no_xml(self):
        self.change("report.junit.xml", "</testsuites>", "")
        self.fails("report.junit.xml: ")

    def test_junit_suite_that_counts_wrongly(self):
        self.change("report.junit.xml", '"a.yaml" tests="2"', '"a.yaml" tests="5"')
        self.fails("suite 'a.yaml': tests=5, but it holds 2")

    def test_junit_total_that_counts_wrongly(self):
        self.change("report.junit.xml", '"sundown" tests="2" failures="1"', '"sundown" tests="2" failures="0"')
        self.fails("testsuites: failures=0, but it holds 1")

    def test_junit_that_passes_where_the_report_fails(self):
        self.write("report.junit.xml", '<testsuites><testsuite name="s"><testcase name="c"/></testsuite></testsuites>')
        self.fails("no failure, but report.json has 1 errors")

    def test_junit_that_fails_where_the_report_passes(self):
        self.change("report.json", '"severity": "error"', '"severity": "info"')
        self.change("report.json", '"errors": 1, "warnings": 0, "infos": 0', '"errors": 0, "warnings": 0, "infos": 1')
        self.fails("1 failures, but report.json has no error, warning or problem")

    def test_junit_without_tests(self):
        self.write("report.junit.xml", '<testsuites><testsuite name="s"/></testsuites>')
        self.fails("0 tests for 2 objects")

    def test_junit_that_hides_problems(self):
        problem = {"file": "b.yaml", "document": 2, "line": 3, "column": 1, "message": "not YAML"}
        summary = {**REPORT["summary"], "errors": 0, "problems": 1}
        self.write("report.json", json.dumps({**REPORT, "findings": [], "problems": [problem], "summary": summary}))
        self.write("report.junit.xml", '<testsuites><testsuite name="s"><testcase name="c"/></testsuite></testsuites>')
        self.fails("everything passes, but report.json has 1 problems")

    def test_policy_with_an_unknown_field(self):
        self.write("policies/a.yaml", "kind: PreemptionPolicy\nmetadata: {name: a}\nspce: {}\n")
        self.fails("a.yaml: $: Additional properties are not allowed ('spce' was unexpected)")

    def test_policy_named_otherwise_than_its_file(self):
        self.write("policies/a.yaml", "kind: PreemptionPolicy\nmetadata: {name: b}\n")
        self.fails("metadata.name is not the file's name, a")

    def test_policy_that_is_no_yaml(self):
        self.write("policies/a.yaml", "kind: [")
        self.fails("a.yaml: while parsing")

    def test_no_policies(self):
        (self.folder / "policies/a.yaml").unlink()
        self.fails("no *.yaml in it")

    def test_policy_schema_that_is_no_schema(self):
        self.change("policy.schema.json", '"type": "object", "additionalProperties"', '"type": "thing", "additionalProperties"')
        self.fails("check_policies: the schema itself is not valid")


if __name__ == "__main__":
    unittest.main()
