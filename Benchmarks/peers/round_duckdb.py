"""round_duckdb.py IN.csv OUT.csv THREADS: rounds positions to two decimals with DuckDB; prints the seconds it took.

The start of Python and the import are not counted.
"""

import sys
import time

import duckdb

connection = duckdb.connect(config={"threads": int(sys.argv[3])})
start = time.perf_counter()
connection.execute(
    f"""COPY (SELECT id, time, round(lat, 2) AS lat, round(lon, 2) AS lon FROM read_csv('{sys.argv[1]}'))
    TO '{sys.argv[2]}' (HEADER, DELIMITER ',')"""
)
print(time.perf_counter() - start)
