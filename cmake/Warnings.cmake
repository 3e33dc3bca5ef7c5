add_library(shim_warnings INTERFACE)
target_compile_options(shim_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wnull-dereference -Wformat=2 -Wimplicit-fallthrough -Wundef -Wvla)
option(SHIM_WERROR "treat warnings as errors" ON)
if(SHIM_WERROR)
  target_compile_options(shim_warnings INTERFACE -Werror)
endif()
# The optimiser sees null paths in library code that -O0 does not.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(shim_warnings INTERFACE -Wno-null-dereference)
endif()
