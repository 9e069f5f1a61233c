# cmake --install: the command, the libraries, their headers as `simulator/…` and `analyzer/…` under include/warptime, and the
# package that find_package(warptime) finds.
foreach(library warptime_simulator warptime_analyzer)
  target_compile_features(${library} PUBLIC cxx_std_20)  # the headers ask it of those who include them
endforeach()
install(TARGETS warptime RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
install(TARGETS warptime_simulator warptime_analyzer EXPORT warptime_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
foreach(room simulator analyzer)
  install(DIRECTORY ${PROJECT_SOURCE_DIR}/${room} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warptime
    FILES_MATCHING PATTERN "*.h" PATTERN "*.def" PATTERN "cuda_headers" EXCLUDE PATTERN "gpus" EXCLUDE)
endforeach()

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/warptime)
install(EXPORT warptime_targets NAMESPACE warptime:: FILE warptimeTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/warptimeConfig.cmake.in ${PROJECT_BINARY_DIR}/warptimeConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warptimeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warptimeConfig.cmake ${PROJECT_BINARY_DIR}/warptimeConfigVersion.cmake
  DESTINATION ${package_folder})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
