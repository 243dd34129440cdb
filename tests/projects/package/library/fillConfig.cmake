include(CMakeFindDependencyMacro)
find_dependency(OpenMP COMPONENTS C)
include("${CMAKE_CURRENT_LIST_DIR}/fillTargets.cmake")
