# SPDX-License-Identifier: Apache-2.0
"""``vxmon check`` as JUnit XML: a test case for each rule.

One ``testsuite`` as the root, so that it is valid by the schema of Jenkins' xUnit plugin (junit-10.xsd) and by that of
Maven Surefire (surefire-test-report.xsd).
"""

from __future__ import annotations

import re
from collections import Counter
from typing import Final
from xml.etree.ElementTree import Element, SubElement, indent, tostring

from vxmon.analysis.gate.judge import GateResult, RuleResult
from vxmon.analysis.quality import headline
from vxmon.config.limits import Severity
from vxmon.report.check import limit_text, sentences, several_boots
from vxmon.report.units import amount, figure_text, named_text
from vxmon.trace.facts import Facts

__all__ = ["check_junit"]

# What XML 1.0 cannot hold, not even as a reference.
_NO_XML: Final = re.compile("[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def check_junit(result: GateResult, facts: Facts, fail_on: Severity) -> str:
    """The report as an XML document. What fails, fails the check; a warning that does not is told in system-out."""
    failed = result.failed(fail_on)
    suite = Element("testsuite", {
        "name": "vxmon check", "tests": str(len(result.rules)), "failures": str(len(failed)), "errors": "0",
        "skipped": "0", "time": "0",
    })  # fmt: skip
    properties = SubElement(suite, "properties")
    told = [("limits", result.limits.path), ("loss", headline(facts)), *(("file", file.name) for file in facts.files)]
    for name, value in told:
        SubElement(properties, "property", {"name": name, "value": _xml(value)})
    seen: Counter[str] = Counter()
    for rule in result.rules:
        name = f"{rule.rule.pattern.text} {limit_text(rule.rule)}"
        seen[name] += 1
        case = _case(suite, rule, fails=rule in failed, boots=several_boots(facts))
        # Two cases of one name would be one in a history of results.
        case.set("name", _xml(name if seen[name] == 1 else f"{name} ({seen[name]})"))
    indent(suite)
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + tostring(suite, "unicode") + "\n"


def _case(suite: Element, result: RuleResult, *, fails: bool, boots: bool) -> Element:
    rule = result.rule
    kind = rule.pattern.head.partition(".")[0] or "any"
    case = SubElement(suite, "testcase", {"name": "", "classname": _xml(f"vxmon.{kind}"), "time": "0"})
    said = [f"{rule.place}: {line}" for line in sentences(result, boots=boots)]
    if fails:
        failure = SubElement(case, "failure", {"message": _xml(said[0]), "type": result.verdict})
        failure.text = _xml("\n".join(said))
        return case
    out = "\n".join([f"WARNING: {line}" for line in said] or [_nearest(result, boots=boots)])
    SubElement(case, "system-out").text = _xml(out)
    return case


def _nearest(result: RuleResult, *, boots: bool) -> str:
    """What a rule that holds was held against."""
    nearest = result.closest
    if nearest is None or nearest.room is None:
        return f"{len(result.judged)} figures"
    unit = nearest.figure.unit
    of = f"nearest of {len(result.judged)}: " if len(result.judged) > 1 else ""
    value = figure_text(nearest.figure)
    return f"{of}{named_text(nearest.figure, boots=boots)} is {value}, {amount(nearest.room, unit)} within its limit"


def _xml(text: str) -> str:
    return _NO_XML.sub("?", text)
