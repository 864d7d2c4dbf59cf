"""What a study asks and of which arms: the top of the first page, and the first lines on the terminal."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from analysis.findings.words import number_of


@dataclass(frozen=True, slots=True)
class Asked:
    """`question` is empty where study.toml has none; `lead` is what stands above `arms`: each arm, and its changes."""

    question: str = ""
    lead: str = ""
    arms: tuple[tuple[str, str], ...] = ()
    more: int = 0


def asked(results: Mapping[str, Any]) -> Asked:
    """What results.json says was asked, and of which arms."""
    arms = results.get("arms") or {}
    if not arms:
        return Asked(results.get("question", ""))
    others = tuple((_named(other), str(other["differs"])) for other in arms["others"])
    lead = f"Arms, and what differs from {_named(arms['base'])}:" if others else f"One arm: {_named(arms['base'])}"
    return Asked(results.get("question", ""), lead, others, arms["more"])


def lines(of: Asked) -> list[str]:
    """The same as lines of text, not yet wrapped."""
    said = [f"Question: {of.question}"] if of.question else []
    said += [of.lead] if of.lead else []
    said += [f"   {arm}: {differs}" for arm, differs in of.arms]
    return said + ([f"   and {number_of(of.more, 'more arm')}"] if of.more else [])


def _named(arm: Mapping[str, Any]) -> str:
    return f"{arm['arm']} ({number_of(arm['boots'], 'boot')})"
