"""The extensions for PostgreSQL in a server of their own: a tree of links to the installed one, a socket in a temporary folder."""

import os
import pathlib
import re
import shutil
import signal
import subprocess
import time

import pytest
from conftest import ATLAS, HEADER, OTHER_ATLAS, ROOT, examples

SOURCES = ROOT / "databases/postgresql"
if not (SOURCES / "hereabouts.so").exists():
    pytest.skip("the extension for PostgreSQL is not built", allow_module_level=True)
FOLDERS = {
    name: subprocess.check_output(["pg_config", f"--{name}"], text=True).strip() for name in ("bindir", "pkglibdir", "sharedir")
}
if not os.path.exists(FOLDERS["bindir"] + "/initdb"):
    pytest.skip("PostgreSQL's server is missing", allow_module_level=True)

# Root runs no server.
USER = ["setpriv", "--reuid=nobody", "--regid=nogroup", "--clear-groups"] if os.geteuid() == 0 else []
REFUSED = "the server's atlas is not the one that this database's regions are of"
HERE = "hereabouts_region(31.7619, -106.4850)"
PARALLEL = (
    "set parallel_setup_cost = 0; set min_parallel_table_scan_size = 0; set max_parallel_workers_per_gather = 4; "
    "set parallel_leader_participation = off; "
    "set enable_indexscan = off; set enable_bitmapscan = off; "
)


class Server:
    def __init__(self, scratch):
        self.scratch = scratch
        for folder in sorted(FOLDERS.values()):
            target = scratch / folder[1:]
            if not target.exists():
                target.parent.mkdir(parents=True, exist_ok=True)
                subprocess.run(["cp", "-as", folder, target], check=True)
        self.bin = scratch / FOLDERS["bindir"][1:]
        # A program finds its folders from where it lies itself.
        for name in ("initdb", "pg_ctl", "pg_dump", "postgres", "psql"):
            (self.bin / name).unlink()
            shutil.copy(os.path.join(FOLDERS["bindir"], name), self.bin)
        subprocess.run(["make", "-s", "-C", SOURCES, f"DESTDIR={scratch}", "install"], check=True)
        self.has_postgis = (pathlib.Path(FOLDERS["sharedir"]) / "extension/postgis.control").exists()
        self.atlas = scratch / "world.atlas"
        shutil.copy(ATLAS, self.atlas)
        shutil.copy(OTHER_ATLAS, scratch / "other.atlas")
        self.data = scratch / "data"
        self.data.mkdir()
        if USER:
            shutil.chown(self.data, "nobody")
        self.run("initdb", "-D", self.data, "-U", "owner", "--locale=C.UTF-8", "--no-sync", "-A", "trust")
        with open(self.data / "postgresql.conf", "a") as file:
            file.write(f"listen_addresses = ''\nunix_socket_directories = '{self.data}'\nfsync = off\nmax_worker_processes = 8\n")

    def run(self, program, *arguments, check=True, **options):
        environment = {
            "PATH": os.environ["PATH"],
            "PGHOST": str(self.data),
            "PGUSER": "owner",
            "PGDATABASE": "here",
            "LC_ALL": "C.UTF-8",
        }
        return subprocess.run(
            [*USER, self.bin / program, *arguments], env=environment, check=check, capture_output=True, text=True, **options
        )

    def start(self, atlas=None, preloads=True):
        settings = f"-c hereabouts.atlas={atlas or self.atlas} -c shared_preload_libraries=hereabouts" if preloads else ""
        # The server keeps what it is given to write to.
        with open(self.scratch / "start", "w") as file:
            subprocess.run(
                [*USER, self.bin / "pg_ctl", "-D", self.data, "-l", self.data / "log", "-o", settings, "-w", "start"],
                env={"PATH": os.environ["PATH"], "LC_ALL": "C.UTF-8"},
                check=True,
                stdout=file,
            )

    def stop(self, mode="fast"):
        self.run("pg_ctl", "-D", self.data, "-w", "-m", mode, "stop")

    def restart(self, **options):
        self.stop()
        self.start(**options)

    def sql(self, text, database="here", user="owner"):
        """What psql writes: rows of fields between |."""
        done = self.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, "-U", user, input=text, check=False)
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def error(self, text, database="here", user="owner"):
        done = self.run("psql", "-XqAt", "-v", "ON_ERROR_STOP=1", "-d", database, "-U", user, input=text, check=False)
        assert done.returncode != 0 and "ERROR" in done.stderr, done
        return done.stderr

    def create(self, database, *extensions, options=""):
        self.sql(f"create database {database} {options}", database="postgres")
        for extension in extensions:
            self.sql(f"create extension {extension}", database=database)


@pytest.fixture(scope="module")
def server(scratch):
    one = Server(scratch)
    one.start()
    one.create("here", "hereabouts")
    yield one
    one.stop("immediate")


@pytest.fixture(scope="module")
def table(server, positions):
    server.sql(f"""
        create table positions(row bigserial, latitude float8, longitude float8,
            region hereabouts_region generated always as (hereabouts_region(latitude, longitude)) stored);
        \\copy positions(latitude, longitude) from '{positions}' csv
        create index by_region on positions(hereabouts_region(latitude, longitude));
        analyze positions""")
    return server


def test_every_row_is_the_commands(table, expected):
    found = table.sql("""
        copy (select round((r).latitude::numeric, 5), round((r).longitude::numeric, 5), round((r).horizontal_accuracy::numeric),
            (r).id, (r).country, (r).place
        from (select row, hereabouts_snap(latitude, longitude) r from positions offset 0) s order by row) to stdout csv""")
    assert HEADER + found + "\n" == expected
    assert table.sql("""
        select count(*), count(region) from positions
        where region is distinct from hereabouts_region(latitude, longitude)
            or region is distinct from (hereabouts_snap(latitude, longitude)).id
            or hereabouts_record(region)::text is distinct from hereabouts_snap(latitude, longitude)::text
    """) == "0|0"
    assert table.sql("select hereabouts_record('r86e759b06d') is null") == "t"


def test_indexed(table):
    some = "hereabouts_region(latitude, longitude) = 'r86e759b06f'"
    assert "Index Cond: (hereabouts_region(latitude, longitude) = 'r86e759b06f'::hereabouts_region)" in table.sql(
        f"explain select * from positions where {some}"
    )
    counts = table.sql(
        f"select count(*) from positions where {some}; set enable_indexscan = off; set enable_bitmapscan = off; "
        f"select count(*) from positions where {some}"
    ).split()
    assert counts[0] == counts[1] != "0"
    # Hashed, sorted and merged joins, and an index by hash.
    table.sql("create index by_hash on positions using hash(region)")
    some = "select distinct region from positions where latitude between 31 and 32"
    query = f"select count(*), count(distinct region) from positions join ({some}) others using (region)"
    assert len({table.sql(f"set enable_{off} = off; set enable_nestloop = off; {query}") for off in ("hashjoin", "mergejoin")}) == 1


def test_parallel(table):
    query = """
        select count(*), sum(hashtext(hereabouts_snap(latitude, longitude)::text)::bigint) from positions
        where hereabouts_region(latitude, longitude) <> 'r86e759b06f'"""
    assert re.search("Workers Launched: [1-4]", table.sql(PARALLEL + "explain (analyze) " + query))
    assert table.sql(PARALLEL + query) == table.sql("set max_parallel_workers_per_gather = 0; " + query)


def test_memory(table):
    """What a query holds does not grow with its rows."""
    own = "pg_read_file('/proc/' || pg_backend_pid() || '/status')"
    size = f"select (regexp_match({own}, 'RssAnon:\\s+(\\d+)'))[1];"
    query = "select hereabouts_snap(latitude, longitude), hereabouts_region(latitude, longitude) from positions"
    few, many = table.sql(f"begin; declare c cursor for {query}; move 10000 in c; {size} move 350000 in c; {size}").split()
    assert int(many) - int(few) < 2048


def test_type(server):
    assert (
        server.sql("select id, id::text, id::bigint from (select '86e759b06f'::text::hereabouts_region id) s")
        == "r86e759b06f|r86e759b06f|-8725907138695659520"
    )
    for text in ("", "x", "31.7619", "r86e759b06f0000000"):
        assert "this is no id of a region" in server.error(f"select '{text}'::hereabouts_region")
    assert (
        server.sql(
            f"create table ids(id hereabouts_region); insert into ids select {HERE}; \\copy ids to '{server.data}/ids' binary\n"
            f"\\copy ids from '{server.data}/ids' binary\nselect count(*), min(id::text), max(id::text) from ids"
        )
        == "2|r86e759b06f|r86e759b06f"
    )
    zeros = "decode('5047434f50590aff0d0a000000000000000000000100000008' || repeat('00', 8) || 'ffff', 'hex')"
    (server.data / "zeros").write_bytes(bytes.fromhex(server.sql(f"select encode({zeros}, 'hex')")))
    (server.data / "zeros").chmod(0o644)
    assert "this is no id of a region" in server.error(f"copy ids from '{server.data}/zeros' binary")
    assert (
        server.sql(
            "select hereabouts_region(null, 1), hereabouts_region('nan', 1), hereabouts_region(1, 540.1), hereabouts_snap(95, 0)"
        )
        == "|||"
    )
    assert server.sql("select opcname, amvalidate(oid) from pg_opclass where opcname = 'hereabouts_region_ops'").count("|t") == 2


def test_other_encodings(server):
    server.create("latin", "hereabouts", options="template template0 encoding 'LATIN1' locale 'C'")
    assert (
        server.sql("set client_encoding = utf8; select place, octet_length(place) from hereabouts_snap(31.738, -106.485)", "latin")
        == "Ciudad Juárez|13"
    )


def test_whoever_may_call(server):
    server.sql("create role somebody login; revoke select on hereabouts_adopted from public")
    assert server.sql(f"select {HERE}", user="somebody") == "r86e759b06f"
    assert "permission denied" in server.error("select hereabouts_adopt_atlas()", user="somebody")
    server.sql("grant select on hereabouts_adopted to public")


@pytest.fixture
def postgis(server):
    if not server.has_postgis:
        pytest.skip("PostGIS is missing: hereabouts_postgis is not tested")


def test_points_and_schemas(server, postgis):
    """Indices of the wrappers, and what restores and maintenance do to the search path."""
    server.create("points")
    server.sql(
        """
        create schema h; create schema g; create extension hereabouts schema h; create extension postgis schema g;
        create schema p; create extension hereabouts_postgis schema p;
        create table public.points(at g.geography, region h.hereabouts_region generated always as (p.hereabouts_region(at)) stored);
        insert into public.points values ('POINT(-106.4850 31.7619)'), ('POINT(-106.4850 31.7380)'), ('POINT EMPTY'), (null);
        create index on public.points(p.hereabouts_region(at))""",
        "points",
    )
    assert (
        server.sql(
            """
        set search_path = ''; set enable_seqscan = off;
        reindex table public.points; vacuum full public.points; analyze public.points;
        select region, (p.hereabouts_snap(at)).place from public.points
        where p.hereabouts_region(at) operator(h.=) 'r86e758d955'""",
            "points",
        )
        == "r86e758d955|Ciudad Juárez"
    )
    assert (
        server.sql(
            "set search_path = p, h, g; select hereabouts_region(ST_SetSRID(ST_MakePoint(-106.4850, 31.7619), 4326))", "points"
        )
        == "r86e759b06f"
    )
    assert "ERROR" in server.error(
        "set search_path = p, h, g; select hereabouts_region(ST_SetSRID(ST_MakePoint(0, 0), 3857))", "points"
    )
    dumped = server.run("pg_dump", "-d", "points").stdout
    server.create("restored")
    server.sql(dumped, "restored")
    assert (
        server.sql("select count(*), count(region) from public.points; select count(*) from h.hereabouts_adopted", "restored")
        == "4|2\n2"
    )
    server.sql("drop database points", "postgres")


def test_another_atlas_is_refused(table, scratch):
    own = table.sql("select fingerprint from hereabouts_atlas()")
    dumps = [
        table.run("pg_dump", "-d", "here", "--exclude-table=positions", *options).stdout
        for options in ([], ["--exclude-table-data=*.hereabouts_adopted"])
    ]
    table.restart(atlas=scratch / "other.atlas")
    other = table.sql("select fingerprint from hereabouts_atlas()")
    assert other != own and table.sql("select fingerprint from hereabouts_adopted") == own
    for query in (
        f"select {HERE}",
        "select hereabouts_snap(1, 2)",
        "insert into positions values (default, 1, 2)",
        "reindex index by_region",
        PARALLEL + "select count(hereabouts_region(latitude, longitude)) from positions",
    ):
        told = table.error(query)
        assert REFUSED in told and "31.7" not in told.replace(query, "") and "hereabouts_adopt_atlas()" in told
    # What asks for no region works, and so does a database of that atlas. A dump brings its atlas along.
    assert table.sql("select region from positions order by row limit 1") != ""
    table.create("there", "hereabouts")
    assert table.sql(f"select {HERE} is distinct from 'r86e759b06f'", "there") == "t"
    table.create("moved")
    table.sql(dumps[0], "moved")
    assert REFUSED in table.error(f"select {HERE}", "moved")
    table.create("moved_on")
    table.sql(dumps[1], "moved_on")
    table.sql(f"select {HERE}", "moved_on")
    # What is accepted and rolled back is not.
    assert REFUSED in table.error(f"begin; select hereabouts_adopt_atlas(); select {HERE}; rollback; select {HERE}")
    table.sql("select hereabouts_adopt_atlas(); reindex index by_region")
    assert table.sql(f"select {HERE} is distinct from 'r86e759b06f'; select fingerprint from hereabouts_adopted") == "t\n" + other
    some = "from positions where row < 11 and region is distinct from hereabouts_region(latitude, longitude)"
    assert (
        table.sql(
            f"begin; select count(*) {some}; update positions set latitude = latitude where row < 11; "
            f"select count(*) {some}; rollback"
        )
        == "10\n0"
    )
    table.restart()
    assert REFUSED in table.error(f"select {HERE}")
    table.sql("select hereabouts_adopt_atlas(); reindex index by_region")
    assert table.sql(f"select {HERE}") == "r86e759b06f"


def test_a_damaged_atlas_is_an_error(server, scratch):
    sound = ATLAS.read_bytes()
    damaged = scratch / "damaged.atlas"
    cases = [
        (sound[: len(sound) // 2], "truncated"),
        (sound[:-5000] + b"\1" + sound[-4999:], "damaged"),
        (b"no", "not an atlas"),
        (None, "cannot be opened"),
    ]
    for content, words in cases:
        damaged.unlink(missing_ok=True)
        if content is not None:
            damaged.write_bytes(content)
        server.restart(atlas=damaged)
        told = server.error(f"select {HERE}")
        assert "hereabouts.atlas" in told and (words in told or "damaged" in told) and "restart" in told, told
        assert "hereabouts.atlas" in server.error("select * from hereabouts_atlas()")
        assert server.sql("select 'r86e759b06f'::hereabouts_region") == "r86e759b06f"
        assert "WARNING:  hereabouts.atlas" in (server.data / "log").read_text()
    # Of a running server, whatever becomes of the file changes nothing.
    damaged.write_bytes(sound)
    server.restart(atlas=damaged)
    holder = subprocess.Popen(
        [*USER, server.bin / "psql", "-XqAt", "-h", server.data, "-U", "owner", "here"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    query = "select count(distinct hereabouts_snap(i / 10.0 - 90, i * 7 % 360)) from generate_series(1, 1800) i"
    holder.stdin.write(query + ";\n")
    holder.stdin.flush()
    before = holder.stdout.readline()
    with open(damaged, "r+b") as file:
        file.write(bytes(len(sound) // 2))
        file.truncate(len(sound) // 2)
    assert holder.communicate(query + ";\n")[0] == before and server.sql(query) == before.strip()
    damaged.unlink()
    assert server.sql(query) == before.strip()
    server.restart()


def test_not_preloaded(server):
    assert "cannot be changed without restarting the server" in server.error("set hereabouts.atlas = '/nowhere'")
    server.restart(preloads=False)
    told = server.error(f"select {HERE}")
    assert "hereabouts was not loaded when the server started" in told and "shared_preload_libraries" in told
    assert server.sql("select id from ids limit 1") == "r86e759b06f"
    server.create("empty")
    assert "shared_preload_libraries" in server.error("create extension hereabouts", "empty")
    server.restart()


def test_a_guest(server):
    """Signals and threads of a backend are PostgreSQL's own."""

    def state():
        program = "pg_read_file('/proc/' || pg_backend_pid() || '/status')"
        return server.sql(
            f"select hereabouts_region_in('r86e759b06f'); do $$ begin perform {HERE}; exception when others then null; end $$; "
            f"select line from regexp_split_to_table({program}, '\\n') line where line ~ '^(Sig(Blk|Ign|Cgt)|Threads)'"
        )

    with_extension = state()
    server.restart(preloads=False)
    without = server.sql(
        "select line from regexp_split_to_table(pg_read_file('/proc/' || pg_backend_pid() || '/status'), '\\n') line "
        "where line ~ '^(Sig(Blk|Ign|Cgt)|Threads)'"
    )
    server.restart()
    assert with_extension == "r86e759b06f\n" + without and "Threads:\t1" in without


def test_killed_backends_and_servers(table):
    loop = "select count(hereabouts_snap(latitude, longitude)) from positions, generate_series(1, 100)"

    def begin():
        client = subprocess.Popen(
            [*USER, table.bin / "psql", "-XqAt", "-h", table.data, "-U", "owner", "here"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
        client.stdin.write("select pg_backend_pid();\n" + loop + ";\n")
        client.stdin.flush()
        backend = int(client.stdout.readline())
        time.sleep(0.3)
        return client, backend

    client, backend = begin()
    os.kill(backend, signal.SIGINT)
    assert "canceling statement" in client.communicate()[0]
    client, backend = begin()
    os.kill(backend, signal.SIGKILL)
    assert "closed the connection" in client.communicate()[0]
    for _ in range(100):  # until the server has recovered
        if table.run("psql", "-XqAt", "-c", "select 1", check=False).returncode == 0:
            break
        time.sleep(0.1)
    assert table.sql(f"select {HERE}") == "r86e759b06f"
    client, _ = begin()
    table.stop("immediate")
    client.communicate()
    table.start()
    assert (
        table.sql(
            f"select {HERE}; set enable_seqscan = off; "
            "select count(*) > 0 from positions where hereabouts_region(latitude, longitude) = 'r86e759b06f'"
        )
        == "r86e759b06f\nt"
    )


def test_examples(server, postgis):
    server.create("documented")
    for code, text in examples("PostgreSQL"):
        done = server.run("psql", "-Xq", "-v", "ON_ERROR_STOP=1", "-d", "documented", input=code, check=False)
        written = "".join(line.rstrip() + "\n" for line in done.stdout.splitlines() if line)
        assert done.returncode == 0 and done.stderr == "" and written == text, done.stdout + done.stderr
