# One set of position-independent objects a folder, from which come: `emplace`, the shared library,
# which shows only what EMPLACE_API marks; `emplace_<folder>`, static, with the folders below it,
# for the folder's own tests; `emplace_internal`, static, everything, for the tests outside src/.
add_subdirectory(${PROJECT_SOURCE_DIR}/cmake/once ${PROJECT_BINARY_DIR}/once)
add_library(emplace_messages STATIC $<TARGET_OBJECTS:emplace_protos>)
target_link_libraries(emplace_messages PUBLIC protobuf::libprotobuf)

# layers.txt -> EMPLACE_FOLDERS, in order, and for each <folder>_below (direct).
set(EMPLACE_FOLDERS "")
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/layers.txt rows REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY
  CMAKE_CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/layers.txt)
foreach(row ${rows})
  string(REGEX MATCH "^([a-z/]+):(.*)$" _ "${row}")
  set(folder ${CMAKE_MATCH_1})
  string(REPLACE " " ";" below "${CMAKE_MATCH_2}")
  list(REMOVE_ITEM below "")
  set(${folder}_below ${below})
  list(APPEND EMPLACE_FOLDERS ${folder})
endforeach()
list(REMOVE_ITEM EMPLACE_FOLDERS backends/cuda)  # a shared object of its own
set(all_below ${EMPLACE_FOLDERS})
list(APPEND EMPLACE_FOLDERS all)

# emplace_add_folder(FOLDER): emplace_<f>_objects and the static emplace_<f>; with *_testutil.cc,
# also emplace_<f>_testing.
function(emplace_add_folder folder)
  string(REPLACE "/" "_" name ${folder})
  file(GLOB_RECURSE sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/${folder}/*.cc)
  set(utilities ${sources})
  list(FILTER utilities INCLUDE REGEX "_testutil\\.cc$")
  list(FILTER sources EXCLUDE REGEX "_test(util)?\\.cc$|/backends/cpu/eigen/|/cluster/(grpc|tls)/")
  set(once "")  # cmake/once
  if(folder STREQUAL "backends/cpu")
    set(once $<TARGET_OBJECTS:emplace_decompositions>)
  endif()
  set(empty ${PROJECT_SOURCE_DIR}/cmake/empty.cc)
  if(EMPLACE_BATCHES)
    emplace_in_batches(sources emplace_${name} ${sources})
  endif()

  add_library(emplace_${name}_objects OBJECT ${sources} ${empty})
  target_link_libraries(emplace_${name}_objects PRIVATE emplace_flags)
  add_dependencies(emplace_${name}_objects emplace_gen)
  if(folder MATCHES "^backends/")
    emplace_compile_as(emplace_${name}_objects kernels)
  else()
    emplace_compile_as(emplace_${name}_objects library)
  endif()
  add_library(emplace_${name} STATIC $<TARGET_OBJECTS:emplace_${name}_objects> ${once})
  target_link_libraries(emplace_${name} PUBLIC emplace_flags)
  foreach(below ${${folder}_below})
    string(REPLACE "/" "_" below ${below})
    target_link_libraries(emplace_${name} PUBLIC emplace_${below})
  endforeach()

  if(NOT EMPLACE_BUILD_TESTS)
    return()
  endif()
  emplace_in_batches(utilities emplace_${name}_testing ${utilities})
  add_library(emplace_${name}_testing STATIC EXCLUDE_FROM_ALL ${utilities} ${empty})
  target_link_libraries(emplace_${name}_testing PUBLIC emplace_${name} GTest::gmock GTest::gtest)
  emplace_compile_as(emplace_${name}_testing tests)
  add_dependencies(emplace_${name}_testing emplace_gen)
  foreach(below ${${folder}_below})
    string(REPLACE "/" "_" below ${below})
    target_link_libraries(emplace_${name}_testing PUBLIC emplace_${below}_testing)
  endforeach()
endfunction()

if(EMPLACE_BUILD_TESTS)
  find_package(GTest REQUIRED)
endif()
set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/all/version.cc
  PROPERTY COMPILE_DEFINITIONS EMPLACE_VERSION="${PROJECT_VERSION}")
if(EMPLACE_BUILD_TESTS)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/base/source_dir_testutil.cc
    PROPERTY COMPILE_DEFINITIONS EMPLACE_SOURCE_DIR="${PROJECT_SOURCE_DIR}")
endif()
# Both sides of dlopen exchange C++ objects, so they must be of one build.
string(SHA256 EMPLACE_BUILD_ID
  "${PROJECT_VERSION} ${CMAKE_CXX_COMPILER_ID} ${CMAKE_CXX_COMPILER_VERSION} ${CMAKE_BUILD_TYPE}")
foreach(source all/cuda all/cluster backends/cuda/backend cluster/grpc/library)
  set_property(SOURCE ${PROJECT_SOURCE_DIR}/src/${source}.cc
    APPEND PROPERTY COMPILE_DEFINITIONS EMPLACE_BUILD_ID="${EMPLACE_BUILD_ID}")
endforeach()
set(EMPLACE_OBJECTS $<TARGET_OBJECTS:emplace_protos> $<TARGET_OBJECTS:emplace_decompositions>)
foreach(folder ${EMPLACE_FOLDERS})
  emplace_add_folder(${folder})
  string(REPLACE "/" "_" name ${folder})
  list(APPEND EMPLACE_OBJECTS $<TARGET_OBJECTS:emplace_${name}_objects>)
endforeach()
target_link_libraries(emplace_graph PUBLIC emplace_messages)
# Graph() and op_catalogue() are declared low and know the whole catalogue: tests of the folders
# between graph and all get it from here, without any backend.
add_library(emplace_catalogue STATIC ${PROJECT_SOURCE_DIR}/src/all/catalogue.cc)
target_link_libraries(emplace_catalogue PUBLIC emplace_stdops)
emplace_compile_as(emplace_catalogue library)

add_library(emplace_internal INTERFACE)
target_link_libraries(emplace_internal INTERFACE emplace_all)

add_library(emplace SHARED ${EMPLACE_OBJECTS})
add_library(emplace::emplace ALIAS emplace)
target_include_directories(emplace INTERFACE
  $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include> $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_compile_features(emplace INTERFACE cxx_std_20)
target_link_libraries(emplace PRIVATE emplace_deps)
# Templates of std and protobuf instantiated here would be visible all the same: the script hides
# them.
target_link_options(emplace PRIVATE
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/exports.map)
if(NOT EMPLACE_SANITIZE)  # the sanitizers' own symbols come with the executable
  target_link_options(emplace PRIVATE -Wl,--no-undefined)
endif()
set_property(TARGET emplace APPEND PROPERTY LINK_DEPENDS ${PROJECT_SOURCE_DIR}/cmake/exports.map)
set_target_properties(emplace PROPERTIES VERSION ${PROJECT_VERSION} SOVERSION 0)

if(EMPLACE_WITH_CUDA)
  include(Cuda)
endif()
if(EMPLACE_WITH_CLUSTER)
  include(Cluster)
endif()
