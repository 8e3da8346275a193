#include "CProcess.h"

#include <sys/resource.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

int hereabouts_refuse_dumps(void) {
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
#ifdef __linux__
    return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
#else
    return 0;
#endif
}
