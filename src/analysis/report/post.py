"""A study's post: an article in Markdown and HTML from its finished report, every number and sentence computed.

SECTIONS is the whole article in its order: a section appears where its function finds what it is about.
"""

import json
import re
import sys
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace

from jinja2 import Environment, FileSystemLoader, StrictUndefined
from markupsafe import Markup

from analysis.redact import redact
from analysis.report import post_memory, post_rest, post_time, study_report
from analysis.report.made_from import is_unchanged, notebooks, place_of, today
from analysis.report.pages import TEMPLATES, fill
from analysis.report.post_head import CARD, Head, card, head
from analysis.report.post_material import Material
from analysis.report.post_parts import Notes, Section
from analysis.report.progress import TerminalProgress
from analysis.store.fleet import study_of

SECTIONS: tuple[Callable[[Material], Section | None], ...] = (
    post_time.asked, post_time.accounting, post_time.rates, post_time.levers,
    post_memory.budget, post_memory.sweep, post_memory.boots,
)  # fmt: skip
"""What the study found; each is None where the study has nothing on it."""
AFTER: tuple[Callable[[Material], Section | None], ...] = (post_rest.ledger, post_rest.next_steps)
ABOUT: tuple[Callable[[Material, Notes], Section | None], ...] = (post_rest.methods, post_rest.limits)
"""What is said of the figures that the sections above used."""
CLOSE: tuple[Callable[[Material], Section | None], ...] = (post_rest.availability, post_rest.how_to_cite)
_MARKS = re.compile(r"([\\`*_\[\]{}<>|~$&#])")
_LINKS = re.compile(r"(?<=\w)://|\bwww\.", re.I)
_STARTS = re.compile(r"^(\d+)([.)])(?=\s|$)|^([-+=:])")
_NAV = re.compile(r'<li><a href="([\w.-]+)\.html"[^>]*>(.*?)</a></li>')


def make(data: str, out: Path | None = None) -> Path:
    """Write post.md, post.html and the card into a study's report folder; the path of post.md.

    The report is made first where it is missing or not of what the files now say. Raises what study_report.make raises.
    """
    folder = study_of(data, lambda text: print(text, file=sys.stderr))
    report = (out or place_of(folder)).absolute()
    if not is_unchanged(report, today(folder, notebooks())):
        study_report.make(folder, out)
    write(Material(study_report.read_in(folder, TerminalProgress()), report))
    return report / "post.md"


def write(m: Material) -> None:
    """Write the three files beside the report's pages, each whole or not at all."""
    sections, _ = compose(m)
    top = head(m, sections)
    files = {
        "post.md": markdown(m, top, sections).encode(),
        "post.html": html(m, top, sections).encode(),
        CARD: card(top, m),
    }
    for name, content in files.items():
        partial = m.report / f".{name}.partial"
        partial.write_bytes(content)
        partial.replace(m.report / name)


def compose(m: Material) -> tuple[list[Section], Notes]:
    """The sections of the study's post, and the notes under their sentences."""
    found = [section for make in SECTIONS if (section := make(m))]
    found += post_rest.others(m)
    found += [section for make in AFTER if (section := make(m))]
    notes = Notes()
    for said in (said for section in found for said in section.sentences()):
        notes.number(said)
    found += [section for about in ABOUT if (section := about(m, notes))]
    found += [section for make in CLOSE if (section := make(m))]
    return found, notes


def markdown(m: Material, top: Head, sections: list[Section]) -> str:
    """The post as CommonMark with tables and footnotes, front matter on top; all that is not ours is escaped."""
    environment = Environment(
        loader=FileSystemLoader(TEMPLATES), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True,
        autoescape=False,  # this is Markdown: every text goes through `md` or `json`
    )  # fmt: skip
    environment.filters |= {
        "md": escaped, "quoted": quoted, "json": lambda value: json.dumps(value, ensure_ascii=False),
    }  # fmt: skip
    text = environment.get_template("post/post.md.j2").render(
        head=_redacted(top), sections=sections, notes=Notes(), card=CARD, banner=m.banner
    )
    return re.sub(r"\n{3,}", "\n\n", text).lstrip("\n").rstrip("\n") + "\n"


def html(m: Material, top: Head, sections: list[Section]) -> str:
    """The post as a page of the report."""
    index = (m.report / "index.html").read_text(encoding="utf-8")
    named = [(stem, title) for stem, title in _NAV.findall(index) if stem != "index"]
    pages = [SimpleNamespace(stem=stem, title=Markup(title), nothing="") for stem, title in named]
    return fill(
        "post/post.html.j2", "post", study=redact(str(m.results["study"])).text, pages=pages, here="post", toc=(),
        head=_redacted(top), sections=sections, notes=Notes(), banner=m.banner,
        clean=lambda text: redact(text).text,
    )  # fmt: skip


def escaped(text: str) -> str:
    """A text as Markdown shows it literally, in one line: no markup, link, shortcode or list in it is one."""
    plain = " ".join("".join(ch if ch.isprintable() else " " for ch in redact(text).text).split())
    plain = _LINKS.sub(lambda match: match[0].replace(":", "\\:").replace(".", "\\."), _MARKS.sub(r"\\\1", plain))
    return _STARTS.sub(lambda match: f"{match[1]}\\{match[2]}" if match[1] else f"\\{match[3]}", plain)


def quoted(text: str) -> str:
    """Lines of Markdown as one block quote."""
    lines = re.sub(r"\n{3,}", "\n\n", text.strip()).split("\n")
    return "\n".join(f"> {line}".rstrip() for line in lines)


def _redacted(top: Head) -> Head:
    return Head(redact(top.title).text, redact(top.description).text, top.date, tuple(redact(t).text for t in top.tags))
