# SPDX-License-Identifier: Apache-2.0
"""Fields of events by name, whatever the session's own table says of their place."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Columns, field_values
from vxmon.wire.slots import Place, place_fields
from vxmon.wire.types import EventTable

__all__ = ["FieldReader"]

# Instants and counts from here on cannot be right and would not fit 64-bit columns.
_LIMIT: Final = 1 << 62


@dataclass(slots=True)
class FieldReader:
    """Reads named fields with the table of a boot."""

    table: EventTable
    _places: dict[int, dict[str, Place]] = field(default_factory=dict)

    def place(self, event: int, name: str) -> Place | None:
        """Where a field lies; None when the table does not have it."""
        if event not in self._places:
            entry = next((e for e in self.table.events if e.id == event), None)
            places = place_fields(entry) if entry is not None else ()
            self._places[event] = {place.field.name: place for place in places}
        return self._places[event].get(name)

    def of(self, columns: Columns, event: int) -> NDArray[np.intp]:
        """Records of an event."""
        return columns.rows_of(event)

    def having(self, columns: Columns, event: int, names: tuple[str, ...]) -> NDArray[np.intp]:
        """Records of an event that are long enough to have all these fields."""
        places = [self.place(event, name) for name in names]
        if None in places:
            return np.zeros(0, np.intp)
        words = max((place.end_word for place in places if place is not None), default=0)
        which = self.of(columns, event)
        long_enough = columns.slots[which] >= (words + 1) // 2
        return which if long_enough.all() else which[long_enough]

    def values(self, columns: Columns, event: int, name: str, which: NDArray[np.intp]) -> NDArray[np.int64]:
        """A field of the records ``which``, all of which must have it. 64-bit values above 2^62 come as 2^62."""
        place = self.place(event, name)
        if place is None:
            return np.zeros(len(which), np.int64)
        values = field_values(columns, place, which)
        if values.dtype == np.uint64:
            values = np.minimum(values, np.uint64(_LIMIT))
        return values.astype(np.int64)
