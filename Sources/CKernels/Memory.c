#define _DEFAULT_SOURCE
#include "CKernels.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

void hereabouts_prefault(void *start, size_t count) {
#if defined(MADV_POPULATE_WRITE)
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start / page * page;
    (void)madvise((void *)first, (uintptr_t)start + count - first, MADV_POPULATE_WRITE);
#else
    (void)start;
    (void)count;
#endif
}
