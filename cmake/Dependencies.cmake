# The core needs protobuf, Eigen, fmt, spdlog and threads. Everything else is an option,
# ON where the library is found.
find_package(PkgConfig QUIET)
find_package(Threads REQUIRED)
find_package(Protobuf REQUIRED)
find_package(Eigen3 3.3 REQUIRED NO_MODULE)
find_package(fmt REQUIRED)
find_package(spdlog REQUIRED)

# clang mangles some of fmt's functions unlike the compiler that built the library.
set(fmt fmt::fmt)
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
  set(fmt fmt::fmt-header-only)
endif()

add_library(emplace_deps INTERFACE)
target_link_libraries(emplace_deps INTERFACE
  protobuf::libprotobuf Eigen3::Eigen ${fmt} spdlog::spdlog Threads::Threads ${CMAKE_DL_LIBS})
if(EMPLACE_SANITIZE MATCHES "thread")
  target_include_directories(protobuf::libprotobuf BEFORE INTERFACE
    ${PROJECT_SOURCE_DIR}/cmake/tsan)
endif()
if(EMPLACE_DEBUG)
  target_compile_definitions(emplace_deps INTERFACE EMPLACE_DEBUG=1)
endif()

# emplace_optional(NAME FOUND TARGET...): option EMPLACE_WITH_<NAME>, linked and defined when ON.
function(emplace_optional name found)
  option(EMPLACE_WITH_${name} "Use ${name}" ${found})
  if(EMPLACE_WITH_${name})
    if(NOT found)
      message(FATAL_ERROR "EMPLACE_WITH_${name} is ON, but ${name} was not found")
    endif()
    target_link_libraries(emplace_deps INTERFACE ${ARGN})
    target_compile_definitions(emplace_deps INTERFACE EMPLACE_WITH_${name}=1)
  endif()
endfunction()

find_package(dnnl QUIET)
emplace_optional(DNNL "${dnnl_FOUND}" DNNL::dnnl)

find_package(hwy QUIET)
if(NOT TARGET hwy::hwy AND PkgConfig_FOUND)
  pkg_check_modules(hwy QUIET IMPORTED_TARGET libhwy)
  if(TARGET PkgConfig::hwy)
    add_library(hwy::hwy ALIAS PkgConfig::hwy)
  endif()
endif()
if(TARGET hwy::hwy)
  set(hwy_FOUND TRUE)
else()
  set(hwy_FOUND FALSE)
endif()
emplace_optional(HWY "${hwy_FOUND}" hwy::hwy)

if(PkgConfig_FOUND)
  pkg_check_modules(re2 QUIET IMPORTED_TARGET re2)
endif()
if(TARGET PkgConfig::re2)
  set(re2_FOUND TRUE)
else()
  set(re2_FOUND FALSE)
endif()
emplace_optional(RE2 "${re2_FOUND}" PkgConfig::re2)

find_package(nlohmann_json QUIET)
emplace_optional(JSON "${nlohmann_json_FOUND}" nlohmann_json::nlohmann_json)

# Pictures as files. Only one source file sees each library.
foreach(codec PNG JPEG)
  find_package(${codec} QUIET)
  option(EMPLACE_WITH_${codec} "Read and write pictures with lib${codec}" ${${codec}_FOUND})
  if(EMPLACE_WITH_${codec})
    target_link_libraries(emplace_deps INTERFACE ${codec}::${codec})
    string(TOLOWER ${codec} file)
    set_source_files_properties(${PROJECT_SOURCE_DIR}/src/backends/cpu/${file}.cc PROPERTIES
      COMPILE_DEFINITIONS EMPLACE_WITH_${codec}=1)
  endif()
endforeach()

# Compressed files of records.
find_package(ZLIB QUIET)
option(EMPLACE_WITH_ZLIB "Read compressed files" ${ZLIB_FOUND})
if(EMPLACE_WITH_ZLIB)
  target_link_libraries(emplace_deps INTERFACE ZLIB::ZLIB)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/format/inflate.cc PROPERTIES
    COMPILE_DEFINITIONS EMPLACE_WITH_ZLIB=1)
endif()

# Rows of data bases.
find_package(SQLite3 QUIET)
option(EMPLACE_WITH_SQLITE "Read data bases of SQLite" ${SQLite3_FOUND})
if(EMPLACE_WITH_SQLITE)
  target_link_libraries(emplace_deps INTERFACE SQLite::SQLite3)
  set_source_files_properties(${PROJECT_SOURCE_DIR}/src/data/sql.cc PROPERTIES
    COMPILE_DEFINITIONS EMPLACE_WITH_SQLITE=1)
endif()

# gRPC and OpenSSL: only libemplace_cluster.so links them.
if(PkgConfig_FOUND)
  pkg_check_modules(grpcpp QUIET IMPORTED_TARGET grpc++)
  pkg_check_modules(openssl QUIET IMPORTED_TARGET openssl>=3)
endif()
if(TARGET PkgConfig::grpcpp AND TARGET PkgConfig::openssl AND NOT EMPLACE_SANITIZE)
  set(cluster_default ON)
else()
  set(cluster_default OFF)
endif()
option(EMPLACE_WITH_CLUSTER "Serve TensorFlow's clients, and clusters beyond one machine" ${cluster_default})
if(EMPLACE_WITH_CLUSTER AND NOT (TARGET PkgConfig::grpcpp AND TARGET PkgConfig::openssl))
  message(FATAL_ERROR "EMPLACE_WITH_CLUSTER is ON, but gRPC or OpenSSL 3 was not found")
endif()

# CUDA: nothing links it; src/backends/cuda becomes a shared object of its own.
find_package(CUDAToolkit 12 QUIET)
find_library(EMPLACE_CUDNN cudnn HINTS ${CUDAToolkit_LIBRARY_DIR})
mark_as_advanced(EMPLACE_CUDNN)
if(CUDAToolkit_FOUND AND EMPLACE_CUDNN AND NOT EMPLACE_SANITIZE)
  set(cuda_default ON)
else()
  set(cuda_default OFF)
endif()
option(EMPLACE_WITH_CUDA "Build the CUDA backend" ${cuda_default})
