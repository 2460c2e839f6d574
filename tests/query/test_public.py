"""What other packages may rely on."""

import omnigraph.query as query


def test_public_names() -> None:
    assert query.__all__ == sorted(query.__all__)
    assert set(query.__all__) == {
        "CheckedFile",
        "CheckedMutation",
        "CheckedQuery",
        "CheckedRead",
        "LintReport",
        "SchemaSource",
        "catalogue_entry",
        "check_each",
        "check_queries",
        "compile_queries",
        "decode_params",
        "describe_operation",
        "dump_query",
        "format_queries",
        "lint_queries",
        "parse_queries",
    }
    assert all(hasattr(query, name) for name in query.__all__)
