# find_package(emplace) -> emplace::emplace; headers <emplace/...> only.
include(CMakePackageConfigHelpers)
set(EMPLACE_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/emplace)

install(TARGETS emplace EXPORT emplaceTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT emplace)
if(TARGET emplace_cluster_grpc)
  install(TARGETS emplace_cluster_grpc LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT emplace)
endif()
if(TARGET emplace_cuda)
  install(TARGETS emplace_cuda LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT emplace)
endif()
install(DIRECTORY ${PROJECT_SOURCE_DIR}/include/emplace
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT emplace FILES_MATCHING PATTERN "*.h")
install(EXPORT emplaceTargets NAMESPACE emplace:: DESTINATION ${EMPLACE_CMAKE_DIR}
  COMPONENT emplace)
file(WRITE ${PROJECT_BINARY_DIR}/emplaceConfig.cmake
  "include(\${CMAKE_CURRENT_LIST_DIR}/emplaceTargets.cmake)\n")
write_basic_package_version_file(${PROJECT_BINARY_DIR}/emplaceConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/emplaceConfig.cmake
  ${PROJECT_BINARY_DIR}/emplaceConfigVersion.cmake
  DESTINATION ${EMPLACE_CMAKE_DIR} COMPONENT emplace)
