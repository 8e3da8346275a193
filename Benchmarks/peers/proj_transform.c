// proj_transform POINTS PASSES: nanoseconds per point of one projection by PROJ: equal-area (LAEA), the sphere's size.
#include <proj.h>

#include "points.h"

static double pass(Points all, void *context) {
    double sum = 0;
    for (size_t i = 0; i < all.count; i++) {
        PJ_COORD place = proj_coord(all.points[i].longitude, all.points[i].latitude, 0, 0);
        PJ_COORD plane = proj_trans((PJ *)context, PJ_FWD, place);
        sum += plane.xy.x + plane.xy.y;
    }
    return sum;
}

int main(int count, char **arguments) {
    if (count != 3) return 2;
    PJ *raw = proj_create_crs_to_crs(NULL, "OGC:CRS84", "+proj=laea +lat_0=50 +lon_0=10 +datum=WGS84", NULL);
    return raw ? measure(pass, read_points(arguments[1]), raw, atoi(arguments[2])) : 1;
}
