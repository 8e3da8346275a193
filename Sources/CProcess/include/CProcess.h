#ifndef HEREABOUTS_CPROCESS_H
#define HEREABOUTS_CPROCESS_H

#include <stdint.h>

// Refuses dumps of the process's memory: no core file, and no debugger of the same user. On Linux prctl(PR_SET_DUMPABLE),
// and programs that the process starts leave no memory in theirs (/proc/self/coredump_filter); elsewhere the limit on core
// files alone, which they inherit too. Returns 0, or -1 with errno.
int hereabouts_refuse_dumps(void);

// The bytes of memory, and the number of files, that the process may have by its limits; UINT64_MAX where they are not limited.
uint64_t hereabouts_memory_limit(void);
uint64_t hereabouts_file_limit(void);

// A part of the commit that the program was built from, 0 to 2, as scripts/commit-options has it; 3: not 0 where its sources
// differed from it. 0 where nobody said.
uint64_t hereabouts_commit_word(int part);

// Tells the service manager that started the process how it does, as sd_notify(3) has it; nothing where there is none.
void hereabouts_notify(const char *_Nonnull message);

// Gives the system back what was freed and the allocator has kept; nothing where the allocator cannot be asked.
void hereabouts_release_free_memory(void);

#endif
