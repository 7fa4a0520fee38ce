# SPDX-License-Identifier: Apache-2.0
#
# The Debian packages, one for each install component: `make packages` configures a build tree for
# them (preset `packages`) and has CPack make them. docs/packages.md says what is in which.
include(GNUInstallDirs)

# Who is asked about them: what Debian's own tools call the packager, else nobody who could be.
set(maintainer "Kairos maintainers <maintainers@kairos.invalid>")
if(DEFINED ENV{DEBEMAIL})
    set(maintainer "$ENV{DEBFULLNAME} <$ENV{DEBEMAIL}>")
endif()
set(KAIROS_PACKAGE_MAINTAINER "${maintainer}" CACHE STRING "Maintainer of the Debian packages")
# Not of Debian itself: older than the first that Debian would have of the same version.
set(KAIROS_PACKAGE_REVISION 0kairos1 CACHE STRING "Revision of the Debian packages")
set(debian_dir ${PROJECT_SOURCE_DIR}/packaging/debian)
set(debian_version ${PROJECT_VERSION}-${KAIROS_PACKAGE_REVISION})
set(abi ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})

# ---- what every package says of itself --------------------------------------------------------

# The time of what is packaged, so that the same sources make the same packages.
if(NOT DEFINED ENV{SOURCE_DATE_EPOCH})
    execute_process(COMMAND git -C ${PROJECT_SOURCE_DIR} log -1 --format=%ct
        OUTPUT_VARIABLE committed OUTPUT_STRIP_TRAILING_WHITESPACE ERROR_QUIET)
    if(committed)
        set(ENV{SOURCE_DATE_EPOCH} ${committed})
    endif()
endif()
# Names of days and months are English whatever the packager speaks.
set(ENV{LC_ALL} C)
string(TIMESTAMP CPACK_KAIROS_TIME "%s" UTC)
string(TIMESTAMP debian_date "%a, %d %b %Y %H:%M:%S +0000" UTC)
string(TIMESTAMP year "%Y" UTC)
set(KAIROS_COPYRIGHT "${year} the authors of Kairos")
configure_file(${debian_dir}/copyright.in ${PROJECT_BINARY_DIR}/debian/copyright @ONLY)
file(WRITE ${PROJECT_BINARY_DIR}/debian/changelog.Debian "kairos (${debian_version}) unstable; \
urgency=medium\n\n  * Packages of Kairos ${PROJECT_VERSION}.\n\n \
-- ${KAIROS_PACKAGE_MAINTAINER}  ${debian_date}\n")

# kairos_compressed(file out): `out` names its copy as Debian wants it, without a name and a time.
function(kairos_compressed file out)
    get_filename_component(name ${file} NAME)
    set(compressed ${PROJECT_BINARY_DIR}/debian/${name}.gz)
    execute_process(COMMAND gzip -9nc ${file} OUTPUT_FILE ${compressed} COMMAND_ERROR_IS_FATAL ANY)
    set_property(DIRECTORY ${PROJECT_SOURCE_DIR} APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${file})
    set(${out} ${compressed} PARENT_SCOPE)
endfunction()

kairos_compressed(${PROJECT_BINARY_DIR}/debian/changelog.Debian changelogs)
if(EXISTS ${PROJECT_SOURCE_DIR}/CHANGELOG.md)
    configure_file(${PROJECT_SOURCE_DIR}/CHANGELOG.md ${PROJECT_BINARY_DIR}/debian/changelog
        COPYONLY)
    kairos_compressed(${PROJECT_BINARY_DIR}/debian/changelog changelog)
    list(APPEND changelogs ${changelog})
endif()

# kairos_debian_package(component NAME name SECTION section SUMMARY line DESCRIPTION text
#     [NEEDS component …] [DEPENDS "package, …"] [RECOMMENDS …] [SUGGESTS …] [MULTI_ARCH kind]
#     [ALL] [CONTROL file …] [DOCS file …])
# The package of an install component. NEEDS are components whose packages it needs, of the very
# same version, among them those of our libraries that it is linked with; which of Debian's it is
# linked with dpkg-shlibdeps finds. ALL: for every architecture.
function(kairos_debian_package component)
    cmake_parse_arguments(ARG "ALL"
        "NAME;SECTION;SUMMARY;DESCRIPTION;DEPENDS;RECOMMENDS;SUGGESTS;MULTI_ARCH"
        "NEEDS;CONTROL;DOCS" ${ARGN})
    string(TOUPPER ${component} key)
    set(package CPACK_DEBIAN_${key}_PACKAGE)
    set(${package}_NAME "${ARG_NAME}" PARENT_SCOPE)
    set(${package}_SECTION "${ARG_SECTION}" PARENT_SCOPE)
    set(${package}_DEPENDS "${ARG_DEPENDS}" PARENT_SCOPE)
    set(${package}_RECOMMENDS "${ARG_RECOMMENDS}" PARENT_SCOPE)
    set(${package}_SUGGESTS "${ARG_SUGGESTS}" PARENT_SCOPE)
    set(${package}_CONTROL_EXTRA "${ARG_CONTROL}" PARENT_SCOPE)
    set(CPACK_DEBIAN_${key}_DESCRIPTION "${ARG_SUMMARY}\n${about}\n.\n${ARG_DESCRIPTION}"
        PARENT_SCOPE)
    set(CPACK_COMPONENT_${key}_DEPENDS "${ARG_NEEDS}" PARENT_SCOPE)
    if(ARG_ALL)
        set(${package}_ARCHITECTURE all PARENT_SCOPE)
        set(${package}_SHLIBDEPS OFF PARENT_SCOPE)
    endif()
    if(ARG_MULTI_ARCH)
        set(CPACK_KAIROS_MULTI_ARCH ${CPACK_KAIROS_MULTI_ARCH} "${ARG_NAME}=${ARG_MULTI_ARCH}"
            PARENT_SCOPE)
    endif()
    set(CPACK_COMPONENTS_ALL ${CPACK_COMPONENTS_ALL} ${component} PARENT_SCOPE)
    install(FILES ${PROJECT_BINARY_DIR}/debian/copyright ${changelogs} ${ARG_DOCS}
        DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/${ARG_NAME} COMPONENT ${component})
endfunction()

# ---- which there are --------------------------------------------------------------------------

set(about "Kairos is an ORB of the OMG's CORBA for C++: it sends the calls of programs
in this and other languages to objects in other processes and on other
machines, by IIOP, with priorities and deadlines of Real-Time CORBA.")

kairos_debian_package(runtime NAME libkairos${abi} SECTION libs MULTI_ARCH same
    CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - shared libraries"
    DESCRIPTION "This package has the shared libraries that programs are linked with: the ORB
with its object adapters, calls without stubs, Real-Time CORBA, and the
stubs of the services.")

kairos_debian_package(nameserver NAME libkairos-nameserver${abi} SECTION libs MULTI_ARCH same
    NEEDS runtime CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - name server library"
    DESCRIPTION "This package has the shared library for programs that are name servers
themselves: CosNaming with its store, a file or a PostgreSQL database.")

kairos_debian_package(gateway NAME libkairos-gateway${abi} SECTION libs MULTI_ARCH same
    NEEDS runtime CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - gateway library"
    DESCRIPTION "This package has the shared library for programs that are gateways: they
pass calls of any interface on to objects of other ORBs and networks.")

kairos_debian_package(tls NAME libkairos-tls${abi} SECTION libs MULTI_ARCH same
    NEEDS runtime CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - TLS library"
    DESCRIPTION "This package has the shared libraries for programs that call, or are called,
by TLS (SSLIOP), and by users with passwords (CSIv2).")

kairos_debian_package(repository NAME libkairos-repository${abi} SECTION libs MULTI_ARCH same
    NEEDS runtime CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - Interface Repository library"
    DESCRIPTION "This package has the shared library for programs that are Interface
Repositories themselves, in memory, with a file or a PostgreSQL database.")

kairos_debian_package(logs NAME libkairos-logs${abi} SECTION libs MULTI_ARCH same
    NEEDS runtime CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - Telecom Log Service library"
    DESCRIPTION "This package has the shared libraries for programs that are clients of log
services, or log services themselves, in memory, with a file or a
PostgreSQL database; and for notification services that keep what they have
in one of these.")

kairos_debian_package(nats NAME libkairos-nats${abi} SECTION libs MULTI_ARCH same
    NEEDS runtime CONTROL ${debian_dir}/triggers
    SUMMARY "real-time CORBA ORB for C++ - event channels over NATS"
    DESCRIPTION "This package has the shared library for programs that join event channels
of several processes by a NATS server.")

kairos_debian_package(development NAME libkairos-dev SECTION libdevel MULTI_ARCH same
    NEEDS runtime nameserver repository logs nats gateway tls compiler
    # What static name servers and repositories are linked with is up to those who build any.
    RECOMMENDS "g++"
    SUGGESTS "cmake, pkg-config, libsqlite3-dev, libpq-dev, libssl-dev, libnats-dev"
    SUMMARY "real-time CORBA ORB for C++ - development files"
    DESCRIPTION "This package has what is needed to build programs: headers, static
libraries, the OMG's IDL, files for CMake and pkg-config, and an example.")

kairos_debian_package(compiler NAME kairos-idl SECTION devel MULTI_ARCH foreign
    SUMMARY "real-time CORBA ORB for C++ - IDL compiler"
    DESCRIPTION "This package has the compiler of the OMG's IDL, whose classic mapping to C++
it generates.")

kairos_debian_package(tools NAME kairos-tools SECTION utils RECOMMENDS kairos-bench
    SUMMARY "real-time CORBA ORB for C++ - command-line tool"
    DESCRIPTION "This package has the tool kairos, which prints references, asks objects
whether they are there, shows and changes what naming services have, is a
name server, an Interface Repository, a gateway, event channels, sets of
properties, a trader and a log service itself, serves a page on which objects
are found, called and watched, analyses whether sets of operations meet their
deadlines, and counts what calls cost.")

kairos_debian_package(bench NAME kairos-bench SECTION utils
    NEEDS tools runtime nameserver logs gateway tls
    SUGGESTS "gnuplot-nox, valgrind, libkairos-dev"
    SUMMARY "real-time CORBA ORB for C++ - benchmarks"
    DESCRIPTION "This package has the programs that the command kairos bench measures, beside
bare sockets and omniORB.")

kairos_debian_package(service NAME kairos-nameserver SECTION net ALL NEEDS tools
    DEPENDS "adduser" SUGGESTS "postgresql"
    CONTROL ${debian_dir}/postinst ${debian_dir}/prerm ${debian_dir}/postrm
        ${PROJECT_BINARY_DIR}/debian/conffiles
    SUMMARY "real-time CORBA ORB for C++ - name server as a service"
    DESCRIPTION "This package runs a CosNaming server as a service of the system, by a user
of its own. Its names survive crashes and loss of power.")

# ---- what only packages have ------------------------------------------------------------------

file(WRITE ${PROJECT_BINARY_DIR}/debian/conffiles "/etc/default/kairos-naming\n")
install(FILES ${debian_dir}/kairos-naming.service DESTINATION /lib/systemd/system
    COMPONENT service)
install(FILES ${debian_dir}/kairos-naming.default DESTINATION /etc/default RENAME kairos-naming
    COMPONENT service)
install(FILES ${PROJECT_SOURCE_DIR}/docs/packages.md ${PROJECT_SOURCE_DIR}/docs/naming.md
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/kairos-nameserver COMPONENT service)
install(DIRECTORY ${PROJECT_SOURCE_DIR}/examples/hello
    DESTINATION ${CMAKE_INSTALL_DATADIR}/doc/libkairos-dev/examples COMPONENT development)

# ---- CPack ------------------------------------------------------------------------------------

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME kairos)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "") # each package has its own
set(CPACK_PACKAGE_CONTACT "${KAIROS_PACKAGE_MAINTAINER}")
set(CPACK_PACKAGE_DIRECTORY ${PROJECT_BINARY_DIR}/packages)
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_COMPONENTS_GROUPING IGNORE)
set(CPACK_STRIP_FILES ON)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_ENABLE_COMPONENT_DEPENDS ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SOURCE kairos)
set(CPACK_DEBIAN_PACKAGE_RELEASE ${KAIROS_PACKAGE_REVISION})
set(CPACK_DEBIAN_PACKAGE_PRIORITY optional)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS_PRIVATE_DIRS ${KAIROS_LIBRARY_DIRECTORY})
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS ON)
set(CPACK_DEBIAN_PACKAGE_GENERATE_SHLIBS_POLICY ">=")
set(CPACK_DEBIAN_PACKAGE_CONTROL_STRICT_PERMISSION ON)
set(CPACK_POST_BUILD_SCRIPTS ${PROJECT_SOURCE_DIR}/packaging/finish.cmake)
include(CPack)
