# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` leaves behind beside the libraries and headers (kairos_library and
# kairos_module install those): the compiler, the OMG's IDL, the package that find_package(Kairos)
# reads and what pkg-config does. Components: runtime, nameserver, repository, gateway, tls,
# development, compiler, tools, bench; cmake/KairosPackages.cmake makes Debian packages of them.
include(CMakePackageConfigHelpers)

set(kairos_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Kairos)
set(KAIROS_IDL_DIR ${CMAKE_INSTALL_DATADIR}/kairos/idl)

# Here and not in idlc/: a user's build runs the compiler, so the package exports it.
if(TARGET kairos-idl)
    install(TARGETS kairos-idl EXPORT KairosCompilerTargets RUNTIME COMPONENT compiler)
    install(EXPORT KairosCompilerTargets NAMESPACE Kairos:: DESTINATION ${kairos_package_dir}
        COMPONENT development)
endif()
if(EXISTS ${PROJECT_SOURCE_DIR}/idl)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/idl/ DESTINATION ${KAIROS_IDL_DIR}
        COMPONENT development FILES_MATCHING PATTERN "*.idl" PATTERN "*.pidl")
endif()

foreach(kind Shared Static)
    install(EXPORT Kairos${kind}Targets NAMESPACE Kairos:: DESTINATION ${kairos_package_dir}
        COMPONENT development)
endforeach()
get_property(KAIROS_PACKAGE_MODULES GLOBAL PROPERTY KAIROS_PACKAGE_MODULES)
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/KairosConfig.cmake.in
    ${PROJECT_BINARY_DIR}/KairosConfig.cmake
    INSTALL_DESTINATION ${kairos_package_dir} PATH_VARS KAIROS_IDL_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KairosConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KairosConfig.cmake
    ${PROJECT_BINARY_DIR}/KairosConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/KairosIdl.cmake
    DESTINATION ${kairos_package_dir} COMPONENT development)
if(NOT KAIROS_PACKAGES) # Debian has it once
    install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR}
        COMPONENT development)
endif()

# The same for pkg-config, from where its file is: an install tree may be moved.
file(RELATIVE_PATH to_prefix /${CMAKE_INSTALL_LIBDIR}/pkgconfig /)
string(REGEX REPLACE "/$" "" to_prefix ${to_prefix})
get_property(libraries GLOBAL PROPERTY KAIROS_LIBRARIES)
foreach(name IN LISTS libraries)
    get_target_property(KAIROS_PC_TEXT ${name}-shared KAIROS_PKG_CONFIG)
    configure_file(${PROJECT_SOURCE_DIR}/cmake/kairos.pc.in ${PROJECT_BINARY_DIR}/${name}.pc @ONLY)
    install(FILES ${PROJECT_BINARY_DIR}/${name}.pc DESTINATION ${CMAKE_INSTALL_LIBDIR}/pkgconfig
        COMPONENT development)
endforeach()
