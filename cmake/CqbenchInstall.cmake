# The two programs, and what they may be passed on with. The libraries below them are no interface for others.
install(TARGETS grpc_ping_server grpc_ping_client RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(FILES LICENSE README.md DESTINATION ${CMAKE_INSTALL_DOCDIR})
