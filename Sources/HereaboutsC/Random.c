#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

// What seeds the hashes of Swift's dictionaries. As a symbol of glibc it came with 2.36.
__attribute__((visibility("hidden"))) void arc4random_buf(void *bytes, size_t count) {
    unsigned char *target = bytes;
    while (count > 0) {
        long length = syscall(SYS_getrandom, target, count, 1 /* at once */);
        if (length <= 0) break;
        target += length;
        count -= (size_t)length;
    }
    // Where there are none yet, as at boot: a hash is no secret.
    for (uint64_t seed = (uint64_t)time(NULL) ^ (uint64_t)(uintptr_t)bytes; count > 0; count--) {
        seed = seed * 6364136223846793005u + 1442695040888963407u;
        *target++ = (unsigned char)(seed >> 56);
    }
}
