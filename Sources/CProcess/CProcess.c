#include "CProcess.h"

#include <sys/resource.h>
#ifdef __linux__
#include <fcntl.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>
#endif
#ifdef __GLIBC__
#include <malloc.h>
#endif

int hereabouts_refuse_dumps(void) {
    const struct rlimit none = {0, 0};
    if (setrlimit(RLIMIT_CORE, &none) != 0) return -1;
#ifdef __linux__
    // Children inherit this, and not what is set below; where it cannot be written they have the limit alone.
    const int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
    if (filter >= 0) {
        const ssize_t count = write(filter, "0", 1);
        (void)count;
        close(filter);
    }
    return prctl(PR_SET_DUMPABLE, 0L, 0L, 0L, 0L);
#else
    return 0;
#endif
}

static uint64_t limit(rlim_t value) { return value == RLIM_INFINITY ? UINT64_MAX : (uint64_t)value; }

uint64_t hereabouts_memory_limit(void) {
    struct rlimit space, data;
    if (getrlimit(RLIMIT_AS, &space) != 0 || getrlimit(RLIMIT_DATA, &data) != 0) return UINT64_MAX;
    const uint64_t first = limit(space.rlim_cur), second = limit(data.rlim_cur);
    return first < second ? first : second;
}

uint64_t hereabouts_file_limit(void) {
    struct rlimit files;
    return getrlimit(RLIMIT_NOFILE, &files) == 0 ? limit(files.rlim_cur) : UINT64_MAX;
}

// The linker's symbols: their addresses are the parts.
#ifdef __linux__
extern const char hereabouts_commit_0 __attribute__((weak)), hereabouts_commit_1 __attribute__((weak)),
    hereabouts_commit_2 __attribute__((weak)), hereabouts_commit_3 __attribute__((weak));
#endif

uint64_t hereabouts_commit_word(int part) {
#ifdef __linux__
    const char *const parts[] = {&hereabouts_commit_0, &hereabouts_commit_1, &hereabouts_commit_2, &hereabouts_commit_3};
    return (uintptr_t)parts[part];
#else
    (void)part;
    return 0;
#endif
}

void hereabouts_notify(const char *message) {
#ifdef __linux__
    const char *name = getenv("NOTIFY_SOCKET");
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    const size_t length = name ? strlen(name) : 0;
    if (length < 2 || length >= sizeof address.sun_path || (name[0] != '/' && name[0] != '@')) return;
    memcpy(address.sun_path, name, length);
    if (name[0] == '@') address.sun_path[0] = 0;  // of the abstract names
    const int descriptor = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    if (descriptor < 0) return;
    sendto(descriptor, message, strlen(message), MSG_NOSIGNAL, (const struct sockaddr *)&address,
           (socklen_t)(offsetof(struct sockaddr_un, sun_path) + length));
    close(descriptor);
#else
    (void)message;
#endif
}

void hereabouts_release_free_memory(void) {
#ifdef __GLIBC__
    malloc_trim(0);
#endif
}
