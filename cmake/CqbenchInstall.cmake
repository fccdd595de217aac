# The two programs, and what they may be passed on with. The libraries below them are no interface for others.
install(TARGETS grpc_ping_server grpc_ping_client RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
if(TARGET grpc_ping_client_mpi)
  install(TARGETS grpc_ping_client_mpi RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
endif()
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
