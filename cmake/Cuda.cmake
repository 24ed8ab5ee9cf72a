# src/backends/cuda -> libemplace_cuda.so, opened at run time where a driver is. The device sources,
# device/*.cuh, travel in it as text for NVRTC; nvcc compiles them once besides, as a check.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cuda/*.cc)
list(FILTER sources EXCLUDE REGEX "_test(util)?\\.cc$")
file(GLOB device_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/backends/cuda/device/*.cuh)

set(embedded ${PROJECT_BINARY_DIR}/gen/cuda_sources.cc)
add_custom_command(OUTPUT ${embedded}
  COMMAND ${CMAKE_COMMAND} -DOUT=${embedded} "-DSOURCES=${device_sources}"
          -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
  DEPENDS ${device_sources} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)

add_library(emplace_cuda MODULE ${sources} ${embedded})
target_link_libraries(emplace_cuda PRIVATE emplace_kernel CUDA::cudart CUDA::cublasLt
  CUDA::nvrtc CUDA::cuda_driver ${EMPLACE_CUDNN})
emplace_compile_as(emplace_cuda library)
target_include_directories(emplace_cuda SYSTEM PRIVATE ${CUDAToolkit_INCLUDE_DIRS})
target_link_options(emplace_cuda PRIVATE -Wl,-Bsymbolic
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/cuda_exports.map)
set_target_properties(emplace_cuda PROPERTIES
  BUILD_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}" INSTALL_RPATH "$ORIGIN;${CUDAToolkit_LIBRARY_DIR}")
install(TARGETS emplace_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR})

set(EMPLACE_CUDA_ARCHITECTURES 90 CACHE STRING "What nvcc checks the device sources for")
foreach(arch ${EMPLACE_CUDA_ARCHITECTURES})
  set(cubin ${PROJECT_BINARY_DIR}/gen/check_sm_${arch}.cubin)
  add_custom_command(OUTPUT ${cubin}
    COMMAND ${CUDAToolkit_NVCC_EXECUTABLE} -std=c++17 -arch=sm_${arch} -cubin -o ${cubin}
            -I${PROJECT_SOURCE_DIR}/src ${PROJECT_SOURCE_DIR}/src/backends/cuda/check.cu
    DEPENDS ${device_sources} ${PROJECT_SOURCE_DIR}/src/backends/cuda/check.cu VERBATIM)
  list(APPEND cubins ${cubin})
endforeach()
add_custom_target(emplace_cuda_check ALL DEPENDS ${cubins})
