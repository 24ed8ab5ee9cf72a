# One gtest executable a folder, one ctest test an executable; each leaves its counts as XML in
# results/, from which tools/tally makes the closing line.
set(EMPLACE_RESULTS ${PROJECT_BINARY_DIR}/results)

# emplace_add_test(NAME LABEL FOLDER SOURCE...): sees FOLDER and what lies below it.
function(emplace_add_test name label folder)
  emplace_in_batches(sources ${name} ${ARGN})
  add_executable(${name} ${sources})
  target_link_libraries(${name} PRIVATE emplace_${folder}_testing GTest::gtest_main)
  add_dependencies(${name} emplace_gen)
  emplace_compile_as(${name} tests)
  add_test(NAME ${name} COMMAND ${name} --gtest_brief=1
    --gtest_output=xml:${EMPLACE_RESULTS}/${name}.xml WORKING_DIRECTORY ${PROJECT_SOURCE_DIR})
  set_tests_properties(${name} PROPERTIES LABELS "${label}" TIMEOUT 3600)
endfunction()

# What a folder's tests need beside the folders below it: a session runs on real backends, a graph
# on the catalogue.
foreach(folder graph kernel stdops grad placement exec backends/cpu backends/virtual trace)
  set(${folder}_also emplace_catalogue)
endforeach()
foreach(folder session format cluster data service)
  set(${folder}_also emplace_all)
endforeach()

foreach(folder ${EMPLACE_FOLDERS})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*_test.cc)
  if(sources)
    string(REPLACE "/" "_" name ${folder})
    emplace_add_test(${name}_test ${name} ${name} ${sources})
    target_link_libraries(${name}_test PRIVATE ${${folder}_also})
  endif()
endforeach()

if(TARGET emplace_cluster_grpc)
  add_dependencies(cluster_test emplace_cluster_grpc)
endif()

file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/tests/*_test.cc)
foreach(source ${sources})
  get_filename_component(name ${source} NAME_WE)
  get_filename_component(folder ${source} DIRECTORY)
  get_filename_component(label ${folder} NAME)
  if(TARGET ${name})
    set(name ${label}_${name})
  endif()
  file(GLOB utilities CONFIGURE_DEPENDS ${folder}/*_testutil.cc)
  emplace_add_test(${name} ${label} all ${source} ${utilities})
endforeach()

# What the gate runs under the thread sanitizer: `ninja tsan_tests`, `ctest -L ...`.
add_custom_target(tsan_tests)
foreach(name base_test data_test exec_test session_test all_test backends_virtual_test random_graphs_test
             random_tasks_test failing_allocations_test)
  if(TARGET ${name})
    add_dependencies(tsan_tests ${name})
  endif()
endforeach()

if(NOT EMPLACE_SANITIZE)
  add_test(NAME install COMMAND ${PROJECT_SOURCE_DIR}/tests/install/run ${PROJECT_BINARY_DIR}
    ${CMAKE_COMMAND})
  set_tests_properties(install PROPERTIES LABELS install)
endif()
