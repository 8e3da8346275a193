#ifndef HEREABOUTS_CPROCESS_H
#define HEREABOUTS_CPROCESS_H

// Refuses dumps of the process's memory: no core file, and no debugger of the same user. On Linux prctl(PR_SET_DUMPABLE),
// and programs that the process starts leave no memory in theirs (/proc/self/coredump_filter); elsewhere the limit on core
// files alone, which they inherit too. Returns 0, or -1 with errno.
int hereabouts_refuse_dumps(void);

// Gives the system back what was freed and the allocator has kept; nothing where the allocator cannot be asked.
void hereabouts_release_free_memory(void);

#endif
