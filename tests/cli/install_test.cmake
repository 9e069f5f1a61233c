# cmake -DBUILD=… -DCLIENT=… -DGENERATOR=… -DCOMPILER=… -DFLAGS=… -P install_test.cmake
set(folder ${BUILD}/install-test)
file(REMOVE_RECURSE ${folder})
execute_process(COMMAND ${CMAKE_COMMAND} --install ${BUILD} --prefix ${folder}/installed
  OUTPUT_QUIET COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} -S ${CLIENT} -B ${folder}/client -G ${GENERATOR} -DCMAKE_CXX_COMPILER=${COMPILER}
  -DCMAKE_CXX_FLAGS=${FLAGS} -DCMAKE_PREFIX_PATH=${folder}/installed COMMAND_ERROR_IS_FATAL ANY)
execute_process(COMMAND ${CMAKE_COMMAND} --build ${folder}/client COMMAND_ERROR_IS_FATAL ANY)

# runs COMMAND and wants `expected` in what it prints
function(expect expected)
  execute_process(COMMAND ${ARGN} OUTPUT_VARIABLE output COMMAND_ERROR_IS_FATAL ANY)
  if(NOT output MATCHES "${expected}")
    message(FATAL_ERROR "${ARGN}: no ${expected} in\n${output}")
  endif()
endfunction()
expect("^112 cycles" ${folder}/client/simulate_client)
expect("program:" ${folder}/client/analyze_client)
expect("^warptime [0-9.]+" ${folder}/installed/bin/warptime --version)
file(REMOVE_RECURSE ${folder})
