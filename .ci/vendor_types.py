"""Checks a JSON array of input items on standard input against the types of the vendor's own SDK."""

import json
import sys
from typing import List

from openai.types.responses import ResponseInputItemParam
from pydantic import TypeAdapter

items = json.load(sys.stdin)
if not items:
    sys.exit("no items")
TypeAdapter(List[ResponseInputItemParam]).validate_python(items)
print(f"{len(items)} items fit the vendor's types")
