# SHIM_SANITIZE: empty, or a -fsanitize list such as "address,undefined" or "thread".
set(SHIM_SANITIZE "" CACHE STRING "sanitizers to build with")
add_library(shim_sanitizers INTERFACE)
if(SHIM_SANITIZE)
  target_compile_options(shim_sanitizers INTERFACE
    -fsanitize=${SHIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(shim_sanitizers INTERFACE -fsanitize=${SHIM_SANITIZE})
endif()

# What the binary that tests run is linked with in such a build: its reports are found whoever wrote them. A shared
# libubsan beside a shared libasan would write to stderr whatever it is told, and every start would take twice as long.
if(SHIM_SANITIZE AND SHIM_BINARY_TESTS)
  add_library(shim_sanitizer_reports OBJECT "${CMAKE_SOURCE_DIR}/tests/support/sanitizer_options.cpp")
  target_link_options(shim_sanitizer_reports INTERFACE -static-libasan -static-libubsan -no-pie)
endif()
