"""What readers of load generators' results compute of columns: of lists by their values, laid end to end."""

import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.compute as pc


def running_sums(first: pl.Series, steps: pl.Series) -> pl.Series:
    """[first, first + step 1, first + step 1 + step 2, ...] of each row; empty where either is null."""
    values, lengths = end_to_end(steps)
    starts = first.to_numpy()  # null is NaN
    known = ~np.isnan(starts) & steps.to_arrow().is_valid().to_numpy(zero_copy_only=False)
    values, lengths = values[np.repeat(known, lengths)], lengths[known]
    begins = np.cumsum(lengths) - lengths
    sums = np.insert(values, begins, starts[known])
    begins += np.arange(len(begins))
    by_length = np.argsort(lengths, kind="stable")
    for rows in np.split(by_length, np.flatnonzero(np.diff(lengths[by_length])) + 1):
        # Lists of one length as a block: each sum is that of its list alone, to the last digit.
        places = begins[rows, None] + np.arange(lengths[rows].max(initial=0) + 1)
        sums[places] = np.cumsum(sums[places], axis=1)
    counts = np.zeros(len(known), "i8")
    counts[known] = lengths + 1
    offsets = np.append(0, np.cumsum(counts))
    return pl.Series(pa.LargeListArray.from_arrays(pa.array(offsets), pa.array(sums)))


def status(error: pl.Expr, tokens: pl.Expr) -> pl.Expr:
    """Error where one is told or no token came, else ok."""
    failed = error.is_not_null() | (tokens == 0).fill_null(False)
    return pl.when(failed).then(pl.lit("error")).otherwise(pl.lit("ok")).alias("status")


def zero_is_null(key: str) -> pl.Expr:
    """A column in which 0 is the tool's initial value: what it counts or times never came."""
    return pl.when(pl.col(key) != 0).then(pl.col(key))


def is_rising(lists: pl.Series) -> bool:
    """Whether no value of a list is below the one before it in the list."""
    values, lengths = end_to_end(lists)
    owner = np.repeat(np.arange(len(lengths)), lengths)
    return not ((values[1:] < values[:-1]) & (owner[1:] == owner[:-1])).any()


def end_to_end(lists: pl.Series) -> tuple[np.ndarray, np.ndarray]:
    """The values of all lists, and how many each list has, none where it is null."""
    arrays = lists.rechunk().to_arrow()
    lengths = pc.list_value_length(arrays).fill_null(0).to_numpy().astype("i8")
    return arrays.flatten().to_numpy(), lengths
