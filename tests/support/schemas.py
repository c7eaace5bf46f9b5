# SPDX-License-Identifier: Apache-2.0
"""JSON reports against the schemas that are shipped."""

from __future__ import annotations

import json
from typing import Any

import jsonschema

from tests.support.tree import ROOT

__all__ = ["valid"]


def valid(name: str, text: bytes | str) -> dict[str, Any]:
    """The document, after it was held against ``vxmon/report/schemas/NAME.json``."""
    schema = json.loads((ROOT / f"vxmon/report/schemas/{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    document: dict[str, Any] = json.loads(text)
    jsonschema.Draft202012Validator(schema).validate(document)
    return document
