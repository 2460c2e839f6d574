"""The catalogue of codes that plans and findings about migrations carry: `OG-<family>-<number>`."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

FAMILIES = ("DS", "MF", "CD", "BC", "NM", "OW", "NL", "VE", "ED", "LK")
"""Every family, most of them reserved."""


class Tier(StrEnum):
    """What a coded change does to stored rows."""

    DESTRUCTIVE = "destructive"
    VALIDATED = "validated"


@dataclass(frozen=True, slots=True)
class Code:
    """One entry. `is_reserved` says that nothing carries it yet."""

    code: str
    title: str
    tier: Tier
    is_reserved: bool = False

    def __str__(self) -> str:
        """Write the code itself."""
        return self.code


DROP_GRAPH = Code("OG-DS-101", "drop a graph type", Tier.DESTRUCTIVE, is_reserved=True)
DROP_NODE = Code("OG-DS-102", "drop a node type", Tier.DESTRUCTIVE)
DROP_EDGE = Code("OG-DS-103", "drop an edge type", Tier.DESTRUCTIVE)
DROP_PROPERTY = Code("OG-DS-104", "drop a property", Tier.DESTRUCTIVE)
DROP_VECTOR = Code("OG-DS-105", "drop a vector property", Tier.DESTRUCTIVE)
ADD_REQUIRED = Code("OG-MF-103", "add a required property without a default", Tier.VALIDATED)
TIGHTEN = Code("OG-MF-104", "make a nullable property required", Tier.VALIDATED)
CHANGE_TYPE = Code("OG-MF-106", "change a property's type", Tier.DESTRUCTIVE)

CATALOGUE = (
    DROP_GRAPH,
    DROP_NODE,
    DROP_EDGE,
    DROP_PROPERTY,
    DROP_VECTOR,
    ADD_REQUIRED,
    TIGHTEN,
    CHANGE_TYPE,
)
