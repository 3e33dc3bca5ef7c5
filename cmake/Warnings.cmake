add_library(shim_warnings INTERFACE)
target_compile_options(shim_warnings INTERFACE
  -Wall -Wextra -Wpedantic -Wshadow -Wconversion -Wsign-conversion -Wnon-virtual-dtor
  -Wold-style-cast -Wnull-dereference -Wformat=2 -Wimplicit-fallthrough -Wundef -Wvla)
option(SHIM_WERROR "treat warnings as errors" ON)
if(SHIM_WERROR)
  target_compile_options(shim_warnings INTERFACE -Werror)
endif()
# g++ 12's optimiser sees null, overlapping and uninitialised memory in its own inlined std::string
# (-Wrestrict: GCC bug 105651); the unoptimised and the sanitizer builds keep an eye on ours.
if(CMAKE_BUILD_TYPE STREQUAL "RelWithDebInfo")
  target_compile_options(shim_warnings INTERFACE
    -Wno-null-dereference -Wno-restrict -Wno-maybe-uninitialized)
endif()

# Several files as one unit: what gcc says of names that another file has, the builds of single files tell rightly.
if(CMAKE_UNITY_BUILD AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(shim_warnings INTERFACE -Wno-subobject-linkage -Wno-shadow)
endif()
