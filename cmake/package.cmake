# Packages, by cpack in the build folder (docs/installing.md). `cpack -G DEB`: warptime, libwarptime-dev and python3-warptime, from the components
# of install.cmake. `cpack -G TXZ`: the command alone, for a build with WARPTIME_STATIC.
set(CPACK_PACKAGE_NAME warptime)
set(CPACK_PACKAGE_VENDOR warptime)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "predict how long a CUDA kernel takes on a GPU")
set(CPACK_PACKAGE_DESCRIPTION "warptime compiles a CUDA kernel with a built-in compiler, reads its PTX,
and predicts how long it takes on GPUs of its catalogue. It needs no GPU, no
trace and no CUDA Toolkit. It also checks kernels by running them on the CPU,
predicts hardware counters, and keeps models of kernels in step with their
code.")
set(CPACK_RESOURCE_FILE_LICENSE ${PROJECT_SOURCE_DIR}/LICENSE)
set(CPACK_STRIP_FILES ON)
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_COMPONENTS_ALL command development)
# What the packages need to be built.
add_custom_target(packaged DEPENDS warptime)
if(TARGET warptime_python)
  list(APPEND CPACK_COMPONENTS_ALL python)
  add_dependencies(packaged warptime_python)
endif()
set(CPACK_COMPONENT_COMMAND_DESCRIPTION "${CPACK_PACKAGE_DESCRIPTION}")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "Static libraries, headers and the CMake package of warptime: analyze kernels,
simulate them and predict their times in a program of your own.
/usr/share/warptime/samples/client is a minimal one.")
set(CPACK_COMPONENT_PYTHON_DESCRIPTION "Python module of warptime: `import warptime` analyzes kernels, simulates
and predicts, on CUDA C++ or PTX in strings and files, with results as NumPy
arrays.")
# The version is of the commit, and asked for when cpack runs.
set(CPACK_WARPTIME_SOURCE ${PROJECT_SOURCE_DIR})
set(CPACK_WARPTIME_STATIC ${WARPTIME_STATIC})
set(CPACK_PROJECT_CONFIG_FILE ${PROJECT_SOURCE_DIR}/packaging/cpack_project.cmake)

set(CPACK_THREADS 0)  # of xz: as many as there are cores

set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_COMPRESSION_TYPE xz)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS OFF)
set(CPACK_DEBIAN_COMMAND_PACKAGE_NAME warptime)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SECTION devel)
set(CPACK_DEBIAN_COMMAND_PACKAGE_SHLIBDEPS ON)
# Where they are installed, the compiler prefers them to its own copies.
set(CPACK_DEBIAN_COMMAND_PACKAGE_SUGGESTS "libclang-common-19-dev, libstdc++-dev, git")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME libwarptime-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
# What the static libraries were linked with, as warptimeConfig.cmake and its targets name it.
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "libfmt-dev, libyaml-cpp-dev, nlohmann-json3-dev, libnlopt-dev, llvm-19-dev, libclang-19-dev, libzstd-dev, zlib1g-dev")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SUGGESTS "warptime, cmake (>= 3.25)")

set(CPACK_DEBIAN_PYTHON_PACKAGE_NAME python3-warptime)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SECTION python)
set(CPACK_DEBIAN_PYTHON_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PYTHON_PACKAGE_DEPENDS "python3 (>= 3.11), python3 (<< 3.12), python3-numpy")  # of Debian 12
set(CPACK_DEBIAN_PYTHON_PACKAGE_SUGGESTS "python3-pandas, python3-tqdm, warptime")
set(CPACK_DEBIAN_PYTHON_PACKAGE_CONTROL_EXTRA
  "${PROJECT_SOURCE_DIR}/packaging/debian/python/postinst;${PROJECT_SOURCE_DIR}/packaging/debian/python/prerm")

set(CPACK_ARCHIVE_COMPONENT_INSTALL ON)
include(CPack)
