"""Many figures in few words, none lost and none made up."""

from itertools import product

from hypothesis import given
from hypothesis import strategies as st

from analysis.estimates.estimate import Estimate
from analysis.report.grouping import Group, groups
from analysis.report.labels import label, place
from analysis.report.provenance import Fact, facts

Named = tuple[tuple[str, str], ...]


def figure(names: Named) -> Estimate:
    qualifiers = {key: value for key, value in names if key != "id"}
    return Estimate(1.0, "1", "census", "m").named(dict(names)["id"], "f", **qualifiers)


def figures(group: Group) -> list[Named]:
    """The names that a group stands for: the oracle reads the text again."""
    parts = [("id", group.what.split(", "))]
    for part in filter(None, group.where.split("; ")):
        key, _, values = part.partition(" ")
        parts.append((key.removesuffix("s"), values.split(", ")))
    return [tuple(zip([k for k, _ in parts], found, strict=True)) for found in product(*(v for _, v in parts))]


NAMES = st.builds(
    lambda id, arm, boot: tuple((k, v) for k, v in (("id", id), ("arm", arm), ("boot", boot)) if v),
    st.sampled_from(["u", "v"]), st.sampled_from(["", "a", "b", "c"]), st.sampled_from(["", "1", "2"]),
)  # fmt: skip


@given(st.lists(NAMES, max_size=20, unique=True))
def test_the_groups_stand_for_exactly_the_figures(names: list[Named]) -> None:
    said = [name for group in groups(map(figure, names)) for name in figures(group)]
    assert sorted(said) == sorted(names)


def test_a_full_product_is_one_group() -> None:
    names: list[Named] = [(("id", i), ("arm", a), ("boot", b)) for i in "uv" for a in "FR" for b in "12"]
    assert list(map(str, groups(map(figure, names)))) == ["u, v (arms F, R; boots 1, 2)"]


def test_qualifiers_in_words() -> None:
    assert place("class", ("long", "short")) == "classes long, short"
    assert place("batch_tokens", ("1", "2")) == "batch tokens 1, 2"
    assert place("measure", ("available", "tokens")) == "available memory, token pool"
    made = Estimate(1.0, "1", "census", "m").named("pool.next_boot", "f", arm="A", measure="tokens")
    assert label(made) == "the next boot (arm A, token pool)"


def test_provenance_in_words() -> None:
    given = {"place": "1a2b3c4d", "files": {"read": 1201, "partial": 2}, "data_sha256": "0f" * 32, "odd_key": None,
             "versions": {"polars": "2.1"}, "list": ["a", 1], "empty": {}}  # fmt: skip
    assert facts(given) == (
        Fact("Folder (digest of its path)", "1a2b3c4d"), Fact("Files", "1,201 read, 2 partial"),
        Fact("Data (SHA-256)", "0f0f0f0f0f0f…", "0f" * 32), Fact("odd key", "not known"),
        Fact("Versions", "polars 2.1"), Fact("list", "a, 1"), Fact("empty", "none"),
    )  # fmt: skip
