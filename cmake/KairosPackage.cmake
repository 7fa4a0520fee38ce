# SPDX-License-Identifier: Apache-2.0
#
# What `cmake --install` leaves behind beside the libraries (kairos_module installs those): the
# compiler, the OMG's IDL, and the package that find_package(Kairos) reads.
include(CMakePackageConfigHelpers)

set(kairos_package_dir ${CMAKE_INSTALL_LIBDIR}/cmake/Kairos)

# Here and not in idlc/: a user's build runs the compiler, so the package exports it.
if(TARGET kairos-idl)
    install(TARGETS kairos-idl EXPORT KairosTargets)
endif()
# With shared libraries the programs find them wherever the prefix is moved to.
file(RELATIVE_PATH to_libraries /${CMAKE_INSTALL_BINDIR} /${CMAKE_INSTALL_LIBDIR})
foreach(program kairos-idl kairos)
    if(TARGET ${program})
        set_target_properties(${program} PROPERTIES INSTALL_RPATH "$ORIGIN/${to_libraries}")
    endif()
endforeach()

set(KAIROS_IDL_DIR ${CMAKE_INSTALL_DATADIR}/kairos/idl)
if(EXISTS ${PROJECT_SOURCE_DIR}/idl)
    install(DIRECTORY ${PROJECT_SOURCE_DIR}/idl/ DESTINATION ${KAIROS_IDL_DIR}
        FILES_MATCHING PATTERN "*.idl")
endif()

install(EXPORT KairosTargets NAMESPACE Kairos:: DESTINATION ${kairos_package_dir})
configure_package_config_file(${PROJECT_SOURCE_DIR}/cmake/KairosConfig.cmake.in
    ${PROJECT_BINARY_DIR}/KairosConfig.cmake
    INSTALL_DESTINATION ${kairos_package_dir} PATH_VARS KAIROS_IDL_DIR)
write_basic_package_version_file(${PROJECT_BINARY_DIR}/KairosConfigVersion.cmake
    COMPATIBILITY SameMinorVersion)
install(FILES ${PROJECT_BINARY_DIR}/KairosConfig.cmake
    ${PROJECT_BINARY_DIR}/KairosConfigVersion.cmake
    ${PROJECT_SOURCE_DIR}/cmake/KairosIdl.cmake
    DESTINATION ${kairos_package_dir})
install(FILES ${PROJECT_SOURCE_DIR}/LICENSE DESTINATION ${CMAKE_INSTALL_DOCDIR})
