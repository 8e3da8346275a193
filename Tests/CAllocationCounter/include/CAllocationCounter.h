#ifndef CALLOCATIONCOUNTER_H
#define CALLOCATIONCOUNTER_H

#include <stdbool.h>
#include <stdint.h>

/// Whether allocations are counted on this system: with glibc, and without a sanitizer that has an allocator of its own.
bool allocation_counter_works(void);

/// How many times the calling thread has asked for memory since it began.
uint64_t allocation_count(void);

#endif
