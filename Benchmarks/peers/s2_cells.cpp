// s2_cells POINTS PASSES: nanoseconds per point of S2's cell at level 12 (5 km²) and its center.
#include <s2/s2cell_id.h>
#include <s2/s2latlng.h>

#include "points.h"

static double pass(Points all, void *) {
    double sum = 0;
    for (size_t i = 0; i < all.count; i++) {
        S2LatLng place = S2LatLng::FromDegrees(all.points[i].latitude, all.points[i].longitude);
        S2LatLng center = S2CellId(place).parent(12).ToLatLng();
        sum += center.lat().radians() + center.lng().radians();
    }
    return sum;
}

int main(int count, char **arguments) {
    return count == 3 ? measure(pass, read_points(arguments[1]), nullptr, atoi(arguments[2])) : 2;
}
