"""What an engine's token figure is, by its version: a count of tokens, or derived from how many requests fit."""

from analysis.engines import ENGINES, label, table, version_key

UNKNOWN = "not known: the log does not say the version"


def token_figure(engine: str | None, version: str | None, is_consistent: bool | None) -> str:
    """What the printed pool of a boot is, in words, by engines/<engine>/pool_eras.toml."""
    if is_consistent is False:
        return "contradicts the concurrency printed beside it: not used"
    folder = next((e for e in ENGINES if table(e, "metrics") and label(e) == engine), engine or "")
    eras = table(folder, "pool_eras").get("era", []) if folder in ENGINES else []
    if not eras:
        return "as the engine counts it"
    key = version_key(version)
    if key is None:
        return UNKNOWN
    for era in eras:
        if key >= (version_key(era.get("since")) or []) and (
            "until" not in era or key < (version_key(era["until"]) or [])
        ):
            return ("derived: " if era["derived"] else "") + str(era["what"])
    return UNKNOWN
