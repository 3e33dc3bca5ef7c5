# Every library the project uses, from Debian's packages, linked statically (one file serves every
# node: docs/decisions/0001-static-binary.md).
find_package(Boost 1.81 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(tl-expected REQUIRED CONFIG)
find_package(pugixml REQUIRED)
find_package(CLI11 REQUIRED CONFIG)
set(OPENSSL_USE_STATIC_LIBS ON)
find_package(OpenSSL 3.0 REQUIRED COMPONENTS Crypto)
# The exported target yaml-cpp is the shared library; the archive has to be asked for by name.
find_library(YAML_CPP_A libyaml-cpp.a REQUIRED)
find_path(YAML_CPP_INCLUDE yaml-cpp/yaml.h REQUIRED)
find_path(FMT_INCLUDE fmt/core.h REQUIRED)
find_path(SPDLOG_INCLUDE spdlog/spdlog.h REQUIRED)

# Debian ships fmt only as a shared library: compile its one unit ourselves.
add_library(shim_fmt STATIC "${CMAKE_SOURCE_DIR}/cmake/fmt_unit.cpp")
target_include_directories(shim_fmt SYSTEM PUBLIC "${FMT_INCLUDE}")

add_library(shim_deps INTERFACE)
target_link_libraries(shim_deps INTERFACE shim_fmt shim_sanitizers tl::expected Boost::headers
  nlohmann_json::nlohmann_json pugixml::static CLI11::CLI11 OpenSSL::Crypto ${YAML_CPP_A})
target_include_directories(shim_deps SYSTEM INTERFACE "${YAML_CPP_INCLUDE}" "${SPDLOG_INCLUDE}")
target_compile_definitions(shim_deps INTERFACE SPDLOG_FMT_EXTERNAL
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_DISABLE_THREADS BOOST_ERROR_CODE_HEADER_ONLY)
