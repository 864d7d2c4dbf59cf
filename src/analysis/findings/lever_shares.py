"""Which share a free prefill works on: what prefill holds, and not requests' own prefill. Said with both figures."""

from analysis.estimates.estimate import Estimate
from analysis.findings import levers
from analysis.findings.accountings import Accountings
from analysis.findings.time_tables import few, run_of

Pair = tuple[Estimate, Estimate]


def of(known: Accountings, found: list[Estimate]) -> dict[str, Pair]:
    """By run: the share that prefill holds and that of requests' own prefill, where the lever was made of the first."""
    first_order = [run_of(e) for e in found if e.qualifiers["lever"] == "prefill" and _is_first_order(e)]
    held, own = ({run_of(e): e for e in shares} for shares in (known.held, known.request))
    return {run: (held[run], own[run]) for run in first_order}


def headline(found: list[Estimate], shares: dict[str, Pair]) -> list[Estimate]:
    """The figures that the answer on levers rests on, behind each free prefill the share it works on and the other."""
    numbers = []
    for e in levers.headline(found):
        is_made_of_held = e.qualifiers["lever"] == "prefill" and _is_first_order(e)
        numbers += [e, *(shares[run_of(e)] if is_made_of_held else ())]
    return numbers


def sentence(shares: dict[str, Pair]) -> str:
    """Which of two shares the factor of a free prefill works on, and why; empty where no factor is made of them."""
    if not shares:
        return ""
    held, own = (list(each) for each in zip(*shares.values(), strict=True))
    return (
        f"A free prefill works on the {few(held)} of request time that some prefill holds, not on the prefill share of "
        f"{few(own)}, which is requests' own prefill alone: a decode that waits for another request's prompt would be "
        "spared too."
    )


def _is_first_order(e: Estimate) -> bool:
    return e.value is not None and e.kind == "estimate"
