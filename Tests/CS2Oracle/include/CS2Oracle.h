// A plain C face of the S2 geometry library, for tests only: an oracle for cell ids that shares no code with ours.
//
// Angles are degrees, coordinates are latitude and then longitude, and nothing checks its arguments: an id must be
// that of a cell unless a line says otherwise.
#ifndef CS2ORACLE_H
#define CS2ORACLE_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/// Writes the leaf cell of each of `count` coordinates.
void s2OracleLeaves(const double *coordinates, size_t count, uint64_t *ids);

/// Writes the six faces' coordinates of a point: returns the face, and sets s and t in [0, 1].
int s2OracleFaceST(double latitude, double longitude, double *s, double *t);

/// Returns a cell from its face and leaf position, a leaf.
uint64_t s2OracleLeafFromFaceIJ(int face, int i, int j);

/// Sets the leaf position and the curve's orientation of a cell; returns its face.
int s2OracleFaceIJ(uint64_t id, int *i, int *j, int *orientation);

/// Whether any 64 bits are the id of a cell.
int s2OracleIsValid(uint64_t id);

int s2OracleLevel(uint64_t id);
uint64_t s2OracleParent(uint64_t id, int level);
uint64_t s2OracleChild(uint64_t id, int position);
uint64_t s2OracleRangeMin(uint64_t id);
uint64_t s2OracleRangeMax(uint64_t id);
uint64_t s2OracleNext(uint64_t id);
int s2OracleContains(uint64_t id, uint64_t other);

/// Writes a token of any 64 bits and a final zero byte into 17 bytes.
void s2OracleToken(uint64_t id, char *token);

/// The id a token stands for; 0 where it is malformed.
uint64_t s2OracleFromToken(const char *token);

/// Writes the four neighbors across the edges.
void s2OracleEdgeNeighbors(uint64_t id, uint64_t *neighbors);

/// Writes up to `capacity` neighbors of a level and returns how many there are.
size_t s2OracleAllNeighbors(uint64_t id, int level, uint64_t *neighbors, size_t capacity);

/// Writes the center's latitude and longitude.
void s2OracleCenter(uint64_t id, double *coordinate);

/// Writes four latitudes and longitudes, counterclockwise.
void s2OracleVertices(uint64_t id, double *coordinates);

/// The largest diagonal of a level on the unit sphere, in radians.
double s2OracleMaximumDiagonal(int level);

/// The Earth's radius in meters.
double s2OracleEarthRadiusMeters(void);

/// Sine and cosine of degrees by way of S2's radians and the C library.
void s2OracleSineCosine(double degrees, double *sine, double *cosine);

#ifdef __cplusplus
}
#endif

#endif
