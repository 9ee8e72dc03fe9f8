/* The host's half of a .cu, as far as it must parse: nothing of it runs. */
#pragma once

typedef int cudaError_t;
typedef struct tw_stream *cudaStream_t;
typedef struct tw_event *cudaEvent_t;
typedef struct cudaArray *cudaArray_t;
typedef long clock_t; /* as <time.h> has it */
enum {
  cudaSuccess = 0,
  cudaErrorInvalidValue = 1,
  cudaErrorMemoryAllocation = 2,
  cudaErrorUnknown = 30,
  cudaErrorNotReady = 600
};
#define cudaStreamLegacy    ((cudaStream_t)1)
#define cudaStreamPerThread ((cudaStream_t)2)
enum { cudaStreamDefault, cudaStreamNonBlocking, cudaEventDefault = 0, cudaEventBlockingSync, cudaEventDisableTiming };
enum { cudaHostAllocDefault, cudaHostAllocPortable, cudaHostAllocMapped, cudaMemAttachGlobal = 1 };
enum cudaLimit { cudaLimitStackSize, cudaLimitPrintfFifoSize, cudaLimitMallocHeapSize };
enum cudaMemcpyKind {
  cudaMemcpyHostToHost,
  cudaMemcpyHostToDevice,
  cudaMemcpyDeviceToHost,
  cudaMemcpyDeviceToDevice,
  cudaMemcpyDefault
};
enum cudaFuncAttribute {
  cudaFuncAttributeMaxDynamicSharedMemorySize = 8,
  cudaFuncAttributePreferredSharedMemoryCarveout
};
enum cudaFuncCache { cudaFuncCachePreferNone, cudaFuncCachePreferShared, cudaFuncCachePreferL1 };
enum { cudaSharedmemCarveoutMaxShared = 100 };
enum cudaDeviceAttr {
  cudaDevAttrMaxSharedMemoryPerBlock = 8,
  cudaDevAttrMultiProcessorCount = 16,
  cudaDevAttrMaxThreadsPerMultiProcessor = 39,
  cudaDevAttrComputeCapabilityMajor = 75,
  cudaDevAttrMaxSharedMemoryPerBlockOptin = 97
};
enum cudaLaunchAttributeID { cudaLaunchAttributeProgrammaticStreamSerialization = 6 };
struct cudaLaunchAttribute {
  cudaLaunchAttributeID id;
  struct {
    int programmaticStreamSerializationAllowed;
  } val;
};
struct cudaLaunchConfig_t {
  dim3 gridDim, blockDim;
  size_t dynamicSmemBytes;
  cudaStream_t stream;
  cudaLaunchAttribute *attrs;
  unsigned numAttrs;
};
struct cudaDeviceProp {
  char name[256];
  size_t totalGlobalMem, sharedMemPerBlock, sharedMemPerBlockOptin, sharedMemPerMultiprocessor, totalConstMem;
  int major, minor, multiProcessorCount, maxThreadsPerBlock, maxThreadsPerMultiProcessor, warpSize, regsPerBlock,
      regsPerMultiprocessor, clockRate, memoryClockRate, memoryBusWidth, l2CacheSize, maxThreadsDim[3], maxGridSize[3];
};

/* A launch: clang turns <<< >>> into these two. */
extern "C" int cudaConfigureCall(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" unsigned __cudaPushCallConfiguration(dim3 grid, dim3 block, size_t shared = 0, cudaStream_t stream = 0);
extern "C" cudaError_t cudaLaunchKernel(const void *kernel, dim3 grid, dim3 block, void **arguments, size_t shared,
                                        cudaStream_t stream);

/* Calls of any arguments. */
struct tw_host_call {
  template <typename... A> cudaError_t operator()(A &&...) const { return cudaSuccess; }
};
extern const tw_host_call cudaMalloc, cudaMallocHost, cudaMallocManaged, cudaMallocAsync, cudaFree, cudaFreeHost,
    cudaFreeAsync, cudaMemcpy, cudaMemcpyAsync, cudaMemcpy2D, cudaMemcpyToSymbol, cudaMemcpyFromSymbol, cudaMemset,
    cudaMemsetAsync, cudaDeviceSynchronize, cudaLaunchKernelEx, cudaDeviceReset, cudaStreamSynchronize,
    cudaStreamCreate, cudaStreamDestroy, cudaEventCreate, cudaEventDestroy, cudaEventRecord, cudaEventSynchronize,
    cudaEventElapsedTime, cudaGetLastError, cudaPeekAtLastError, cudaSetDevice, cudaGetDevice, cudaGetDeviceCount,
    cudaGetDeviceProperties, cudaDeviceGetAttribute, cudaDeviceSetLimit, cudaFuncSetAttribute, cudaFuncSetCacheConfig,
    cudaFuncGetAttributes, cudaHostAlloc, cudaHostRegister, cudaMemGetInfo,
    cudaOccupancyMaxActiveBlocksPerMultiprocessor, cudaOccupancyMaxPotentialBlockSize, cudaLaunchCooperativeKernel,
    cudaProfilerStart, cudaProfilerStop, cudaEventQuery, cudaStreamQuery, cudaStreamWaitEvent,
    cudaStreamCreateWithFlags, cudaStreamCreateWithPriority, cudaEventCreateWithFlags, cudaMemcpy2DAsync,
    cudaMemcpyPeer, cudaMemset2D, cudaMallocPitch, cudaGetSymbolAddress, cudaThreadSynchronize,
    cudaDeviceGetStreamPriorityRange, cudaDeviceGetLimit, cudaDriverGetVersion, cudaRuntimeGetVersion,
    cudaHostUnregister, cudaHostGetDevicePointer, cudaMemPrefetchAsync, cudaMemAdvise, cudaPointerGetAttributes,
    cudaLaunchKernelExC, cudaStreamBeginCapture, cudaStreamEndCapture, cudaGraphInstantiate, cudaGraphLaunch,
    cudaDeviceSetCacheConfig, cudaDeviceSetSharedMemConfig, nvtxRangePushA, nvtxRangePop;
#define nvtxRangePush nvtxRangePushA
static inline const char *cudaGetErrorString(cudaError_t) { return ""; }
static inline const char *cudaGetErrorName(cudaError_t) { return ""; }

/* Words that a file may say; a kernel that draws numbers is refused where it does. */
struct curandState {
  unsigned words[12];
};
typedef curandState curandState_t, curandStateXORWOW_t, curandStatePhilox4_32_10_t, curandStateMRG32k3a_t;
typedef unsigned long long tw_seed;
template <typename S> __device__ void curand_init(tw_seed seed, tw_seed sequence, tw_seed offset, S *state);
template <typename S> __device__ unsigned curand(S *state);
template <typename S> __device__ float curand_uniform(S *state);
template <typename S> __device__ float curand_normal(S *state);
typedef float2 cufftComplex;
typedef int cufftHandle;
namespace cub {}
namespace thrust {}
namespace cute {}
