#ifndef MEMORY_H
#define MEMORY_H

#include <stddef.h>
#include <stdint.h>

/// Relaxed atomic access to a word of a once-table: several threads may fill it, all with the same value.
static inline uint32_t relaxed_load(const uint32_t *_Nonnull word) { return __atomic_load_n(word, __ATOMIC_RELAXED); }
static inline void relaxed_store(uint32_t *_Nonnull word, uint32_t value) {
    __atomic_store_n(word, value, __ATOMIC_RELAXED);
}

/// Prefaults pages for writing, in one system call where there is one for it (Linux 5.14 and later; elsewhere nothing
/// happens, and pages fault one by one). The contents stay as they are.
void hereabouts_prefault(void *_Nonnull start, size_t count);

/// Prefetches the cache line at an address, which need not be readable.
static inline void prefetch_line(const void *_Nonnull address) { __builtin_prefetch(address); }

#endif
