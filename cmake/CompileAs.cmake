# The ways in which sources are compiled: emplace_compile_as(TARGET KIND)
#   library   as the build type says
#   kernels   with -O3 in a release
#   tests     quickly: they are long and run once. It is the library that is watched for undefined
#             behaviour.
#   alone     as the build type says, without the headers compiled once for each of the others
# cmake/precompiled.h comes first in each source (with gcc; else fmt_once.h alone). It is one header,
# not CMake's list, so that checkouts share the compiler cache (CCACHE_SLOPPINESS in Options.cmake).
add_library(emplace_flags INTERFACE)
target_compile_options(emplace_flags INTERFACE
  $<$<COMPILE_LANGUAGE:CXX>:-Wall> $<$<COMPILE_LANGUAGE:CXX>:-Wextra>)
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  # A source in a batch is no header, though it is included.
  target_compile_options(emplace_flags INTERFACE
    $<$<COMPILE_LANGUAGE:CXX>:-Wno-subobject-linkage>)
endif()
target_include_directories(emplace_flags INTERFACE
  ${PROJECT_SOURCE_DIR}/include ${PROJECT_SOURCE_DIR}/src ${EMPLACE_GEN})
target_link_libraries(emplace_flags INTERFACE emplace_deps)

function(emplace_compile_as target kind)
  if(kind STREQUAL "kernels")
    target_compile_options(${target} PRIVATE $<$<CONFIG:Release>:-O3>)
  elseif(kind STREQUAL "tests")
    target_compile_options(${target} PRIVATE -O0)
    if(EMPLACE_SANITIZE MATCHES "undefined")
      target_compile_options(${target} PRIVATE -fno-sanitize=undefined)
    endif()
    # As the compiler has it, in the executables as in the headers.
    set_property(TARGET ${target} PROPERTY POSITION_INDEPENDENT_CODE OFF)
  endif()
  set(from emplace_precompiled_${kind})
  if(NOT TARGET ${from})
    target_compile_options(${target} PRIVATE
      "SHELL:-include \"${PROJECT_SOURCE_DIR}/cmake/fmt_once.h\"")
    return()
  endif()
  target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR}/cmake)
  target_compile_options(${target} PRIVATE -fpch-preprocess)  # for the compiler cache
  if(target STREQUAL from)
    target_precompile_headers(${target} PRIVATE ${ARGN})
  else()
    target_precompile_headers(${target} REUSE_FROM ${from})
  endif()
endfunction()

function(emplace_precompile kind header)
  set(target emplace_precompiled_${kind})
  add_library(${target} OBJECT ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  target_link_libraries(${target} PRIVATE emplace_flags ${ARGN})
  emplace_compile_as(${target} ${kind} ${header})
endfunction()

if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  emplace_precompile(library <precompiled.h>)
  emplace_precompile(kernels <precompiled.h>)
  if(EMPLACE_BUILD_TESTS)
    emplace_precompile(tests <precompiled_tests.h> GTest::gmock GTest::gtest)
  endif()
endif()

# emplace_in_batches(VAR NAME SOURCE...): VAR becomes few sources that include these, eight each, so
# that what they have in common is compiled once: less than half the work. They stand in the build
# folder with relative paths, for the compiler cache. Some stay alone: those with definitions of
# their own, which are to be set before, and Highway's, which includes itself.
function(emplace_in_batches var name)
  set(folder ${PROJECT_BINARY_DIR}/batches)
  set(result "")
  set(together "")
  foreach(source ${ARGN})
    get_source_file_property(own ${source} COMPILE_DEFINITIONS)
    if(own OR source MATCHES "/simd_math\\.cc$")
      list(APPEND result ${source})
    else()
      list(APPEND together ${source})
    endif()
  endforeach()
  while(together)
    list(SUBLIST together 0 8 batch)
    list(REMOVE_ITEM together ${batch})
    set(text "")
    foreach(source ${batch})
      file(RELATIVE_PATH source ${folder} ${source})
      string(APPEND text "#include \"${source}\"\n")
    endforeach()
    list(LENGTH result number)
    set(file ${folder}/${name}_${number}.cc)
    file(GENERATE OUTPUT ${file} CONTENT "${text}")
    list(APPEND result ${file})
  endwhile()
  set(${var} ${result} PARENT_SCOPE)
endfunction()
