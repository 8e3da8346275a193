// The reentrant half of the GEOS C API; the other half shares one global context and is left out on purpose.
#ifndef GEOS_USE_ONLY_R_API
#define GEOS_USE_ONLY_R_API
#endif
#include <geos_c.h>
