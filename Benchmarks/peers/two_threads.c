// two_threads: how much more two threads of this machine do than one, where they share nothing but the processor: the
// most that a second thread can bring to anything bound by arithmetic. Prints a number, 2 where each has a core of its
// own.

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>

static double now(void) {
    struct timespec time;
    clock_gettime(CLOCK_MONOTONIC, &time);
    return (double)time.tv_sec + (double)time.tv_nsec * 1e-9;
}

/// A tenth of a second or so in registers.
static void *work(void *result) {
    uint64_t a = 1, b = 2, c = 3, d = 4, e = 5, f = 6;
    for (uint64_t step = 0; step < 150000000; step++) {
        a += b ^ step;
        b += c * 3;
        c ^= d + step;
        d += e;
        e ^= f << 1;
        f += a;
    }
    *(volatile uint64_t *)result = a + b + c + d + e + f;
    return NULL;
}

int main(void) {
    uint64_t results[2];
    const double start = now();
    work(results);
    const double middle = now();
    pthread_t second;
    if (pthread_create(&second, NULL, work, results + 1) != 0) return 1;
    work(results);
    pthread_join(second, NULL);
    printf("%.3f\n", 2 * (middle - start) / (now() - middle));
    return 0;
}
