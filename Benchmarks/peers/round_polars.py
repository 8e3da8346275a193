"""round_polars.py IN.csv OUT.csv: rounds positions to two decimals with polars, streaming; prints the seconds it took.

POLARS_MAX_THREADS says how many threads. The start of Python and the import are not counted.
"""

import sys
import time

import polars

start = time.perf_counter()
polars.scan_csv(sys.argv[1]).with_columns(
    polars.col("lat").round(2), polars.col("lon").round(2)
).sink_csv(sys.argv[2])
print(time.perf_counter() - start)
