#ifndef FILE_MAP_H
#define FILE_MAP_H

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#if defined(__GLIBC__)
#include <sys/syscall.h>
#endif

// What maps a file: calls of the system that Embedded Swift, which imports no C library, cannot make.

/// What the system says of an open file.
typedef struct file_status {
    int64_t size;
    /// Nanoseconds since 1970, modulo 2⁶⁴, at which the inode was changed last.
    int64_t change_time;
    bool is_regular;
} file_status;

/// Opens a file for reading; -1, and `error` set to the system's number, where it cannot be.
static inline int hereabouts_open_file(const char *_Nonnull path, int *_Nonnull error) {
    int descriptor = open(path, O_RDONLY | O_CLOEXEC);
    *error = descriptor < 0 ? errno : 0;
    return descriptor;
}

static inline void hereabouts_set_error(int error) { errno = error; }

static inline void hereabouts_close_file(int descriptor) { close(descriptor); }

/// Zero, or the system's error number.
static inline int hereabouts_status(int descriptor, file_status *_Nonnull status) {
    struct stat found;
#if defined(__GLIBC__) && (defined(__x86_64__) || defined(__aarch64__))
    // As a symbol of its own it came with glibc 2.33. These kernels' structure is that of the header.
    if (syscall(SYS_fstat, descriptor, &found) != 0) return errno;
#else
    if (fstat(descriptor, &found) != 0) return errno;
#endif
#if defined(__APPLE__)
    struct timespec time = found.st_ctimespec;
#else
    struct timespec time = found.st_ctim;
#endif
    status->size = found.st_size;
    status->change_time = (int64_t)((uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec);
    status->is_regular = S_ISREG(found.st_mode);
    return 0;
}

/// Reads the first bytes of a file: zero, or the system's error number, -1 where the file has fewer.
static inline int hereabouts_read(int descriptor, void *_Nonnull bytes, size_t count) {
    for (size_t done = 0; done < count;) {
        ssize_t length = read(descriptor, (char *)bytes + done, count - done);
        if (length < 0 && errno == EINTR) continue;
        if (length <= 0) return length < 0 ? errno : -1;
        done += (size_t)length;
    }
    return 0;
}

/// Maps a file read-only; null, and `error` set, where it cannot be.
///
/// @param reads_all whether all pages are about to be read: they are faulted in with one call.
static inline const void *_Nullable hereabouts_map(int descriptor, size_t size, bool reads_all, int *_Nonnull error) {
    int flags = MAP_PRIVATE;
#if defined(MAP_POPULATE)
    if (reads_all) flags |= MAP_POPULATE;
#else
    (void)reads_all;
#endif
    void *start = mmap(NULL, size, PROT_READ, flags, descriptor, 0);
    *error = start == MAP_FAILED ? errno : 0;
    return start == MAP_FAILED ? NULL : start;
}

static inline void hereabouts_unmap(const void *_Nonnull start, size_t size) { munmap((void *)(uintptr_t)start, size); }

/// Memory of zeros; null where there is none.
static inline void *_Nullable hereabouts_zeros(size_t count, size_t size) { return calloc(count, size); }

static inline void hereabouts_free(void *_Nonnull memory) { free(memory); }

#endif
