# The command line, the examples (each also a test: it must run and succeed), the benchmarks.
file(GLOB cli_sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cli/*.cc)
list(FILTER cli_sources EXCLUDE REGEX "_test\\.cc$")
find_package(CLI11 QUIET)
if(EMPLACE_BUILD_PROGRAMS AND NOT (CLI11_FOUND AND nlohmann_json_FOUND))
  message(STATUS "no CLI11 or no nlohmann-json here: without the command line")
elseif(EMPLACE_BUILD_PROGRAMS AND NOT EMPLACE_SANITIZE)  # its tests run the release
  emplace_in_batches(cli_sources emplace_cli ${cli_sources})  # CLI11 takes long
  add_executable(emplace_cli ${cli_sources})
  set_target_properties(emplace_cli PROPERTIES OUTPUT_NAME emplace
    RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bin)
  target_compile_options(emplace_cli PRIVATE -Wall -Wextra)
  target_link_libraries(emplace_cli PRIVATE emplace::emplace CLI11::CLI11 fmt::fmt
    nlohmann_json::nlohmann_json)
  install(TARGETS emplace_cli RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT cli)
endif()

if(EMPLACE_BUILD_PROGRAMS AND EXISTS ${PROJECT_SOURCE_DIR}/examples/CMakeLists.txt)
  add_subdirectory(examples)
endif()

# bench/NAME.cc or bench/NAME/*.cc -> bench_NAME; bench/common is linked into each. The tests
# beside them, bench/*/*_test.cc, are one executable.
if(EMPLACE_BUILD_BENCH)
  find_package(benchmark QUIET)
  find_package(TBB QUIET)
  find_package(OpenMP QUIET)
  add_library(bench_deps INTERFACE)
  target_include_directories(bench_deps INTERFACE ${PROJECT_SOURCE_DIR})
  target_compile_options(bench_deps INTERFACE $<$<CONFIG:Release>:-O3>)
  target_link_libraries(bench_deps INTERFACE emplace_internal)
  foreach(peer benchmark::benchmark TBB::tbb OpenMP::OpenMP_CXX nlohmann_json::nlohmann_json)
    if(TARGET ${peer})
      target_link_libraries(bench_deps INTERFACE ${peer})
    endif()
  endforeach()
  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/common/*.cc)
  list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
  add_library(bench_common STATIC ${sources})
  emplace_compile_as(bench_common alone)
  target_link_libraries(bench_common PUBLIC bench_deps)

  function(emplace_add_bench name)
    add_executable(bench_${name} ${ARGN})
    set_target_properties(bench_${name} PROPERTIES
      RUNTIME_OUTPUT_DIRECTORY ${PROJECT_BINARY_DIR}/bench)
    target_link_libraries(bench_${name} PRIVATE bench_common)
    emplace_compile_as(bench_${name} alone)
  endfunction()

  file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*.cc)
  foreach(source ${sources})
    get_filename_component(name ${source} NAME_WE)
    emplace_add_bench(${name} ${source})
  endforeach()

  foreach(name gpu placer truth)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/${name}/*.cc)
    emplace_add_bench(${name} ${sources})
  endforeach()

  # The scheduler's peers are what it is about: without them there is nothing to build.
  if(TARGET TBB::tbb AND TARGET OpenMP::OpenMP_CXX)
    file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/sched/*.cc)
    list(FILTER sources EXCLUDE REGEX "_test\\.cc$")
    emplace_add_bench(sched ${sources})
    if(EMPLACE_BUILD_TESTS)
      list(FILTER sources EXCLUDE REGEX "/main\\.cc$")
      file(GLOB tests CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/bench/*/*_test.cc)
      emplace_add_test(bench_test bench all ${sources} ${tests})
      target_link_libraries(bench_test PRIVATE bench_common)
    endif()
  else()
    message(STATUS "no oneTBB or no OpenMP here: without bench_sched")
  endif()
endif()
