\echo Use "CREATE EXTENSION hereabouts_postgis" to load this file. \quit

-- Points of any longitude and latitude; a geometry of EPSG:4326 is taken as a geography. Bodies are bound to their functions here,
-- whatever the search_path is when they are called.
CREATE FUNCTION hereabouts_region(point geography) RETURNS hereabouts_region LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN hereabouts_region(ST_Y(point::geometry), ST_X(point::geometry));
CREATE FUNCTION hereabouts_snap(point geography) RETURNS hereabouts_record LANGUAGE sql IMMUTABLE STRICT PARALLEL SAFE
    RETURN hereabouts_snap(ST_Y(point::geometry), ST_X(point::geometry));
