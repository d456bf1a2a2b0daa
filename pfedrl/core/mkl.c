/* MKL, which is part of torch, asks who made the processor, and heeds MKL_CBWR on Intel's alone:
 * elsewhere it takes other kernels, which add up in another order. These two functions stand in
 * for those that it asks by, so that any processor with AVX2 gets the same kernels and the same
 * bits. `core/processor.py` loads them before torch; it does so only where AVX2 and FMA exist.
 */
int mkl_serv_intel_cpu(void) { return 1; }
int mkl_serv_intel_cpu_true(void) { return 1; }
