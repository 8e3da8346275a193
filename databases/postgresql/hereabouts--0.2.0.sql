\echo Use "CREATE EXTENSION hereabouts" to load this file. \quit

-- The published id of a region: a cell of S2, in 8 bytes. Its text is "r86e759b06f"; it sorts as its number does.
CREATE TYPE hereabouts_region;
CREATE FUNCTION hereabouts_region_in(cstring) RETURNS hereabouts_region
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'region_in';
CREATE FUNCTION hereabouts_region_out(hereabouts_region) RETURNS cstring
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'region_out';
CREATE FUNCTION hereabouts_region_receive(internal) RETURNS hereabouts_region
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE AS 'MODULE_PATHNAME', 'region_receive';
CREATE FUNCTION hereabouts_region_send(hereabouts_region) RETURNS bytea
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE AS 'int8send';
CREATE TYPE hereabouts_region (
    INPUT = hereabouts_region_in, OUTPUT = hereabouts_region_out,
    RECEIVE = hereabouts_region_receive, SEND = hereabouts_region_send, LIKE = bigint);

CREATE CAST (hereabouts_region AS bigint) WITHOUT FUNCTION;

CREATE FUNCTION hereabouts_region_eq(hereabouts_region, hereabouts_region) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'int8eq';
CREATE FUNCTION hereabouts_region_ne(hereabouts_region, hereabouts_region) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'int8ne';
CREATE FUNCTION hereabouts_region_lt(hereabouts_region, hereabouts_region) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'int8lt';
CREATE FUNCTION hereabouts_region_le(hereabouts_region, hereabouts_region) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'int8le';
CREATE FUNCTION hereabouts_region_gt(hereabouts_region, hereabouts_region) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'int8gt';
CREATE FUNCTION hereabouts_region_ge(hereabouts_region, hereabouts_region) RETURNS boolean
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'int8ge';
CREATE FUNCTION hereabouts_region_cmp(hereabouts_region, hereabouts_region) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'btint8cmp';
CREATE FUNCTION hereabouts_region_hash(hereabouts_region) RETURNS integer
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'hashint8';
CREATE FUNCTION hereabouts_region_hash_extended(hereabouts_region, bigint) RETURNS bigint
    LANGUAGE internal IMMUTABLE STRICT PARALLEL SAFE LEAKPROOF AS 'hashint8extended';

CREATE OPERATOR = (
    FUNCTION = hereabouts_region_eq, LEFTARG = hereabouts_region, RIGHTARG = hereabouts_region,
    COMMUTATOR = =, NEGATOR = <>, RESTRICT = eqsel, JOIN = eqjoinsel, HASHES, MERGES);
CREATE OPERATOR <> (
    FUNCTION = hereabouts_region_ne, LEFTARG = hereabouts_region, RIGHTARG = hereabouts_region,
    COMMUTATOR = <>, NEGATOR = =, RESTRICT = neqsel, JOIN = neqjoinsel);
CREATE OPERATOR < (
    FUNCTION = hereabouts_region_lt, LEFTARG = hereabouts_region, RIGHTARG = hereabouts_region,
    COMMUTATOR = >, NEGATOR = >=, RESTRICT = scalarltsel, JOIN = scalarltjoinsel);
CREATE OPERATOR <= (
    FUNCTION = hereabouts_region_le, LEFTARG = hereabouts_region, RIGHTARG = hereabouts_region,
    COMMUTATOR = >=, NEGATOR = >, RESTRICT = scalarlesel, JOIN = scalarlejoinsel);
CREATE OPERATOR > (
    FUNCTION = hereabouts_region_gt, LEFTARG = hereabouts_region, RIGHTARG = hereabouts_region,
    COMMUTATOR = <, NEGATOR = <=, RESTRICT = scalargtsel, JOIN = scalargtjoinsel);
CREATE OPERATOR >= (
    FUNCTION = hereabouts_region_ge, LEFTARG = hereabouts_region, RIGHTARG = hereabouts_region,
    COMMUTATOR = <=, NEGATOR = <, RESTRICT = scalargesel, JOIN = scalargejoinsel);

CREATE OPERATOR CLASS hereabouts_region_ops DEFAULT FOR TYPE hereabouts_region USING btree AS
    OPERATOR 1 <, OPERATOR 2 <=, OPERATOR 3 =, OPERATOR 4 >=, OPERATOR 5 >,
    FUNCTION 1 hereabouts_region_cmp(hereabouts_region, hereabouts_region),
    FUNCTION 2 btint8sortsupport(internal),
    FUNCTION 4 btequalimage(oid);
CREATE OPERATOR CLASS hereabouts_region_ops DEFAULT FOR TYPE hereabouts_region USING hash AS
    OPERATOR 1 =,
    FUNCTION 1 hereabouts_region_hash(hereabouts_region),
    FUNCTION 2 hereabouts_region_hash_extended(hereabouts_region, bigint);

-- A region with the circle that contains it, in degrees and meters. Some regions have no place.
CREATE TYPE hereabouts_record AS (
    id hereabouts_region, latitude float8, longitude float8, horizontal_accuracy float8, country text, place text);

-- Null for what is no position: null, NaN, a latitude beyond 90 degrees, a longitude beyond 540.
CREATE FUNCTION hereabouts_region(latitude float8, longitude float8) RETURNS hereabouts_region
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 20 AS 'MODULE_PATHNAME', 'region_at';
CREATE FUNCTION hereabouts_snap(latitude float8, longitude float8) RETURNS hereabouts_record
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 50 AS 'MODULE_PATHNAME', 'record_at';

-- Of a stored id; null for one that the atlas does not have.
CREATE FUNCTION hereabouts_record(hereabouts_region) RETURNS hereabouts_record
    LANGUAGE c IMMUTABLE STRICT PARALLEL SAFE COST 50 AS 'MODULE_PATHNAME', 'record_of';

-- The server's atlas, and the words to show beside what is published.
CREATE FUNCTION hereabouts_atlas(OUT fingerprint text, OUT regions integer, OUT attribution text)
    LANGUAGE c STABLE PARALLEL SAFE AS 'MODULE_PATHNAME', 'atlas_about';

-- The fingerprint of the atlas that this database's regions are of. Every row has to be the server's; a restored dump adds its own.
CREATE TABLE hereabouts_adopted (fingerprint text NOT NULL);
GRANT SELECT ON hereabouts_adopted TO PUBLIC;
SELECT pg_extension_config_dump('hereabouts_adopted', '');
CREATE FUNCTION hereabouts_adopt_atlas() RETURNS void LANGUAGE sql BEGIN ATOMIC
    DELETE FROM hereabouts_adopted;
    INSERT INTO hereabouts_adopted SELECT fingerprint FROM hereabouts_atlas();
END;
SELECT hereabouts_adopt_atlas();
