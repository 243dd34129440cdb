# find_package(polybuild): finds the tool and defines the polybuild_* functions.
#
# Installed by pip to <prefix>/share/cmake/polybuild, with the tool in <prefix>/bin.
# Set POLYBUILD_EXECUTABLE to run another one.

if(CMAKE_VERSION VERSION_LESS 3.21)
  set(polybuild_FOUND FALSE)
  set(polybuild_NOT_FOUND_MESSAGE "polybuild needs CMake 3.21 or newer; this is ${CMAKE_VERSION}.")
  return()
endif()

if(EXISTS "${CMAKE_CURRENT_LIST_DIR}/PolybuildCheckout.cmake")
  # This is a source tree, not an installation.
  include("${CMAKE_CURRENT_LIST_DIR}/PolybuildFunctions.cmake")
  include("${CMAKE_CURRENT_LIST_DIR}/PolybuildCheckout.cmake")
  return()
endif()

get_filename_component(_polybuild_prefix "${CMAKE_CURRENT_LIST_DIR}/../../.." ABSOLUTE)
find_program(
  POLYBUILD_EXECUTABLE polybuild
  HINTS "${_polybuild_prefix}/bin" "${_polybuild_prefix}/Scripts"
  NO_CMAKE_FIND_ROOT_PATH
  DOC "The polybuild command")
unset(_polybuild_prefix)

if(NOT POLYBUILD_EXECUTABLE)
  set(polybuild_FOUND FALSE)
  set(polybuild_NOT_FOUND_MESSAGE
      "The CMake files of polybuild are here, its command is not. Activate the environment that polybuild is \
installed in, or set POLYBUILD_EXECUTABLE to the path of its command.")
  return()
endif()
execute_process(
  COMMAND "${POLYBUILD_EXECUTABLE}" --version
  RESULT_VARIABLE _polybuild_status OUTPUT_QUIET ERROR_VARIABLE _polybuild_error)
if(_polybuild_status EQUAL 0)
  include("${CMAKE_CURRENT_LIST_DIR}/PolybuildFunctions.cmake")
  # A new installation writes the program anew, and everything is transformed again.
  _polybuild_use_tool("${POLYBUILD_EXECUTABLE}" "${POLYBUILD_EXECUTABLE}")
else()
  set(polybuild_FOUND FALSE)
  set(polybuild_NOT_FOUND_MESSAGE
      "${POLYBUILD_EXECUTABLE} cannot be run (${_polybuild_status}): ${_polybuild_error} \
Its environment may have moved; install polybuild again, or set POLYBUILD_EXECUTABLE.")
endif()
unset(_polybuild_status)
unset(_polybuild_error)
