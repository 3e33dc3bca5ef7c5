# The starter script becomes a string in the binary: one file installs everything.
set(script "${CMAKE_SOURCE_DIR}/scripts/starter_method.sh")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS "${script}")
file(READ "${script}" SHIM_STARTER_TEXT)
configure_file("${CMAKE_SOURCE_DIR}/cmake/starter_text.cpp.in"
               "${CMAKE_BINARY_DIR}/generated/starter_text.cpp" @ONLY)
target_sources(shim_records PRIVATE "${CMAKE_BINARY_DIR}/generated/starter_text.cpp")
