# Makes the functions run the tool of the source tree around this file.
#
# Uses the Python that CMake finds (3.11 or newer; Python3_EXECUTABLE names another one) if it has
# the packages polybuild needs. If not, a virtual environment with them is made in the build tree,
# once; POLYBUILD_INSTALL_DEPENDENCIES=OFF forbids that. POLYBUILD_EXECUTABLE, if set, runs instead.

option(POLYBUILD_INSTALL_DEPENDENCIES "Install the Python packages polybuild needs into the build tree" ON)

function(_polybuild_can_run python result)
  execute_process(
    COMMAND "${python}" -c "import islpy, pycparser"
    RESULT_VARIABLE status OUTPUT_QUIET ERROR_QUIET)
  if(status EQUAL 0)
    set(${result} TRUE PARENT_SCOPE)
  else()
    set(${result} FALSE PARENT_SCOPE)
  endif()
endfunction()

# The interpreter of a virtual environment in the build tree that has what polybuild needs.
function(_polybuild_private_python python root result)
  set(environment "${CMAKE_BINARY_DIR}/polybuild-python")
  if(CMAKE_HOST_WIN32)
    set(private "${environment}/Scripts/python.exe")
  else()
    set(private "${environment}/bin/python")
  endif()
  _polybuild_can_run("${private}" ready)
  if(NOT ready)
    message(STATUS "polybuild: installing its Python packages into ${environment}")
    execute_process(COMMAND "${python}" -m venv --clear "${environment}" RESULT_VARIABLE status)
    if(status EQUAL 0)
      execute_process(
        COMMAND "${private}" -m pip --disable-pip-version-check install --quiet "${root}"
        RESULT_VARIABLE status)
    endif()
    if(NOT status EQUAL 0)
      message(FATAL_ERROR
        "polybuild: its Python packages could not be installed. Install islpy and pycparser for ${python}, "
        "or name another interpreter with -DPython3_EXECUTABLE=...")
    endif()
  endif()
  set(${result} "${private}" PARENT_SCOPE)
endfunction()

function(_polybuild_use_checkout)
  get_filename_component(root "${CMAKE_CURRENT_FUNCTION_LIST_DIR}/.." ABSOLUTE)
  find_package(Python3 3.11 REQUIRED COMPONENTS Interpreter)
  set(python "${Python3_EXECUTABLE}")
  _polybuild_can_run("${python}" ready)
  if(NOT ready AND POLYBUILD_INSTALL_DEPENDENCIES)
    _polybuild_private_python("${python}" "${root}" python)
  elseif(NOT ready)
    message(FATAL_ERROR "polybuild: ${python} lacks the packages islpy and pycparser. Install them, "
                        "or set POLYBUILD_INSTALL_DEPENDENCIES=ON.")
  endif()
  file(GLOB_RECURSE modules "${root}/polybuild/*.py")
  _polybuild_use_tool("${python};${root}/cmake/checkout.py" "${modules}")
endfunction()

if(POLYBUILD_DISABLE OR "$ENV{POLYBUILD_DISABLE}")
  message(STATUS "polybuild is disabled; sources are compiled as they are")
elseif(POLYBUILD_EXECUTABLE)
  _polybuild_use_tool("${POLYBUILD_EXECUTABLE}" "")
else()
  _polybuild_use_checkout()
endif()
