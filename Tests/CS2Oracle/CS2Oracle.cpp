#include "CS2Oracle.h"

#include <cmath>
#include <cstring>
#include <vector>

#include <s2/s2cell.h>
#include <s2/s2cell_id.h>
#include <s2/s2coords.h>
#include <s2/s2earth.h>
#include <s2/s2latlng.h>
#include <s2/s2metrics.h>

namespace {

void writeCoordinate(const S2Point &point, double *coordinate) {
  const S2LatLng place(point);
  coordinate[0] = place.lat().degrees();
  coordinate[1] = place.lng().degrees();
}

}  // namespace

void s2OracleLeaves(const double *coordinates, size_t count, uint64_t *ids) {
  for (size_t k = 0; k < count; ++k) {
    ids[k] = S2CellId(S2LatLng::FromDegrees(coordinates[2 * k], coordinates[2 * k + 1])).id();
  }
}

int s2OracleFaceST(double latitude, double longitude, double *s, double *t) {
  double u, v;
  const int face = S2::XYZtoFaceUV(S2LatLng::FromDegrees(latitude, longitude).ToPoint(), &u, &v);
  *s = S2::UVtoST(u);
  *t = S2::UVtoST(v);
  return face;
}

uint64_t s2OracleLeafFromFaceIJ(int face, int i, int j) { return S2CellId::FromFaceIJ(face, i, j).id(); }

int s2OracleFaceIJ(uint64_t id, int *i, int *j, int *orientation) {
  return S2CellId(id).ToFaceIJOrientation(i, j, orientation);
}

int s2OracleIsValid(uint64_t id) { return S2CellId(id).is_valid(); }
int s2OracleLevel(uint64_t id) { return S2CellId(id).level(); }
uint64_t s2OracleParent(uint64_t id, int level) { return S2CellId(id).parent(level).id(); }
uint64_t s2OracleChild(uint64_t id, int position) { return S2CellId(id).child(position).id(); }
uint64_t s2OracleRangeMin(uint64_t id) { return S2CellId(id).range_min().id(); }
uint64_t s2OracleRangeMax(uint64_t id) { return S2CellId(id).range_max().id(); }
uint64_t s2OracleNext(uint64_t id) { return S2CellId(id).next().id(); }
int s2OracleContains(uint64_t id, uint64_t other) { return S2CellId(id).contains(S2CellId(other)); }

void s2OracleToken(uint64_t id, char *token) {
  const std::string text = S2CellId(id).ToToken();
  std::memcpy(token, text.c_str(), text.size() + 1);
}

uint64_t s2OracleFromToken(const char *token) { return S2CellId::FromToken(token).id(); }

void s2OracleEdgeNeighbors(uint64_t id, uint64_t *neighbors) {
  S2CellId cells[4];
  S2CellId(id).GetEdgeNeighbors(cells);
  for (int k = 0; k < 4; ++k) neighbors[k] = cells[k].id();
}

size_t s2OracleAllNeighbors(uint64_t id, int level, uint64_t *neighbors, size_t capacity) {
  std::vector<S2CellId> cells;
  S2CellId(id).AppendAllNeighbors(level, &cells);
  for (size_t k = 0; k < cells.size() && k < capacity; ++k) neighbors[k] = cells[k].id();
  return cells.size();
}

void s2OracleCenter(uint64_t id, double *coordinate) { writeCoordinate(S2CellId(id).ToPoint(), coordinate); }

void s2OracleVertices(uint64_t id, double *coordinates) {
  const S2Cell cell{S2CellId(id)};
  for (int k = 0; k < 4; ++k) writeCoordinate(cell.GetVertex(k), coordinates + 2 * k);
}

double s2OracleMaximumDiagonal(int level) { return S2::kMaxDiag.GetValue(level); }
double s2OracleEarthRadiusMeters(void) { return S2Earth::RadiusMeters(); }

void s2OracleSineCosine(double degrees, double *sine, double *cosine) {
  const double radians = S1Angle::Degrees(degrees).radians();
  *sine = std::sin(radians);
  *cosine = std::cos(radians);
}
