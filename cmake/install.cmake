# cmake --install, in two components, and a third for Python. `command`: the command, the GPU files, the bundled kernels and plans, the schemas of the formats, the documentation.
# `development`: the libraries, their public headers as `simulator/…`, `analyzer/…` and `dwt_kernels/reference/…` under include/warptime, and
# the package that find_package(warptime) finds. cmake/package.cmake makes packages of them.
foreach(library warptime_simulator warptime_analyzer warptime_wavelets)
  target_compile_features(${library} PUBLIC cxx_std_20)  # the headers ask it of those who include them
endforeach()
set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME command)
install(TARGETS warptime RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR})
# The command has its data compiled in. The files are there to read, to copy and for the examples of --help.
set(data_folder ${CMAKE_INSTALL_DATADIR}/warptime)
install(DIRECTORY dwt_kernels samples DESTINATION ${data_folder} PATTERN reference EXCLUDE PATTERN client EXCLUDE
  REGEX "/host/(cuda_.*|.*[.](cc|h|cl|txt))$" EXCLUDE)  # sources of programs that only a build tree has
install(DIRECTORY data/samples DESTINATION ${data_folder}/data)
install(DIRECTORY schemas DESTINATION ${data_folder})
install(DIRECTORY simulator/gpu/catalogue/ DESTINATION ${data_folder}/gpus FILES_MATCHING PATTERN *.yaml)
# Manual pages are what --help shows: the installed command writes them.
set(man_folder ${PROJECT_BINARY_DIR}/man)
install(CODE "execute_process(COMMAND \"${CMAKE_COMMAND}\" -DWARPTIME=$<TARGET_FILE:warptime> -DFOLDER=${man_folder}
  -P ${CMAKE_CURRENT_LIST_DIR}/write_man_pages.cmake COMMAND_ERROR_IS_FATAL ANY)")
install(DIRECTORY ${man_folder}/ DESTINATION ${CMAKE_INSTALL_MANDIR}/man1)
install(FILES cli/completions/warptime.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions RENAME warptime)
install(FILES cli/completions/_warptime DESTINATION ${CMAKE_INSTALL_DATADIR}/zsh/site-functions)
install(FILES cli/completions/warptime.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d)
install(FILES README.md CHANGELOG.md LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
install(DIRECTORY docs DESTINATION ${CMAKE_INSTALL_DOCDIR})

# `python`: the module, where Debian's interpreter looks.
if(TARGET warptime_python)
  set(python_folder lib/python3/dist-packages)
  install(TARGETS warptime_python LIBRARY DESTINATION ${python_folder}/warptime COMPONENT python)
  install(DIRECTORY python/warptime DESTINATION ${python_folder} COMPONENT python PATTERN __pycache__ EXCLUDE)
endif()

set(CMAKE_INSTALL_DEFAULT_COMPONENT_NAME development)
install(TARGETS warptime_simulator warptime_analyzer warptime_wavelets EXPORT warptime_targets ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR})
# The public headers, and what they include; the others are nobody's business outside.
set(public_headers
  simulator/base/csv.h simulator/fit/fit.h simulator/fit/measurements.h simulator/gpu/gpu.h simulator/gpu/occupancy.h
  simulator/model/model.h simulator/model/puchala/core_package.h simulator/model/luo_suda/luo_suda.h
  simulator/plan/plan.h simulator/predict/explanation.h simulator/predict/prediction.h
  simulator/program/kernel_program.h simulator/program/schedule.h simulator/program/walk.h
  analyzer/compile/compile.h analyzer/execute/execute.h analyzer/execute/npy.h analyzer/pipeline.h
  dwt_kernels/reference/filters.h dwt_kernels/reference/lattice.h dwt_kernels/reference/matrix.h)
set(pending ${public_headers})
while(pending)
  list(POP_FRONT pending header)
  get_filename_component(folder ${header} DIRECTORY)
  install(FILES ${PROJECT_SOURCE_DIR}/${header} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/warptime/${folder})
  file(STRINGS ${PROJECT_SOURCE_DIR}/${header} includes REGEX "^#include \"")
  foreach(include IN LISTS includes)
    string(REGEX REPLACE "^#include \"([^\"]+)\".*" "\\1" included "${include}")
    if(NOT included IN_LIST public_headers)
      list(APPEND public_headers ${included})
      list(APPEND pending ${included})
    endif()
  endforeach()
endwhile()

install(DIRECTORY samples/client DESTINATION ${data_folder}/samples)

set(package_folder ${CMAKE_INSTALL_LIBDIR}/cmake/warptime)
install(EXPORT warptime_targets NAMESPACE warptime:: FILE warptimeTargets.cmake DESTINATION ${package_folder})
configure_package_config_file(${CMAKE_CURRENT_LIST_DIR}/warptimeConfig.cmake.in ${PROJECT_BINARY_DIR}/warptimeConfig.cmake
  INSTALL_DESTINATION ${package_folder})
write_basic_package_version_file(${PROJECT_BINARY_DIR}/warptimeConfigVersion.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/warptimeConfig.cmake ${PROJECT_BINARY_DIR}/warptimeConfigVersion.cmake
  DESTINATION ${package_folder})
