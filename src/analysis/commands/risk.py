"""Say whether a boot at BATCH_TOKENS would start, from the boots of a study."""

import argparse
import tempfile
from pathlib import Path

import duckdb

from analysis.findings import boot_risk, provenance, risk_text
from analysis.store.fleet import study_of
from analysis.store.load import load


def arguments(parser: argparse.ArgumentParser) -> None:
    """DATA, --batch-tokens and --max-model-len."""
    parser.add_argument("data", help="a folder, or the name of one below data/")
    parser.add_argument("--batch-tokens", type=_tokens, required=True, help="max_num_batched_tokens to ask about")
    parser.add_argument("--max-model-len", type=_tokens, help="length to ask about (default: each that was booted)")


def run(options: argparse.Namespace) -> int:
    """Print the answer for every population of boots; status 1 where nothing can be said."""
    with tempfile.TemporaryDirectory() as folder:
        database = Path(folder) / "risk.duckdb"
        load(study_of(options.data), database)
        with duckdb.connect(str(database), read_only=True) as connection:
            known = boot_risk.memory(connection)
            answers = boot_risk.asked(connection, known, options.batch_tokens, options.max_model_len)
            if provenance.transcribed_from(connection) is not None:
                print(provenance.sentence(connection))
            print(risk_text.text(answers))
    return 0 if any(answer.chances or answer.seen for answer in answers) else 1


def _tokens(text: str) -> int:
    """A whole number of tokens above zero; separators are fine."""
    try:
        number = int(text.replace(",", "").replace("_", ""))
    except ValueError:
        number = 0
    if not 0 < number < 10**12:
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of tokens: give one such as 12288")
    return number
