# One gtest executable a folder, one ctest test an executable; each leaves its counts as XML in
# results/, from which tools/tally makes the closing line.
find_package(GTest REQUIRED)
set(EMPLACE_RESULTS ${PROJECT_BINARY_DIR}/results)

add_library(emplace_testing STATIC ${EMPLACE_TESTUTIL_SOURCES} ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
target_link_libraries(emplace_testing PUBLIC emplace_internal GTest::gmock GTest::gtest)

function(emplace_add_test name label)
  add_executable(${name} ${ARGN})
  target_link_libraries(${name} PRIVATE emplace_testing GTest::gtest_main)
  target_compile_definitions(${name} PRIVATE EMPLACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1
    --gtest_output=xml:${EMPLACE_RESULTS}/${name}.xml WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 3600)
endfunction()

foreach(folder ${EMPLACE_FOLDERS})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*_test.cc)
  if(sources)
    string(REPLACE "/" "_" name ${folder})
    emplace_add_test(${name}_test ${name} ${sources})
  endif()
endforeach()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(label ${folder} NAME)
  if(TARGET ${name})
    set(name ${label}_${name})
  endif()
  emplace_add_test(${name} ${label} ${source})
endforeach()

# What the gate runs under the thread sanitizer: `ninja tsan_tests`, `ctest -L ...`.
add_custom_target(tsan_tests)
foreach(name base_test exec_test session_test backends_virtual_test)
  if(TARGET ${name})
    add_dependencies(tsan_tests ${name})
  endif()
endforeach()

if(NOT EMPLACE_SANITIZE)
  add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run ${PROJECT_BINARY_DIR}
    ${CMAKE_COMMAND})
  set_tests_properties(install PROPERTIES LABELS install)
endif()
