# Installs the two programs and their licences. The libraries are no interface for other projects.
install(TARGETS grpc_ping_server grpc_ping_client RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET grpc_ping_client_mpi)
  install(TARGETS grpc_ping_client_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
