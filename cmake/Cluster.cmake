# src/cluster/{grpc,tls} -> libemplace_cluster.so, opened for the first client or server of TensorFlow's and
# for the first connection that is encrypted: nothing else links gRPC and OpenSSL.
file(GLOB sources CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/src/cluster/grpc/*.cc
  ${PROJECT_SOURCE_DIR}/src/cluster/tls/*.cc)
list(FILTER sources EXCLUDE REGEX "_test(util)?\\.cc$")

add_library(emplace_cluster_grpc MODULE ${sources})
target_link_libraries(emplace_cluster_grpc PRIVATE emplace_base PkgConfig::grpcpp PkgConfig::openssl)
emplace_compile_as(emplace_cluster_grpc library)
target_link_options(emplace_cluster_grpc PRIVATE -Wl,-Bsymbolic
  -Wl,--version-script=${PROJECT_SOURCE_DIR}/cmake/cluster_exports.map)
set_target_properties(emplace_cluster_grpc PROPERTIES OUTPUT_NAME emplace_cluster
  BUILD_RPATH "$ORIGIN" INSTALL_RPATH "$ORIGIN")
# Whoever is built finds it beside the library.
add_dependencies(emplace emplace_cluster_grpc)
