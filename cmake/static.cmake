# WARPTIME_STATIC: the command needs the C library alone. LLVM and clang are static in any build; here the other libraries are too.
# Debian has static ones of yaml-cpp, zlib and Zstandard, but none of {fmt} and NLopt: packaging/static/build_libraries makes both.
set(WARPTIME_STATIC_LIBRARIES ${PROJECT_BINARY_DIR}/static CACHE PATH "Where packaging/static/build_libraries has put its libraries")

# In place of the shared library of an imported target.
function(warptime_link_statically target library)
  if(NOT EXISTS ${library})
    message(FATAL_ERROR "WARPTIME_STATIC: there is no ${library}; packaging/build makes or installs what is missing")
  endif()
  get_target_property(configurations ${target} IMPORTED_CONFIGURATIONS)
  foreach(configuration IN LISTS configurations)
    set_target_properties(${target} PROPERTIES IMPORTED_LOCATION_${configuration} ${library} IMPORTED_SONAME_${configuration} "")
  endforeach()
endfunction()

function(warptime_find_static variable file)
  find_library(${variable} NAMES ${file} NO_CACHE)
  if(NOT ${variable})
    message(FATAL_ERROR "WARPTIME_STATIC: there is no ${file}; scripts/install-dependencies libzstd-dev zlib1g-dev")
  endif()
  set(${variable} ${${variable}} PARENT_SCOPE)
endfunction()

warptime_find_static(WARPTIME_STATIC_YAML libyaml-cpp.a)
warptime_link_statically(yaml-cpp ${WARPTIME_STATIC_YAML})
warptime_link_statically(fmt::fmt ${WARPTIME_STATIC_LIBRARIES}/libfmt.a)
warptime_link_statically(NLopt::nlopt ${WARPTIME_STATIC_LIBRARIES}/libnlopt.a)
