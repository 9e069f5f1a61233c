// fwt3d.cu in OpenCL C, kernel by kernel: G. Bernabé, Parallel 3D fast wavelet transform comparison on CPUs and GPUs,
// section 6.2 and Table 4 (a block is a work-group, a thread a work item, shared memory local memory). What the
// arguments are and how many work items are launched: ../fwt3d.cu. Work-groups have 128 work items.
//
// h0 to h3, Daubechies' filter of four taps, are defined by the host (-D h0=…).

#define THREADS 128

float low(float a, float b, float c, float d) {
  return h0 * a + h1 * b + h2 * c + h3 * d;
}

float high(float a, float b, float c, float d) {
  return h3 * a - h2 * b + h1 * c - h0 * d;
}

__kernel void fwt_frames(int pixels, int first, __global const float *frames, __global float *reference,
                         __global float *detailed) {
  __local float pixel[4][THREADS];

  int thread = get_local_id(0);
  int i = get_group_id(0) * THREADS + thread;
  if (i < pixels)
    for (int frame = 0; frame < 4; frame++)
      pixel[frame][thread] = frames[(first + frame) % 4 * pixels + i];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (i >= pixels)
    return;
  float a = pixel[0][thread], b = pixel[1][thread], c = pixel[2][thread], d = pixel[3][thread];
  reference[i] = low(a, b, c, d);
  detailed[i] = high(a, b, c, d);
}

__kernel void fwt_rows(int columns, __global const float *in, __global float *out) {
  __local float pixel[2 * THREADS + 2];

  int thread = get_local_id(0);
  int half_row = columns / 2;
  int groups = (half_row + THREADS - 1) / THREADS;
  int row = get_group_id(0) / groups * columns;
  int from = get_group_id(0) % groups * THREADS;

  pixel[thread] = in[row + (2 * from + thread) % columns];
  pixel[thread + THREADS] = in[row + (2 * from + thread + THREADS) % columns];
  if (thread < 2)
    pixel[thread + 2 * THREADS] = in[row + (2 * from + thread + 2 * THREADS) % columns];
  barrier(CLK_LOCAL_MEM_FENCE);

  int k = from + thread, i = 2 * thread;
  if (k >= half_row)
    return;
  out[row + k] = low(pixel[i], pixel[i + 1], pixel[i + 2], pixel[i + 3]);
  out[row + half_row + k] = high(pixel[i], pixel[i + 1], pixel[i + 2], pixel[i + 3]);
}

__kernel void fwt_columns(int rows, int columns, __global const float *in, __global float *out) {
  __local float pixel[4][THREADS];

  int thread = get_local_id(0);
  int groups = (columns + THREADS - 1) / THREADS;
  int k = get_group_id(0) / groups;
  int column = get_group_id(0) % groups * THREADS + thread;
  if (column < columns)
    for (int j = 0; j < 4; j++)
      pixel[j][thread] = in[(2 * k + j) % rows * columns + column];
  barrier(CLK_LOCAL_MEM_FENCE);
  if (column >= columns)
    return;
  float a = pixel[0][thread], b = pixel[1][thread], c = pixel[2][thread], d = pixel[3][thread];
  out[k * columns + column] = low(a, b, c, d);
  out[(rows / 2 + k) * columns + column] = high(a, b, c, d);
}
