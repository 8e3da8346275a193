#ifndef HEREABOUTS_CPROCESS_H
#define HEREABOUTS_CPROCESS_H

// Refuses dumps of the process's memory: no core file, and no debugger of the same user. On Linux prctl(PR_SET_DUMPABLE);
// elsewhere the limit on core files alone. Returns 0, or -1 with errno.
int hereabouts_refuse_dumps(void);

// Gives the system back what was freed and the allocator has kept; nothing where the allocator cannot be asked.
void hereabouts_release_free_memory(void);

#endif
