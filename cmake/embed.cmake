# Data files compiled into a library. warptime_embed(TARGET SYMBOL FILES…) generates a source with
#   const warptime::EmbeddedFile SYMBOL[]; const std::size_t SYMBOL_count;
# (declared in simulator/base/embedded.h). Each FILE is `name=path`, or a path, whose name is then its last part.
set(WARPTIME_EMBED_SCRIPT ${CMAKE_CURRENT_LIST_DIR}/embed_files.cmake)
function(warptime_embed target symbol)
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${symbol}.cc)
  set(paths)
  set(files)
  foreach(file IN LISTS ARGN)
    string(REGEX REPLACE "^[^=]*=" "" path "${file}")
    get_filename_component(name ${path} NAME)
    if(file MATCHES "^([^=]*)=")
      set(name ${CMAKE_MATCH_1})
    endif()
    get_filename_component(path ${path} ABSOLUTE)
    list(APPEND paths ${path})
    list(APPEND files ${name}=${path})
  endforeach()
  string(REPLACE ";" "|" joined "${files}")
  add_custom_command(
    OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DSYMBOL=${symbol} "-DFILES=${joined}" -P ${WARPTIME_EMBED_SCRIPT}
    DEPENDS ${paths} ${WARPTIME_EMBED_SCRIPT}
    VERBATIM)
  target_sources(${target} PRIVATE ${output})
endfunction()
