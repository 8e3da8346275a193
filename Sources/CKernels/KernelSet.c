#include "CKernels.h"

bool hereabouts_has_kernel_set(kernel_set set) {
    switch (set) {
    case KERNEL_SET_BASELINE: return true;
#if defined(__x86_64__)
    case KERNEL_SET_AVX2:
        return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2")
            && __builtin_cpu_supports("popcnt");
    case KERNEL_SET_AVX512:
        return hereabouts_has_kernel_set(KERNEL_SET_AVX2) && __builtin_cpu_supports("avx512f")
            && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq")
            && __builtin_cpu_supports("avx512vl");
#endif
    default: return false;
    }
}
