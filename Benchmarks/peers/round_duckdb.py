"""round_duckdb.py IN OUT THREADS: rounds the positions of a CSV or NDJSON file to two decimals with DuckDB, into its format.

Prints the seconds it took. The start of Python and the import are not counted.
"""

import sys
import time

import duckdb

source, output, threads = sys.argv[1:]
if source.endswith(".ndjson"):
    reads, writes = "read_ndjson", "FORMAT json"
else:
    reads, writes = "read_csv", "HEADER, DELIMITER ','"
connection = duckdb.connect(config={"threads": int(threads)})
start = time.perf_counter()
connection.execute(
    f"""COPY (SELECT id, time, round(lat, 2) AS lat, round(lon, 2) AS lon FROM {reads}('{source}'))
    TO '{output}' ({writes})"""
)
print(time.perf_counter() - start)
