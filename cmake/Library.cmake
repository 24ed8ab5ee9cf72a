# One set of position-independent objects, two libraries: `emplace`, which shows only what
# EMPLACE_API marks, and `emplace_internal`, with which tests see the inside.
set(EMPLACE_FOLDERS
  base tensor op device graph kernel stdops grad placement exec backends/cpu backends/virtual
  session format trace all)
if(EMPLACE_WITH_CLUSTER)
  list(APPEND EMPLACE_FOLDERS cluster)
endif()

set(EMPLACE_SOURCES "")
set(EMPLACE_TESTUTIL_SOURCES "")
foreach(folder ${EMPLACE_FOLDERS})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cc)
  foreach(source ${sources})
    if(source MATCHES "_testutil\\.cc$")
      list(APPEND EMPLACE_TESTUTIL_SOURCES ${source})
    elseif(NOT source MATCHES "_test\\.cc$")
      list(APPEND EMPLACE_SOURCES ${source})
      if(folder MATCHES "^backends/")
        set_source_files_properties(${source} PROPERTIES
          COMPILE_OPTIONS "$<$<CONFIG:Release>:-O3>")
      endif()
    endif()
  endforeach()
endforeach()

add_library(emplace_flags INTERFACE)
target_compile_options(emplace_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>
  "$<$<COMPILE_LANGUAGE:CXX>:SHELL:-include ${PROJECT_SOURCE_DIR}/cmake/fmt_once.h>")
target_include_directories(emplace_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${EMPLACE_GEN})
target_link_libraries(emplace_flags INTERFACE emplace_deps)

add_library(emplace_protos OBJECT ${EMPLACE_PROTO_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
target_include_directories(emplace_protos PRIVATE ${EMPLACE_GEN})
target_link_libraries(emplace_protos PRIVATE protobuf::libprotobuf)
add_dependencies(emplace_protos emplace_gen)

add_library(emplace_objects OBJECT ${EMPLACE_SOURCES})
target_link_libraries(emplace_objects PRIVATE emplace_flags)
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/all/version.cc
  PROPERTY COMPILE_DEFINITIONS EMPLACE_VERSION="${PROJECT_VERSION}")
add_dependencies(emplace_objects emplace_gen)

add_library(emplace_internal STATIC
  $<TARGET_OBJECTS:emplace_objects> $<TARGET_OBJECTS:emplace_protos>)
target_link_libraries(emplace_internal PUBLIC emplace_flags)

add_library(emplace SHARED $<TARGET_OBJECTS:emplace_objects> $<TARGET_OBJECTS:emplace_protos>)
add_library(emplace::emplace ALIAS emplace)
target_include_directories(emplace INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(emplace INTERFACE cxx_std_20)
target_link_libraries(emplace PRIVATE emplace_deps)
# Templates of std and protobuf instantiated here would be visible all the same: the script hides them.
target_link_options(emplace PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT EMPLACE_SANITIZE)  # the sanitizers' own symbols come with the executable
  target_link_options(emplace PRIVATE -Wl,--no-undefined)
endif()
set_property(TARGET emplace APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(emplace PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

if(EMPLACE_WITH_CUDA)
  file(GLOB_RECURSE cuda_sources CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/src/backends/cuda/*.cc ${PROJECT_SOURCE_DIR}/src/backends/cuda/*.cu)
  list(FILTER cuda_sources EXCLUDE REGEX "_test(util)?\\.(cc|cu)$")
  add_library(emplace_cuda MODULE ${cuda_sources})
  target_link_libraries(emplace_cuda PRIVATE emplace_internal CUDA::cudart_static CUDA::cublasLt
    CUDA::cuda_driver)
  target_link_options(emplace_cuda PRIVATE
    -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
endif()
