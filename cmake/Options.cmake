# What a user may choose, and how everything is compiled.
include(GNUInstallDirs)

option(EMPLACE_BUILD_TESTS "Build the tests" ${PROJECT_IS_TOP_LEVEL})
option(EMPLACE_BUILD_BENCH "Build the benchmarks" OFF)
option(EMPLACE_BUILD_FUZZERS "Build the fuzzers (clang)" OFF)
option(EMPLACE_BUILD_PROGRAMS "Build the examples and the command line" ${PROJECT_IS_TOP_LEVEL})
option(EMPLACE_BATCHES "Compile the library eight sources at a time; OFF shows who leans on another's includes" ON)
option(EMPLACE_WITH_PYTHON "Build the Python extension" OFF)
set(EMPLACE_SANITIZE "" CACHE STRING "Sanitizers, as in -fsanitize= (address,undefined or thread)")

if(NOT CMAKE_BUILD_TYPE)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "" FORCE)
endif()

# Verifiers after every pass and address checks: in debug builds and under sanitizers.
if(CMAKE_BUILD_TYPE STREQUAL "Debug" OR EMPLACE_SANITIZE)
  set(debug_default ON)
else()
  set(debug_default OFF)
endif()
option(EMPLACE_DEBUG "Run the verifiers and address checks" ${debug_default})

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_CXX_VISIBILITY_PRESET hidden)
set(CMAKE_VISIBILITY_INLINES_HIDDEN ON)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_CXX_FLAGS_RELEASE "-O2 -DNDEBUG")

if(EMPLACE_SANITIZE)
  add_compile_options(-fsanitize=${EMPLACE_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${EMPLACE_SANITIZE})
  if(EMPLACE_SANITIZE MATCHES "undefined")
    add_compile_options(-fno-sanitize-recover=all)
    if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
      # These stand at every access and take the compiler half its time; the address sanitizer, by
      # calls rather than code in line, sees what most of them would, and the fuzzers (clang) have all.
      add_compile_options(-fno-sanitize=null,alignment,vptr,object-size,pointer-overflow
        --param=asan-instrumentation-with-call-threshold=0)
    endif()
  endif()
  if(EMPLACE_SANITIZE MATCHES "thread" AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
    add_compile_options(-Wno-tsan)  # fences: the code that uses them says how it stays visible
  endif()
endif()

# The compiler cache, such that two checkouts of one source share it.
find_program(EMPLACE_CCACHE ccache)
mark_as_advanced(EMPLACE_CCACHE)
if(EMPLACE_CCACHE AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(launcher ${CMAKE_COMMAND} -E env CCACHE_BASEDIR=${PROJECT_SOURCE_DIR} CCACHE_NOHASHDIR=1
               CCACHE_SLOPPINESS=pch_defines,time_macros ${EMPLACE_CCACHE})
  set(CMAKE_CXX_COMPILER_LAUNCHER ${launcher})
  set(CMAKE_CUDA_COMPILER_LAUNCHER ${launcher})
endif()

# A quick linker where there is one.
foreach(linker mold lld)
  find_program(EMPLACE_LINKER_${linker} NAMES ${linker} ld.${linker})
  mark_as_advanced(EMPLACE_LINKER_${linker})
  if(EMPLACE_LINKER_${linker})
    add_link_options(-fuse-ld=${linker})
    break()
  endif()
endforeach()
