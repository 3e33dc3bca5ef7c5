# SHIM_SANITIZE: empty, or a -fsanitize list such as "address,undefined" or "thread".
set(SHIM_SANITIZE "" CACHE STRING "sanitizers to build with")
add_library(shim_sanitizers INTERFACE)
if(SHIM_SANITIZE)
  target_compile_options(shim_sanitizers INTERFACE
    -fsanitize=${SHIM_SANITIZE} -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(shim_sanitizers INTERFACE -fsanitize=${SHIM_SANITIZE})
endif()
