# The short form of tests/fuzz in the gate (not under sanitizers: `./test all` runs those builds by libFuzzer): all fuzzers in one program, with the blind generator, from seeds made here.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/*_fuzz.cc)
set(declarations "")
set(rows "")
set(wrapped "")
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  string(REGEX REPLACE "_fuzz$" "" name ${name})
  set(wrapper ${PROJECT_BINARY_DIR}/fuzz_short/${name}.cc)
  file(GENERATE OUTPUT ${wrapper}
    CONTENT "#define LLVMFuzzerTestOneInput fuzz_${name}\n#include \"${source}\"\n")
  list(APPEND wrapped ${wrapper})
  string(APPEND declarations "extern \"C\" int fuzz_${name}(const uint8_t*, size_t);\n")
  string(APPEND rows "\n      {\"${name}\", fuzz_${name}},")
endforeach()
configure_file(${PROJECT_SOURCE_DIR}/tests/fuzz/short_test.cc.in ${PROJECT_BINARY_DIR}/fuzz_short/targets.cc @ONLY)
find_program(EMPLACE_PYTHON3 python3)
set(seeds ${PROJECT_BINARY_DIR}/fuzz_short/seeds)
add_custom_command(OUTPUT ${seeds}/made
  COMMAND ${CMAKE_COMMAND} -E env PYTHONPATH= ${EMPLACE_PYTHON3} ${PROJECT_SOURCE_DIR}/tests/fuzz/make_seeds.py ${seeds}
  COMMAND ${CMAKE_COMMAND} -E touch ${seeds}/made
  DEPENDS ${PROJECT_SOURCE_DIR}/tests/fuzz/make_seeds.py)
add_custom_target(fuzz_seeds DEPENDS ${seeds}/made)
add_executable(fuzz_short_test ${PROJECT_SOURCE_DIR}/tests/fuzz/short_run.cc
  ${PROJECT_BINARY_DIR}/fuzz_short/targets.cc ${wrapped})
add_dependencies(fuzz_short_test fuzz_seeds emplace_gen)
target_include_directories(fuzz_short_test PRIVATE ${PROJECT_SOURCE_DIR}/tests/fuzz)
target_compile_definitions(fuzz_short_test PRIVATE EMPLACE_FUZZ_SEEDS="${seeds}")
target_link_libraries(fuzz_short_test PRIVATE emplace_internal GTest::gtest_main)
emplace_compile_as(fuzz_short_test tests)
add_test(NAME fuzz_short_test COMMAND fuzz_short_test --gtest_brief=1
  --gtest_output=xml:${PROJECT_BINARY_DIR}/results/fuzz_short_test.xml WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
set_tests_properties(fuzz_short_test PROPERTIES LABELS fuzz TIMEOUT 3600)
