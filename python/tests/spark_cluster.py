"""Spark that breaks: a master and two workers on loopback, an executor killed amid a shuffle; a stream killed and started anew.

    spark_cluster.py [ROWS]    ten million, if it is not said
"""

import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import threading
import time

import numpy as np
import pyspark
from pyspark.sql import SparkSession, functions as F

import hereabouts as hb
import hereabouts.spark as hs

ROWS = int(sys.argv[1]) if len(sys.argv) > 1 and sys.argv[1].isdigit() else 10_000_000
NAMES = dict(id="user", time="ts", latitude="lat", longitude="lon")
SCHEMA = "user long, ts timestamp, lat double, lon double"


def session(master, **more):
    options = {
        "spark.ui.enabled": "false", "spark.log.level": "ERROR", "spark.executor.memory": "2g", "spark.sql.shuffle.partitions": "8",
        "spark.sql.adaptive.enabled": "false", "spark.driver.host": "127.0.0.1",
        "spark.sql.streaming.stateStore.providerClass": "org.apache.spark.sql.execution.streaming.state.RocksDBStateStoreProvider",
    }  # fmt: skip
    builder = SparkSession.builder.master(master)
    for name, value in (options | more).items():
        builder = builder.config(name, value)
    return builder.getOrCreate()


def fixes(spark, rows, devices):
    """Devices that go round, each about its own middle, a fix every ten seconds; the same every time."""
    step = (F.col("id") / devices).cast("long")
    device = F.col("id") % devices
    angle = step / 90.0 + device
    return spark.range(0, rows, 1, 8).select(
        device.alias("user"), F.timestamp_seconds(1_778_284_800 + step * 10).alias("ts"),
        (31.7 + F.sin(device.cast("double")) + F.sin(angle) * 0.05).alias("lat"),
        (-106.5 + F.cos(device * 3.0) * 3 + F.cos(angle) * 0.05).alias("lon"),
    )  # fmt: skip


def executors():
    """Processes of executors of this machine."""
    found = subprocess.run(["pgrep", "-f", "CoarseGrainedExecutorBackend"], capture_output=True, text=True)
    return [int(one) for one in found.stdout.split()]


def answers(spark, folder):
    return sorted(map(tuple, spark.read.parquet(str(folder)).select("user", F.unix_micros("time"), "region.id").toPandas().itertuples(index=False)))


def batch(scratch):
    launcher = os.path.join(os.path.dirname(pyspark.__file__), "bin", "spark-class")
    environment = dict(os.environ, SPARK_NO_DAEMONIZE="1", SPARK_LOCAL_IP="127.0.0.1")
    start = lambda *words: subprocess.Popen([launcher, *words], env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)  # noqa: E731
    place = "org.apache.spark.deploy."
    processes = [start(place + "master.Master", "--host", "127.0.0.1", "--port", "7177", "--webui-port", "0")]
    try:
        time.sleep(5)
        for number in range(2):
            processes.append(
                start(place + "worker.Worker", "--cores", "1", "--memory", "3g", "--webui-port", "0", "--work-dir", f"{scratch}/work{number}", "spark://127.0.0.1:7177")
            )
        # The atlas in an archive, as clusters take it.
        with tarfile.open(f"{scratch}/atlas.tar.gz", "w:gz", compresslevel=1) as archive:
            archive.add(hb.atlas().path, "world.atlas")
        archived = {"spark.archives": f"{scratch}/atlas.tar.gz#atlas", "spark.executorEnv.HEREABOUTS_ATLAS": "./atlas/world.atlas"}
        spark = session("spark://127.0.0.1:7177", **archived)
        found = spark.sparkContext.parallelize(range(8), 8).map(lambda _: os.path.isfile(os.environ["HEREABOUTS_ATLAS"]))
        assert found.collect() == [True] * 8
        rows = fixes(spark, ROWS, 2000)
        began = time.monotonic()
        hs.convert(rows, **NAMES).write.parquet(f"{scratch}/whole")
        whole = time.monotonic() - began
        before = executors()
        assert len(before) == 2, before
        done = threading.Event()

        def kill():
            # Amid the tasks that read the shuffle.
            tracker, stages = spark.sparkContext.statusTracker(), set()
            while not done.wait(0.05):
                stages |= set(tracker.getActiveStageIds())
                info = tracker.getStageInfo(max(stages)) if len(stages) > 1 else None
                if info is not None and info.numCompletedTasks > 0:
                    os.kill(before[0], signal.SIGKILL)
                    break

        killer = threading.Thread(target=kill)
        killer.start()
        hs.convert(rows, **NAMES).write.parquet(f"{scratch}/killed")
        done.set()
        killer.join()
        after = executors()
        assert before[0] not in after, "no executor was killed"
        first, second = answers(spark, f"{scratch}/whole"), answers(spark, f"{scratch}/killed")
        assert first == second and len({row[:2] for row in second}) == len(second) > ROWS / 2000
        print(f"batch: {ROWS:,} fixes, {len(first):,} answers, {whole:.0f} s; with an executor killed the same answers")
        spark.stop()
    finally:
        for process in processes:
            try:
                os.killpg(process.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass


def stream(scratch):
    """Runs the query once, until it has read all files or is killed."""
    spark = session("local[2]")
    source = spark.readStream.schema(SCHEMA).option("maxFilesPerTrigger", 1).parquet(f"{scratch}/in").withWatermark("ts", "1 minute")
    writer = hs.convert(source, **NAMES).writeStream.format("parquet").option("path", f"{scratch}/out")
    writer.option("checkpointLocation", f"{scratch}/checkpoint").trigger(availableNow=True).start().awaitTermination()


def streams(scratch):
    spark = session("local[2]")
    rows = fixes(spark, 300_000, 100)
    hours = F.floor((F.unix_seconds("ts") - 1_778_284_800) / 3600)
    pathlib.Path(f"{scratch}/in").mkdir()
    for hour in [row[0] for row in rows.select(hours.alias("hour")).distinct().orderBy("hour").collect()]:
        rows.where(hours == hour).coalesce(1).write.parquet(f"{scratch}/hour")
        (piece,) = pathlib.Path(f"{scratch}/hour").glob("*.parquet")
        piece.rename(f"{scratch}/in/{hour:03}.parquet")
        shutil.rmtree(f"{scratch}/hour")
        time.sleep(0.01)  # files are read in the order of their times
    rows.limit(1).select(F.lit(-1).cast("long").alias("user"), F.timestamp_seconds(F.lit(1_800_000_000)).alias("ts"), "lat", "lon").coalesce(1).write.parquet(f"{scratch}/last")
    (piece,) = pathlib.Path(f"{scratch}/last").glob("*.parquet")
    piece.rename(f"{scratch}/in/999.parquet")
    hs.convert(rows, **NAMES).write.parquet(f"{scratch}/batch")
    generator, kills = np.random.default_rng(62), 0
    while True:
        process = subprocess.Popen([sys.executable, __file__, "stream", scratch], stderr=subprocess.DEVNULL, start_new_session=True)
        try:
            process.wait(timeout=None if kills == 5 else float(generator.uniform(20, 35)))
            break
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            kills += 1
    assert process.returncode == 0 and kills > 0, (process.returncode, kills)
    first, second = answers(spark, f"{scratch}/batch"), answers(spark, f"{scratch}/out")
    assert first == second and len({row[:2] for row in second}) == len(second) > 0
    print(f"stream: killed {kills} times, {len(second):,} answers, those of the batch")


if __name__ == "__main__":
    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    if "stream" in sys.argv:
        stream(sys.argv[-1])
    else:
        with tempfile.TemporaryDirectory() as scratch:
            batch(scratch)
            streams(scratch)
