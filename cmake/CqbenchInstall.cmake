# Programs, libraries, headers and a CMake package with the namespace cqbench::.
include(CMakePackageConfigHelpers)

set(cqbench_config_dir ${CMAKE_INSTALL_LIBDIR}/cmake/cqbench)
install(TARGETS grpc_ping_server grpc_ping_client RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS cqbench_options cqbench_proto cqbench_core cqbench_probe cqbench_baseline cqbench_report cqbench_channel
                cqbench_workload cqbench_control cqbench_client cqbench_server
        EXPORT cqbenchTargets
        ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
install(DIRECTORY include/cqbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(DIRECTORY ${PROJECT_BINARY_DIR}/proto/generated/cqbench DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}
        FILES_MATCHING PATTERN "*.h")
install(EXPORT cqbenchTargets NAMESPACE cqbench:: DESTINATION ${cqbench_config_dir})

configure_package_config_file(cmake/cqbenchConfig.cmake.in ${PROJECT_BINARY_DIR}/cqbenchConfig.cmake
                              INSTALL_DESTINATION ${cqbench_config_dir})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/cqbenchConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/cqbenchConfig.cmake ${PROJECT_BINARY_DIR}/cqbenchConfigVersion.cmake
        DESTINATION ${cqbench_config_dir})
