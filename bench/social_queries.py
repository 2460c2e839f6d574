"""The same questions in three languages. Every one has a total order, so that the answers can be compared."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class Question:
    """What is asked, of us, of Ladybug, and of DuckDB."""

    name: str
    gq: str
    cypher: str
    sql: str
    params: dict[str, Any] = field(default_factory=dict)


SOCIAL = (
    Question(
        "q1 most followed",
        "query q() { match { $f: Person $p: Person $f follows $p } return { $p.pid as person, count($f) as n }"
        " order { n desc, person } limit 3 }",
        "MATCH (f:Person)-[:Follows]->(p:Person) RETURN p.id AS person, count(f.id) AS n"
        " ORDER BY n DESC, person LIMIT 3",
        "SELECT p.id AS person, count(*) AS n FROM Follows f JOIN Person p ON p.id = f.dst"
        " GROUP BY p.id ORDER BY n DESC, person LIMIT 3",
    ),
    Question(
        "q2 home of the most followed",
        "query q() { match { $f: Person $p: Person $c: City $f follows $p $p livesIn $c }"
        " return { $p.pid as person, $c.name as city, count($f) as n } order { n desc, person } limit 1 }",
        "MATCH (f:Person)-[:Follows]->(p:Person) WITH p, count(f.id) AS n ORDER BY n DESC, p.id LIMIT 1"
        " MATCH (p)-[:LivesIn]->(c:City) RETURN p.id AS person, c.name AS city, n",
        "SELECT p.person, c.name AS city, p.n FROM (SELECT dst AS person, count(*) AS n FROM Follows GROUP BY dst"
        " ORDER BY n DESC, dst LIMIT 1) p JOIN LivesIn l ON l.src = p.person JOIN City c ON c.id = l.dst",
    ),
    Question(
        "q3 youngest cities of a country",
        "query q($country: String) { match { $p: Person $c: City $k: Country { name: $country } $p livesIn $c"
        " $c inCountry $k } return { $c.name as city, avg($p.age) as age } order { age, city } limit 5 }",
        "MATCH (p:Person)-[:LivesIn]->(c:City)-[:InCountry]->(k:Country {id: $country})"
        " RETURN c.name AS city, avg(p.age) AS age ORDER BY age, city LIMIT 5",
        "SELECT c.name AS city, avg(p.age) AS age FROM Person p JOIN LivesIn l ON l.src = p.id"
        " JOIN City c ON c.id = l.dst JOIN InCountry i ON i.src = c.id WHERE i.dst = $country"
        " GROUP BY c.name ORDER BY age, city LIMIT 5",
        {"country": "Japan"},
    ),
    Question(
        "q4 people of an age by country",
        "query q($low: I32, $high: I32) { match { $p: Person $c: City $k: Country $p.age >= $low $p.age <= $high"
        " $p livesIn $c $c inCountry $k } return { $k.name as country, count($p) as n }"
        " order { n desc, country } limit 3 }",
        "MATCH (p:Person)-[:LivesIn]->(c:City)-[:InCountry]->(k:Country) WHERE p.age >= $low AND p.age <= $high"
        " RETURN k.id AS country, count(p.id) AS n ORDER BY n DESC, country LIMIT 3",
        "SELECT i.dst AS country, count(*) AS n FROM Person p JOIN LivesIn l ON l.src = p.id"
        " JOIN InCountry i ON i.src = l.dst WHERE p.age >= $low AND p.age <= $high"
        " GROUP BY i.dst ORDER BY n DESC, country LIMIT 3",
        {"low": 30, "high": 40},
    ),
    Question(
        "q5 men of a city with an interest",
        "query q($gender: String, $city: String, $interest: String) { match { $p: Person { gender: $gender }"
        " $c: City { name: $city } $i: Interest { name: $interest } $p livesIn $c $p hasInterest $i }"
        " return { count($p) as n } }",
        "MATCH (p:Person)-[:HasInterest]->(i:Interest), (p)-[:LivesIn]->(c:City)"
        " WHERE i.id = $interest AND p.gender = $gender AND c.name = $city RETURN count(p.id) AS n",
        "SELECT count(*) AS n FROM Person p JOIN LivesIn l ON l.src = p.id JOIN City c ON c.id = l.dst"
        " JOIN HasInterest h ON h.src = p.id WHERE h.dst = $interest AND p.gender = $gender AND c.name = $city",
        {"gender": "male", "city": "City 3", "interest": "fine dining"},
    ),
    Question(
        "q6 cities by women with an interest",
        "query q($gender: String, $interest: String) { match { $p: Person { gender: $gender } $c: City"
        " $i: Interest { name: $interest } $p livesIn $c $p hasInterest $i }"
        " return { $c.name as city, count($p) as n } order { n desc, city } limit 5 }",
        "MATCH (p:Person)-[:HasInterest]->(i:Interest), (p)-[:LivesIn]->(c:City)"
        " WHERE i.id = $interest AND p.gender = $gender RETURN c.name AS city, count(p.id) AS n"
        " ORDER BY n DESC, city LIMIT 5",
        "SELECT c.name AS city, count(*) AS n FROM Person p JOIN LivesIn l ON l.src = p.id"
        " JOIN City c ON c.id = l.dst JOIN HasInterest h ON h.src = p.id"
        " WHERE h.dst = $interest AND p.gender = $gender GROUP BY c.name ORDER BY n DESC, city LIMIT 5",
        {"gender": "female", "interest": "tennis"},
    ),
    Question(
        "q7 country by people of an age with an interest",
        "query q($low: I32, $high: I32, $interest: String) { match { $p: Person $c: City $k: Country"
        " $i: Interest { name: $interest } $p.age >= $low $p.age <= $high $p livesIn $c $c inCountry $k"
        " $p hasInterest $i } return { $k.name as country, count($p) as n } order { n desc, country } limit 1 }",
        "MATCH (p:Person)-[:LivesIn]->(c:City)-[:InCountry]->(k:Country), (p)-[:HasInterest]->(i:Interest)"
        " WHERE p.age >= $low AND p.age <= $high AND i.id = $interest"
        " RETURN k.id AS country, count(p.id) AS n ORDER BY n DESC, country LIMIT 1",
        "SELECT n.dst AS country, count(*) AS n FROM Person p JOIN LivesIn l ON l.src = p.id"
        " JOIN InCountry n ON n.src = l.dst JOIN HasInterest h ON h.src = p.id"
        " WHERE p.age >= $low AND p.age <= $high AND h.dst = $interest GROUP BY n.dst ORDER BY n DESC, country LIMIT 1",
        {"low": 23, "high": 30, "interest": "photography"},
    ),
    Question(
        "q8 paths of two",
        "query q() { match { $a: Person $b: Person $c: Person $a follows $b $b follows $c }"
        " return { count($a) as n } }",
        "MATCH (a:Person)-[:Follows]->(b:Person)-[:Follows]->(c:Person) RETURN count(*) AS n",
        "SELECT count(*) AS n FROM Follows f JOIN Follows g ON g.src = f.dst",
    ),
    Question(
        "q9 paths of two by age",
        "query q($young: I32, $old: I32) { match { $a: Person $b: Person $c: Person $a follows $b $b follows $c"
        " $b.age < $young $c.age > $old } return { count($a) as n } }",
        "MATCH (a:Person)-[:Follows]->(b:Person)-[:Follows]->(c:Person) WHERE b.age < $young AND c.age > $old"
        " RETURN count(*) AS n",
        "SELECT count(*) AS n FROM Follows f JOIN Person b ON b.id = f.dst JOIN Follows g ON g.src = b.id"
        " JOIN Person c ON c.id = g.dst WHERE b.age < $young AND c.age > $old",
        {"young": 50, "old": 25},
    ),
)


def _hops(most: int) -> Question:
    return Question(
        f"reach 1..{most}",
        f"query q($who: String) {{ match {{ $a: Person {{ pid: $who }} $b: Person $a follows{{1,{most}}} $b }}"
        " return { count($b) as n } }",
        f"MATCH (a:Person {{id: $who}})-[:Follows* SHORTEST 1..{most}]->(b:Person)"
        " WHERE b.id <> $who RETURN count(DISTINCT b.id) AS n",
        "WITH RECURSIVE r(id, hop) AS (SELECT $who, 0 UNION SELECT f.dst, r.hop + 1 FROM r"
        " JOIN Follows f ON f.src = r.id"
        f" WHERE r.hop < {most}) SELECT count(DISTINCT id) AS n FROM r WHERE id <> $who",
        {"who": "p0004242"},
    )


MORE = (
    Question(
        "point lookup",
        "query q($who: String) { match { $p: Person { pid: $who } } return { $p.name as name, $p.age as age } }",
        "MATCH (p:Person {id: $who}) RETURN p.name AS name, p.age AS age",
        "SELECT name, age FROM Person WHERE id = $who",
        {"who": "p0004242"},
    ),
    _hops(1),
    _hops(2),
    _hops(3),
    Question(
        "shortest path",
        "query q($who: String, $whom: String) { match { $a: Person { pid: $who } $b: Person { pid: $whom }"
        " shortest $way = $a follows{1,30} $b } return { length($way) as hops } }",
        "MATCH p = (a:Person {id: $who})-[:Follows* SHORTEST 1..30]->(b:Person {id: $whom}) RETURN length(p) AS hops",
        "WITH RECURSIVE r(id, hop) AS (SELECT $who, 0 UNION SELECT f.dst, r.hop + 1 FROM r"
        " JOIN Follows f ON f.src = r.id"
        " WHERE r.hop < 4) SELECT min(hop) AS hops FROM r WHERE id = $whom",
        {"who": "p0004242", "whom": "p0001717"},
    ),
)
QUESTIONS = (*SOCIAL, *MORE)
