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

#define TW_HOST(NAME)                                                                                                  \
  template <typename... A> cudaError_t NAME(A &&...) { return cudaSuccess; }
TW_HOST(cudaMalloc)
TW_HOST(cudaMallocHost)
TW_HOST(cudaMallocManaged)
TW_HOST(cudaMallocAsync)
TW_HOST(cudaFree)
TW_HOST(cudaFreeHost)
TW_HOST(cudaFreeAsync)
TW_HOST(cudaMemcpy)
TW_HOST(cudaMemcpyAsync)
TW_HOST(cudaMemcpy2D)
TW_HOST(cudaMemcpyToSymbol)
TW_HOST(cudaMemcpyFromSymbol)
TW_HOST(cudaMemset)
TW_HOST(cudaMemsetAsync)
TW_HOST(cudaDeviceSynchronize)
TW_HOST(cudaLaunchKernelEx)
TW_HOST(cudaDeviceReset)
TW_HOST(cudaStreamSynchronize)
TW_HOST(cudaStreamCreate)
TW_HOST(cudaStreamDestroy)
TW_HOST(cudaEventCreate)
TW_HOST(cudaEventDestroy)
TW_HOST(cudaEventRecord)
TW_HOST(cudaEventSynchronize)
TW_HOST(cudaEventElapsedTime)
TW_HOST(cudaGetLastError)
TW_HOST(cudaPeekAtLastError)
TW_HOST(cudaSetDevice)
TW_HOST(cudaGetDevice)
TW_HOST(cudaGetDeviceCount)
TW_HOST(cudaGetDeviceProperties)
TW_HOST(cudaDeviceGetAttribute)
TW_HOST(cudaDeviceSetLimit)
TW_HOST(cudaFuncSetAttribute)
TW_HOST(cudaFuncSetCacheConfig)
TW_HOST(cudaFuncGetAttributes)
TW_HOST(cudaHostAlloc)
TW_HOST(cudaHostRegister)
TW_HOST(cudaMemGetInfo)
TW_HOST(cudaOccupancyMaxActiveBlocksPerMultiprocessor)
TW_HOST(cudaOccupancyMaxPotentialBlockSize)
TW_HOST(cudaLaunchCooperativeKernel)
TW_HOST(cudaProfilerStart)
TW_HOST(cudaProfilerStop)
TW_HOST(cudaEventQuery)
TW_HOST(cudaStreamQuery)
TW_HOST(cudaStreamWaitEvent)
TW_HOST(cudaStreamCreateWithFlags)
TW_HOST(cudaStreamCreateWithPriority)
TW_HOST(cudaEventCreateWithFlags)
TW_HOST(cudaMemcpy2DAsync)
TW_HOST(cudaMemcpyPeer)
TW_HOST(cudaMemset2D)
TW_HOST(cudaMallocPitch)
TW_HOST(cudaGetSymbolAddress)
TW_HOST(cudaThreadSynchronize)
TW_HOST(cudaDeviceGetStreamPriorityRange)
TW_HOST(cudaDeviceGetLimit)
TW_HOST(cudaDriverGetVersion)
TW_HOST(cudaRuntimeGetVersion)
TW_HOST(cudaHostUnregister)
TW_HOST(cudaHostGetDevicePointer)
TW_HOST(cudaMemPrefetchAsync)
TW_HOST(cudaMemAdvise)
TW_HOST(cudaPointerGetAttributes)
TW_HOST(cudaLaunchKernelExC)
TW_HOST(cudaStreamBeginCapture)
TW_HOST(cudaStreamEndCapture)
TW_HOST(cudaGraphInstantiate)
TW_HOST(cudaGraphLaunch)
TW_HOST(cudaDeviceSetCacheConfig)
TW_HOST(cudaDeviceSetSharedMemConfig)
TW_HOST(nvtxRangePushA)
TW_HOST(nvtxRangePop)
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
namespace cub {}
namespace thrust {}
namespace cute {}
