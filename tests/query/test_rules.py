"""Every rule and every code of the language, each with a text that breaks it, where, and what is said.

The place a finding points at is marked in the text: `«` stands before its first character.
"""

import pytest

from omnigraph.query import parse_queries
from tests.query.people import failure, only

P = "match { $p: Person } return { $p.name }"


def _r(clauses: str, result: str = "$p.name", rest: str = "", parameters: str = "") -> str:
    return f"query q({parameters}) {{\n  match {{ $p: Person {clauses} }}\n  return {{ {result} }} {rest}\n}}"


def _m(statements: str, parameters: str = "") -> str:
    return f"query q({parameters}) {{\n  {statements}\n}}"


RULES = {
    # -- bindings
    "T1 unknown type": ("T1", _r("$x: «Persn"), "there is no node type 'Persn'; did you mean 'Person'?"),
    "T1 wrong case": ("T1", _r("$x: «PERSON"), "did you mean 'Person'? names are case-sensitive"),
    "T1 edge type": ("T1", _r("$x: «Knows"), "Knows is an edge type; write $a $e:knows $b"),
    "T2 unknown property": ("T2", _r('$x: Person { «nmae: "a" }'), "did you mean 'name'?"),
    "T2 wrong case": ("T2", _r('$x: Person { «nAme: "a" }'), "did you mean 'name'? names are case-sensitive"),
    "T2 id is no property": ("T2", _r('$x: Person { «id: "a" }'), "write $x.@id"),
    "T2 property of an implementing type": ("T2", _r("$x: Named { «age: 1 }"), "a Named node has no property"),
    "T3 literal in a binding": ("T3", _r('$x: Person { age: «"a" }'), "age is I32, the value is String"),
    "T3 enum in a binding": ("T3", _r('$x: Person { role: «"admn" }'), "did you mean 'admin'?"),
    "T3 enum in a comparison": ("T3", _r('«$p.role = "boss"'), "'boss' is not one of admin, guest, member"),
    "T3 enum in a list": ("T3", _r('«$p.role in ["admin", "boss"]'), "'boss' is not one of"),
    "T3 enum in an assignment": ("T3", _m('update Person set { role: «"boss" } where age > 1'), "is not one of"),
    "T3 blob in a binding": ("T3", _r('$x: Person { photo: «"a" }'), "cannot be matched"),
    "T3 list against list": ("T3", _r('$x: Person { tags: «["a"] }'), "matched by one of its items"),
    "T3 list against scalar": ("T3", _r('$x: Person { name: «["a"] }'), "the value is [String]"),
    "T3 null in a binding": ("T3", _r("$x: Person { age: «null }"), "write $x.age is null"),
    "T3 vector in a binding": ("T3", _r("$x: Person { taste: «[1, 2, 3] }"), "cannot be matched"),
    "T3 literal in an assignment": ("T3", _m('update Person set { age: «"a" } where age > 1'), "Person.age is I32"),
    "T3 date as text": (
        "T3",
        _m('update Person set { born: «"2020-01-01" } where age > 1'),
        'write date("2020-01-01")',
    ),
    "T3 vector length": ("T3", _m("update Person set { taste: «[1, 2] } where age > 1"), "has 3 dimensions"),
    "T3 vector of texts": ("T3", _m('update Person set { taste: «["a"] } where age > 1'), "takes a list of numbers"),
    "T3 null to non-nullable": ("T3", _m("update Person set { name: «null } where age > 1"), "is not nullable"),
    "T3 literal to Blob": ("T3", _m('update Person set { photo: «"a" } where age > 1'), "takes a parameter"),
    "T3 list to scalar": ("T3", _m("update Person set { age: «[1] } where age > 1"), "the value is [I64]"),
    "T3 fraction to integer": ("T3", _m("update Person set { age: «1.5 } where age > 1"), "takes no fractions"),
    "T3 integer out of range": ("T3", _m("update Person set { age: «3000000000 } where age > 1"), "range of I32"),
    "T3 integer of no type": ("T3", _r("$p.age < «99999999999999999999"), "larger than any integer type"),
    "T3 no such day": ("T3", _r('$p.born = «date("2021-02-30")'), "write YYYY-MM-DD"),
    "T3 day with a time": ("T3", _r('$p.born = «date("2021-02-03T10:00:00Z")'), "is not a date"),
    "T3 no such time": ("T3", _r('$p.seen = «datetime("noon")'), "write YYYY-MM-DDTHH:MM:SSZ"),
    # -- traversals
    "T4 unknown edge": ("T4", _r("$p «knwos $f"), "there is no edge 'knwos'; did you mean 'knows'?"),
    "T5 wrong target": ("T5", _r("$c: Company $p knows «$c"), "Knows goes from Person to Person, but $c is a Company"),
    "T5 wrong source": ("T5", _r("$c: Company «$c wrote $n"), "Wrote goes from Person to Note, but $c is a Company"),
    "T5 both ends of one side": ("T5", _r("$q: Person $p worksAt «$q"), "but $q is a Person"),
    "T5 to itself": ("T5", _r("$a worksAt «$a"), "never from a node to itself"),
    "T5 inside not": ("T5", _r("$c: Company not { $p knows «$c }"), "but $c is a Company"),
    "T6 unbound": ("T6", _r("«$x.age > 1"), "$x is not bound"),
    "T6 misspelt": ("T6", _r("$friend: Person «$freind.age > 1"), "did you mean 'friend'?"),
    "T6 unknown property": ("T6", _r("$p.«agee > 1"), "a Person node has no property 'agee'; did you mean 'age'?"),
    "T6 wrong case": ("T6", _r("$p.«aGe > 1"), "did you mean 'age'? names are case-sensitive"),
    "T6 id": ("T6", _r('$p.«id = "a"'), "write $p.@id"),
    "T6 property of an edge": ("T6", _r("$p $w:knows $f $w.«sinse is null"), "did you mean 'since'?"),
    "T6 parameter has no properties": ("T6", _r("«$n.age > 1", parameters="$n: String"), "is a parameter"),
    "T6 no such field": ("T6", _r('$p.«@src = "a"'), "known: @id"),
    "T6 field without variable": ("T6", _r('«@id = "a"'), "write $x.@id"),
    "T6 bare word": ("T6", _r("«name = 1"), "a variable is written $name"),
    "T6 no such column": ("T6", _r("", "$p.name as title", "order { «titel }"), "did you mean 'title'?"),
    "T6 column of a later projection": ("T6", _r("", "«a + 1 as b, $p.age as a"), "there is no column 'a'"),
    # -- filters
    "T7 incompatible types": ("T7", _r('«$p.age = "a"'), "I32 cannot be compared with String"),
    "T7 no condition": ("T7", _r("«$p.age"), "a condition is true or false, this is I32"),
    "T7 node against value": ("T7", _r("«$p = 1"), "compare its .@id or a property"),
    "T7 nodes of two types": ("T7", _r("$c: Company «$p = $c"), "is never the same as"),
    "T7 nodes in order": ("T7", _r("$q: Person «$p < $q"), "nodes compare by = and !="),
    "T7 lists": ("T7", _r('«$p.tags = ["a"]'), "use contains or in"),
    "T7 list against scalar": ("T7", _r('«$p.tags = "a"'), "use contains or in"),
    "T7 vector": ("T7", _r("«$p.taste = $v", parameters="$v: Vector(3)"), "a Vector cannot be compared"),
    "T7 blob": ("T7", _r('«$p.photo = "a"'), "a Blob cannot be compared"),
    "T7 contains on a number": ("T7", _r('«$p.age contains "a"'), "contains needs text"),
    "T7 contains item of another type": ("T7", _r("«$p.tags contains 1"), "a list of String holds no I64"),
    "T7 starts_with on a number": ("T7", _r("«$p.name starts_with 1"), "starts_with needs text"),
    "T7 now against Date": ("T7", _r("«$p.born < now()"), "Date cannot be compared with DateTime"),
    "T7 now in a binding": ("T7", _r("$x: Person { born: «now() }"), "the value is DateTime"),
    "T7 parameter in a binding": ("T7", _r("$x: Person { age: «$a }", parameters="$a: String"), "age is I32"),
    "T7 parameter in an assignment": (
        "T7",
        _m("update Person set { age: «$a } where age > 1", "$a: String"),
        "Person.age is I32, the value is String",
    ),
    "T7 parameter in a predicate": ("T7", _m("delete Person where «age = $a", "$a: String"), "cannot be compared"),
    "T7 in without a list": ("T7", _r("«$p.age in 3"), "membership needs a single value and a list"),
    "T7 null compared": ("T7", _r("«$p.age = null"), "write is null"),
    "T7 null not equal": ("T7", _r("«$p.age != null"), "write is not null"),
    "T7 arithmetic on text": ("T7", _r("«$p.name + 1 > 2"), "use concat(a, b) for text"),
    "T7 arithmetic on days": ("T7", _r("«$p.born + 1 > 2"), "use date_add and date_diff"),
    "T7 minus text": ("T7", _r("«-$p.name = 1"), "'-' needs a number"),
    "T7 and on numbers": ("T7", _r("«$p.age and $p.age > 1"), "a condition is true or false"),
    "T7 aggregate in a filter": ("T7", _r("$p knows $f «count($f) > 1"), "use a block: count { … } > 2"),
    "T7 aggregate in an aggregate": ("T7", _r("", "sum(«count($p)) as n"), "belongs into return or order"),
    "T7 order by a list": ("T7", _r("", rest="order { «$p.tags }"), "rows cannot be ordered by [String]"),
    "T7 order by a node": ("T7", _r("", rest="order { «$p }"), "order by its .@id or a property"),
    "T6 column in an aggregate": ("T6", _r("", "count($p) as n, sum(«n) as s"), "'n' is no value here"),
    "T7 null as a column": ("T7", _r("", "«null as n"), "null alone has no type"),
    "T7 block against text": ("T7", _r('«count { $p knows $f } > "a"'), "I64 cannot be compared with String"),
    "T7 block in a list": ("T7", _r("«count { $p knows $f } not in [1]"), "does not compare the value of a block"),
    # -- aggregates
    "T8 sum of text": ("T8", _r("", "«sum($p.name) as s"), "sum() needs a number, not String"),
    "T8 avg of bool": ("T8", _r("", "«avg($p.active) as s"), "avg() needs a number"),
    "T8 sum of a list": ("T8", _r("", "«sum($p.tags) as s"), "sum() needs a number"),
    "T8 min of a list": ("T8", _r("", "«min($p.tags) as s"), "min() cannot order [String]"),
    "T8 max of a vector": ("T8", _r("", "«max($p.taste) as s"), "max() cannot order Vector(3)"),
    "T8 sum of nodes": ("T8", _r("", "«sum($p) as s"), "name a property"),
    "T8 collect of lists": ("T8", _r("", "«collect($p.tags) as s"), "takes single values"),
    "T8 collect over a block": ("T8", _r("«collect($f.age) { $p knows $f } > 1"), "use count, sum, avg, min or max"),
    "T8 sum of text over a block": ("T8", _r("«sum($f.name) { $p knows $f } > 1"), "sum() needs a number"),
    "T9 not without outer variable": ("T9", _r("«not { $x: Company }"), "mentions no variable from outside"),
    "T9 direct clauses only": ("T9", _r("«not { not { $p knows $x } }"), "mentions no variable from outside"),
    "T9 exists without outer variable": ("T9", _r("«exists { $x: Company }"), "the same for every row"),
    "T9 literal beside an aggregate": ("T9", _r("", "«1 as one, count($p) as n"), "'one' is no group key"),
    "T9 parameter beside an aggregate": ("T9", _r("", "«$k, count($p) as n", parameters="$k: I64"), "no group key"),
    "T9 aggregate mixed with a row": ("T9", _r("", "$p.name, «count($p) + $p.age as n"), "mixes an aggregate"),
    "T9 order within a group": ("T9", _r("", "$p.name, count($p) as n", "order { «$p.age }"), "differs within a group"),
    # -- mutations
    "T10 unknown type": ("T10", _m("delete «Persn where age > 1"), "did you mean 'Person'?"),
    "T10 wrong case": ("T10", _m("delete «KNOWS where weight > 1"), "did you mean 'Knows'? names are case-sensitive"),
    "T10 interface": ("T10", _m("delete «Named where age > 1"), "types that implement it: Company, Person"),
    "T11 insert": ("T11", _m('insert Place { «nmae: "a" }'), "Place has no property 'nmae'"),
    "T11 update": ("T11", _m("update Person set { «aeg: 1 } where age > 1"), "did you mean 'age'?"),
    "T11 where": ("T11", _m("delete Person where «aeg > 1"), "did you mean 'age'?"),
    "T11 blob in where": ("T11", _m('delete Person where «photo = "a"'), "is a Blob"),
    "T11 src of an edge": ("T11", _m('insert Contains { from: "a", to: "b", «src: "c" }'), "written from and to"),
    "T12 required property": ("T12", _m('insert «Person { name: "a" }'), "lacks the property email; add email: …"),
    "T12 ends of an edge": ("T12", _m('insert «Contains { from: "a" }'), "lacks the property to"),
    "T12 all that is missing": ("T12", _m('insert «Wrote { from: "a" }'), "lacks the properties to, at"),
    "T12 embedding without its source": (
        "T12",
        _m('insert «Note { title: "a", written: now() }'),
        "lacks the properties meaning, text",
    ),
    "T13 assigned twice": ("T13", _m("update Person set { age: 1, «age: 2 } where age > 1"), "assigned twice"),
    "T13 end assigned twice": ("T13", _m('insert Contains { from: "a", to: "b", «to: "c" }'), "assigned twice"),
    "T14 unknown parameter": (
        "T14",
        _m("update Person set { age: «$agee } where age > 1", "$age: I32"),
        "did you mean 'age'?",
    ),
    "T14 unknown parameter in where": ("T14", _m("delete Person where age = «$a"), "$a is not a parameter"),
    "T14 word in an insert": ("T14", _m('insert Company { slug: «name, name: "a" }'), "a parameter is written $name"),
    "T16 end of an edge": ("T16", _m('update Knows set { «to: "a" } where weight > 1'), "delete the edge and insert"),
    "T16 key": ("T16", _m('update Person set { «email: "a" } where age > 1'), "cannot update @key property 'email'"),
    # -- hops, ranking, search
    "T15 no hop": ("T15", _r("$p knows«{0,2} $f"), "hops start at 1"),
    "T15 most below least": ("T15", _r("$p knows«{3,2} $f"), "swap the bounds"),
    "T15 nearest unbound": ("T15", _r("", rest='order { nearest(«$x.taste, "a") } limit 1'), "$x is not bound"),
    "T15 nearest unknown": ("T15", _r("", rest='order { nearest($p.«tast, "a") } limit 1'), "did you mean 'taste'"),
    "T15 nearest no vector": ("T15", _r("", rest='order { nearest(«$p.name, "a") } limit 1'), "needs a Vector"),
    "T15 nearest no property": ("T15", _r("", rest='order { nearest(«$p, "a") } limit 1'), "write $x.property"),
    "T15 nearest dimension": ("T15", _r("", rest="order { nearest($p.taste, «[1, 2]) } limit 1"), "has 3 dimensions"),
    "T15 nearest parameter dimension": (
        "T15",
        _r("", rest="order { nearest($p.taste, «$v) } limit 1", parameters="$v: Vector(4)"),
        "the query has 4",
    ),
    "T15 nearest to a number": ("T15", _r("", rest="order { nearest($p.taste, «1) } limit 1"), "or a String"),
    "T15 farthest first": (
        "T15",
        _r("", rest='order { «nearest($p.taste, "a") desc } limit 1'),
        "puts the nearest first",
    ),
    "T17 nearest without limit": ("T17", _r("", rest='order { «nearest($p.taste, "a") }'), "add limit 10"),
    "T17 through a column": ("T17", _r("", 'nearest($p.taste, "a") as d', "order { «d }"), "needs a limit"),
    "T18 nearest beside a column": (
        "T18",
        _r("", "$p.age as a", 'order { nearest($p.taste, "a"), «a } limit 1'),
        "nearest( … ) as distance",
    ),
    "T19 search in a number": ("T19", _r('search(«$p.age, "a")'), "searches String properties, not I32"),
    "T19 search for a number": ("T19", _r("search($p.bio, «1)"), "needs a String to look for"),
    "T19 search no property": ("T19", _r('search(«"a", "a")'), "write $x.property"),
    "T19 fuzzy in a list": ("T19", _r('fuzzy(«$p.tags, "a")'), "not [String]"),
    "T19 fuzzy edits": ("T19", _r('fuzzy($p.bio, "a", «"b")'), "the number of edits is an integer"),
    "T19 search for a property": ("T19", _r("search($p.bio, «$p.name)"), "cannot depend on the row"),
    "T19 arguments": ("T19", _r("«search($p.bio)"), "search() takes 2 arguments"),
    "T20 match_text in a number": ("T20", _r('match_text(«$p.age, "a")'), "searches String properties"),
    "T20 match_text for a number": ("T20", _r("match_text($p.bio, «1)"), "needs a String"),
    "T20 bm25 in a number": ("T20", _r("", rest='order { bm25(«$p.age, "a") }'), "searches String properties"),
    "T20 bm25 for a list": ("T20", _r("", rest='order { bm25($p.bio, «["a"]) }'), "needs a String"),
    "T21 operand": ("T21", _r("", rest='order { rrf(«$p.age, bm25($p.bio, "a")) } limit 1'), "rrf merges"),
    "T21 k": (
        "T21",
        _r("", rest='order { rrf(nearest($p.taste, "a"), bm25($p.bio, "a"), «0) } limit 1'),
        "an integer above zero",
    ),
    "T21 k is no integer": (
        "T21",
        _r("", rest='order { rrf(nearest($p.taste, "a"), bm25($p.bio, "a"), «"a") } limit 1'),
        "an integer above zero",
    ),
    "T21 missing limit": (
        "T21",
        _r("", rest='order { «rrf(nearest($p.taste, "a"), bm25($p.bio, "a")) }'),
        "rrf needs a limit",
    ),
    "T21 as a filter": ("T21", _r('«rrf(bm25($p.bio, "a"), bm25($p.bio, "b")) > 0.1'), "cannot filter"),
    "T22 undirected between types": ("T22", _r("$p <«worksAt> $c"), "leave out the angle brackets"),
    "T23 edge with hops": ("T23", _r("$p $w:knows«{1,2} $f"), "so there are no hops"),
    "T23 edge named as its end": ("T23", _r("$p «$p:knows $f"), "$p is bound already"),
    "T23 edge named as its new end": ("T23", _r("$p «$f:knows $f"), "$f is bound already"),
    "T23 edge twice": ("T23", _r("$p $w:knows $f $f «$w:knows $g"), "$w is bound already"),
    "T23 edge as end": ("T23", _r("$p $w:knows $f $f knows «$w"), "cannot be the end of a traversal"),
    "T23 edge bare": ("T23", _r("$p $w:knows $f", "«$w"), "use $w.@id or a property"),
    "T23 edge bare in count": ("T23", _r("$p $w:knows $f", "count(«$w) as n"), "cannot be used whole"),
    "T23 edge bound as node": ("T23", _r("not { $p $w:knows $f exists { «$w: Person } }"), "cannot be bound as a node"),
    "T23 edge searched": ("T23", _r('$p $w:worksAt $c search(«$w.title, "a")'), "only nodes are searched"),
    "T23 edge ranked": ("T23", _r("$p $w:knows $f", rest='order { nearest(«$w.weight, "a") } limit 1'), "only nodes"),
    "T23 path twice": ("T23", _r("shortest «$p = $p knows{1,} $f"), "$p is bound already"),
    "T23 path with an edge": ("T23", _r("shortest $way = $p «$w:knows $f"), "has no edge variable"),
    "T24 blob property": ("T24", _r("", "«$p.photo"), "a Blob cannot be read"),
    "T24 blob of an edge": ("T24", _r("$p $w:wrote $n", "«$w.proof"), "a Blob cannot be read"),
    "T24 blob parameter": ("T24", _r("", "«$b", parameters="$b: Blob"), "a Blob cannot be read"),
    "T24 blob in order": ("T24", _r("", rest="order { «$p.photo }"), "a Blob cannot be read"),
    "T24 blob in an aggregate": ("T24", _r("", "«count($p.photo) as n"), "a Blob cannot be read"),
    # -- ours
    "T25 alias twice": ("T25", _r("", "$p.name as a, $p.age as «a"), "two columns are named 'a'; choose another"),
    "T25 same value twice": ("T25", _r("", "$p.name «$p.name"), "name this one: … as other_name"),
    "T25 node and its count": ("T25", _r("", "$p, «count($p)"), "two columns are named 'p'"),
    "T26 unknown function": ("T26", _r('«lowr($p.name) = "a"'), "did you mean 'lower'"),
    "T26 too few arguments": ("T26", _r('«replace($p.name, "a") = "a"'), "takes 3 arguments, not 2"),
    "T26 too many arguments": ("T26", _r("«substring($p.name, 1, 2, 3) = 1"), "takes 2 or 3 arguments, not 4"),
    "T26 none": ("T26", _r("«concat() = 1"), "1 or more arguments"),
    "T26 argument type": ("T26", _r('lower(«$p.age) = "a"'), "lower() takes a String here, not I32"),
    "T26 unit": ("T26", _r('date_trunc(«"eon", $p.born) = $p.born'), "units are year, quarter"),
    "T26 mixed types": ("T26", _r("coalesce($p.name, «$p.age) = 1"), "mixes String and I32"),
    "T26 distinct outside an aggregate": ("T26", _r('«lower(distinct $p.name) = "a"'), "belongs into an aggregate"),
    "T26 now with arguments": ("T26", _r("$p.seen < «now(1)"), "now() takes no arguments"),
    "T26 aggregate with two arguments": ("T26", _r("", "«sum($p.age, 1) as s"), "takes one argument"),
    "T27 limit is no integer": ("T27", _r("", rest="limit «$n", parameters="$n: F64"), "takes an integer"),
    "T27 limit may be null": ("T27", _r("", rest="limit «$n", parameters="$n: I64?"), "$n is I64?"),
    "T27 limit is no parameter": ("T27", _r("", rest="limit «$count", parameters="$cont: I64"), "did you mean 'cont'?"),
    "T27 limit is huge": ("T27", _r("", rest="limit «99999999999999999999"), "larger than any integer type"),
    "T27 offset": ("T27", _r("", rest="limit 1 offset «$n", parameters="$n: String"), "offset takes an integer"),
    "T28 distinct ordered by another value": (
        "T28",
        "query q() { match { $p: Person } return distinct { $p.name } order { «$p.age } }",
        "return this value too",
    ),
    # -- rules without a code
    "rebinding to another type": (None, _r("«$p: Company"), "$p is a Person node already, not a Company node"),
    "unbound variable": (None, _r("", "«$x"), "$x is not bound"),
    "unknown parameter type": (None, _r("", parameters="$a: «Int"), "unknown parameter type 'Int'"),
    "reserved parameter": (None, _r("", parameters="«$__nanograph_now: DateTime"), "is reserved; use now()"),
    "parameter twice": (None, _r("", parameters="$a: I64, «$a: I64"), "declared twice"),
    "parameter without a name": (None, _r("", parameters="«$_: I64"), "needs a name"),
    "vector without size": (None, _r("", parameters="$a: «Vector"), "written Vector(N)"),
    "size without vector": (None, _r("", parameters="$a: «String(3)"), "written String"),
    "vector of nothing": (None, _r("", parameters="$a: «Vector(0)"), "a vector has 1 to"),
    "list of blobs": (None, _r("", parameters="$a: «[Blob]"), "a list cannot hold Blob"),
    "mixed list": (None, _r('$p.age in [1, «"a"]'), "this list mixes I64 and String"),
    "nested list": (None, _r("$p.age in [«[1]]"), "a list holds single values"),
    "inserts and deletes": (
        None,
        _m('insert Company { slug: "a", name: "b" } «delete Person where age > 1'),
        "mutation 'q' on the same query mixes",
    ),
}

SYNTAX = {
    "hash": ("query q() { «# }", "comments start with //"),
    "single quotes": ("query q() { match { $p: Person { name: «'a' } } return { $p.name } }", "double quotes"),
    "string not closed": ('query q() { match { $p: Person { name: «"a } }', "no closing quote"),
    "comment not closed": ("query q() { «/* a", "no closing */"),
    "unsupported escape": (_r('$p.name = "a«\\q"'), "unsupported escape"),
    "lone dollar": (_r("«$ = 1"), "a variable is '$' and a name"),
    "exclamation mark": (_r("«!($p.age = 1)"), "write != or not"),
    "double equals": (_r("$p.age =«= 1"), "unexpected '=': expected an expression; write = once"),
    "other not equal": (_r("$p.age <«> 1"), "write !="),
    "ampersand": (_r("$p.age > 1 «& $p.age < 2"), "write and"),
    "semicolon": (_r("$p.age > 1«; $p.age < 2"), "nothing separates clauses"),
    "count of everything": (_r("", "count(«*) as n"), "name what is counted: count($x)"),
    "keyword in upper case": (_r("", "$p.name «AS n"), "words of the language are in lower case: as"),
    "edge in upper case": (_r("$p «Knows $f"), "names start with a lower-case letter: knows"),
    "type in lower case": (_r("", parameters="$a: «string"), "type names start with an upper-case letter"),
    "query not closed": ("query q() { match { $p: Person } return { $p.name }«", "a '}' is missing"),
    "empty braces": (_r("$x: Person {«}"), "unexpected '}'"),
    "empty match": ("query q() { match { «} return { 1 } }", "unexpected '}'"),
    "empty return": ("query q() { match { $p: Person } return { «} }", "unexpected '}'"),
    "no return": ("query q() { match { $p: Person } «}", "expected 'return'"),
    "misspelt keyword": ("query q() { match { $p: Person } «retrun { $p.name } }", "did you mean 'return'?"),
    "negative limit": (_r("", rest="limit «-1"), "unexpected '-'"),
    "description twice": ('query q() @description("a") «@description("b") { ' + P + " }", "given twice"),
    "instruction twice": ('query q() @instruction("a") «@instruction("b") { ' + P + " }", "given twice"),
    "unknown annotation": ('query q() «@note("a") { ' + P + " }", "@description and @instruction"),
    "where is missing": ("query q() { delete Person «}", "expected 'where'"),
    "something else in the file": ("«node A {}", "expected 'query'"),
    "number too large": (_r("$p.age < «999999999999999999999"), "larger than any integer type"),
}


def _marked(text: str) -> tuple[str, int, int]:
    before, found, _ = text.partition("«")
    assert found
    return text.replace("«", ""), before.count("\n") + 1, len(before) - (before.rfind("\n") + 1) + 1


@pytest.mark.parametrize(("code", "text", "said"), RULES.values(), ids=RULES.keys())
def test_rule(code: str | None, text: str, said: str) -> None:
    clean, line, column = _marked(text)
    error = failure(clean)
    found = only(error)
    assert found.code == code
    assert said in str(error)
    assert found.span is not None
    at = error.source.position(found.span.start)
    assert (at.line, at.column) == (line, column)
    assert str(error).startswith("type error: " + (f"{code}: " if code else ""))
    assert f"(my.gq:{line}:{column})" in str(error)


@pytest.mark.parametrize(("text", "said"), SYNTAX.values(), ids=SYNTAX.keys())
def test_syntax(text: str, said: str) -> None:
    clean, line, column = _marked(text)
    error = failure(clean)
    assert str(error).startswith("parse error: ")
    assert said in str(error)
    span = only(error).span
    assert span is not None
    at = error.source.position(span.start)
    assert (at.line, at.column) == (line, column)


def test_every_code_has_a_rule() -> None:
    assert {code for code, _, _ in RULES.values() if code} == {f"T{number}" for number in range(1, 29)}


def test_names_may_repeat_in_a_file_and_the_first_wins() -> None:
    parsed = parse_queries(f"query q() {{ {P} }} query q($a: I64) {{ {P} }}")
    assert len(parsed.queries) == 2
    first = parsed.query("q")
    assert first is not None
    assert not first.parameters
