"""The other sections of a post: what else was found, the ledger, what to do, methods, limits, data, how to cite."""

import re
from collections.abc import Iterable
from dataclasses import replace

from markupsafe import Markup, escape

from analysis.estimates.rounding import show_number
from analysis.findings.assumed import SAID
from analysis.findings.claims import WORDS
from analysis.report.grouping import cautions
from analysis.report.overview import Gap, missing
from analysis.report.post_material import Json, Material, cited, without_assumed
from analysis.report.post_parts import Notes, Picture, Rows, Said, Section

OTHER = (
    ("60-mixed-traffic", "What traffic classes cost each other", "effect-by-class"),
    ("70-whose-turn", "Whose turn it is", "stall"),
    ("85-fleet", "The replicas", "shares-by-replica"),
    ("80-decision", "The decision, and when to measure again", None),
    ("65-degradation", "Did anything degrade silently?", None),
)
"""Pages that have no section of their own above: page, heading, figure."""
STEPS, LIMITS, METHODS = 5, 4, 5
"""Most points listed."""
_ASKED_BEFORE = ("10-inventory", "90-takeaways", "25-levers")
"""Pages whose next step is another page's too, or about a publication."""
_OF_FLEET = ("fleet.", "decision.")


def others(m: Material) -> list[Section]:
    """A section for each further question that the study answers with a number."""
    found = []
    for page, title, figure in OTHER:
        said = m.takeaway(page)
        if said is not None and said.rests:
            found.append(Section(title, ((said,),), picture=m.picture(figure) if figure else None))
    return found


def ledger(m: Material) -> Section | None:
    """Which published claims the data carry and which they do not."""
    if not m.claims:
        return None
    by = {verdict: [c for c in m.claims if c["verdict"] == verdict] for verdict in WORDS}
    kept = by["reproduced"]
    lead = [Said(tally(m.claims), tuple(m.every("claims.verdict_count")))]
    if kept:
        served = _in_order(c for c in kept if c["low"] is not None and SAID["intervals"] not in str(c["why"]))
        parts = [f"{name} {', '.join(_in_order(of))}" for name, of in _apart(kept) if of]
        lead.append(Said(f"What is reproduced is so to its own rounding: {'; '.join(parts)}."))
        text = (
            f"Those with an interval for the service behind them: {', '.join(served) or 'none'}. The others are "
            "counts, readings of one log, one request, or have an interval from assumed spreads: true of what was "
            "recorded, and of no more."
        )
        lead.append(Said(text))
    if m.banner and kept:
        lead.append(Said("The files of this reconstruction were written from these figures: that they come out again "
                         "is consistency with one another and with the arithmetic, not replication."))  # fmt: skip
    rows = tuple(
        _row(c) for verdict in ("differs", "not_supported", "not_computable") for c in sorted(by[verdict], key=_natural)
    )
    table = Rows("Claims that are not reproduced", ("claim", "what it says", "verdict", "why"), rows) if rows else None
    return Section("Which published claims stand", (tuple(lead),), table=table, picture=_verdicts(m))


def _verdicts(m: Material) -> Picture | None:
    """The figure of verdicts under a title that counts statements and checks apart."""
    picture = m.picture("verdicts")
    if picture is None:
        return None
    counts = [
        f"{sum(c['verdict'] == 'reproduced' for c in of)} of {show_number(len(of))} {name.split(' that')[0]}"
        for name, of in _apart(m.claims) if of
    ]  # fmt: skip
    title = f"Reproduced: {', '.join(counts)}"
    return replace(picture, title=title, html=Markup(str(picture.html).replace(str(escape(picture.title)), title)))


def tally(claims: list[Json]) -> str:
    """How many got which verdict, the published statements and the checks on them (C) apart."""
    return " ".join(f"Of {show_number(len(of))} {name}, {_by_verdict(of)}." for name, of in _apart(claims) if of)


def _apart(claims: list[Json]) -> list[tuple[str, list[Json]]]:
    """The published statements, and the checks on them (C), under their names."""
    checks = [c for c in claims if str(c["id"]).startswith("C")]
    stated = [c for c in claims if c not in checks]
    return [("published statements", stated), ("checks that the publication did not make", checks)]


def _by_verdict(claims: list[Json]) -> str:
    numbers = {verdict: sum(c["verdict"] == verdict for c in claims) for verdict in WORDS}
    said = [f"{show_number(n) if n else 'none'} {_verb(verdict, n)}" for verdict, n in numbers.items()]
    return ", ".join(said[:-1]) + " and " + said[-1]


def _verb(verdict: str, n: int) -> str:
    if verdict == "differs":
        return "differ" if n > 1 else "differs"
    return f"{'are' if n > 1 else 'is'} {WORDS[verdict]}"


def _natural(c: Json) -> tuple[str, int, str]:
    """P9 before P10; an id that is not a letter with a number sorts as text."""
    found = re.fullmatch(r"([A-Za-z]+)(\d{1,9})(\w*)", str(c["id"]))
    return (found[1], int(found[2]), found[3]) if found else (str(c["id"]), 0, "")


def _in_order(claims: Iterable[Json]) -> list[str]:
    return [str(c["id"]) for c in sorted(claims, key=_natural)]


def _row(c: Json) -> tuple[str, ...]:
    why = str(c["why"])
    return str(c["id"]), str(c["text"]), WORDS[str(c["verdict"])], why[:1].upper() + why[1:]


def next_steps(m: Material) -> Section | None:
    """What the first takeaways ask for."""
    rows = [
        row
        for row in m.results["takeaways"]
        if row["next_step"] and row["estimates"] and row["page"] not in _ASKED_BEFORE
    ]
    points = tuple(Said(_sentence(row["next_step"])) for row in rows[:STEPS])
    return Section("What to do next", points=points) if points else None


def _sentence(text: str) -> str:
    return text[:1].upper() + text[1:].rstrip(".") + "."


def methods(m: Material, notes: Notes) -> Section | None:
    """How the figures in the notes were obtained."""
    used: dict[str, str] = {}
    for e in notes.estimates.values():
        if e.value is not None and e.kind != "census" and e.method not in ("none", ""):
            used.setdefault(e.method, e.assumption)
    said = Said(
        "A figure that was counted has no interval. Any other has one in brackets, at 95 % where nothing else is said, "
        "or the reason that there is none. Each note names the method and the lines or series that its figure came "
        "from; what a note does not name is in results.json."
    )
    points = tuple(
        Said(f"{method[:1].upper()}{method[1:]}" + (f", assuming that {a}" if a else "") + ".")
        for method, a in list(used.items())[:METHODS]
    )
    return Section("How the numbers were made", ((said,),), points, boxed=True)


def limits(m: Material, notes: Notes) -> Section | None:
    """What the study is not, what must be known with the figures used, and what could not be computed."""
    points = [Said("This is a reconstruction, as the top says.")] if m.banner else []
    points += [
        Said(_caution(c.text, "; ".join(map(str, c.about))))
        for c in cautions([without_assumed(e) for e in notes.estimates.values()])[:LIMITS]
    ]
    gaps = missing(e for e in m.estimates.values() if not e.id.startswith(_OF_FLEET))
    points += [Said(_gap(gap)) for gap in gaps[:LIMITS]]
    if len(gaps) > LIMITS:
        points.append(Said(f"{show_number(len(gaps) - LIMITS)} more gaps are on the report's first page."))
    return Section("Limitations", points=tuple(points)) if points else None


def _caution(text: str, about: str) -> str:
    """A warning with what it is about as its subject."""
    own = SAID["intervals"]
    if about and text.startswith(own):
        return _sentence(f"the intervals of {about} rest on assumed figures{text.removeprefix(own)}")
    return _sentence(f"for {about}: {text}" if about else text)


def _gap(gap: Gap) -> str:
    why = gap.reason.removeprefix("withheld: ")
    return (
        f"Not computable: {gap.group}. " + ("What is missing" if why == gap.reason else "Withheld, since") + f": {why}."
    )


def availability(m: Material) -> Section | None:
    """Where the data and the code are, and the digests of both."""
    made = m.results["generated_from"]
    name = str(m.results["study"])
    text = (
        f"Everything was read from the folder {name}, and from nothing else. Digest of the data (SHA-256): "
        f"{made['data_sha256'][:12]}; of the code that read them: {made['code_sha256'][:12]}. Versions: "
        + ", ".join(f"{what} {version}" for what, version in made["versions"].items())
        + ". All figures are in results.json, those of the pictures and tables in tables/."
    )
    shown = name if re.fullmatch(r"[\w.-]+", name) else "..."
    return Section("Data and code", ((Said(text),),), code=f"make report DATA={shown}/\nmake post DATA={shown}/")


def how_to_cite(m: Material) -> Section | None:
    """The citation of CITATION.cff, with the digest of the data."""
    year = cited("date-released")[:4]
    text = (
        f"{cited('name')} ({year}): {cited('title')}, version {cited('version')}. Study {m.results['study']}, data "
        f"{m.results['generated_from']['data_sha256'][:12]}. Licence: {cited('license')}."
    )
    return Section("How to cite", ((Said(text),),))
