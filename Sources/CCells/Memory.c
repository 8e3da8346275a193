#define _DEFAULT_SOURCE
#include "CCells.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

void ccells_touch(void *start, size_t count) {
#if defined(MADV_POPULATE_WRITE)
    // Where the kernel does not know the advice, pages come one by one, as they are written.
    const uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), first = (uintptr_t)start / page * page;
    (void)madvise((void *)first, (uintptr_t)start + count - first, MADV_POPULATE_WRITE);
#else
    (void)start;
    (void)count;
#endif
}
