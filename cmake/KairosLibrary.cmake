# SPDX-License-Identifier: Apache-2.0
#
# What programs link: a few libraries made of the modules, each shared and static, of the same
# objects. docs/decisions/0009 says why these few.
#
# A program of our tree that includes what is not exported (most unit tests) has the property
# KAIROS_INTERNALS and is linked with the modules' own archives; every other one is linked as users'
# programs are. Which of the two it is follows from this one property, in whatever lies between, and
# CMake refuses a program that would have both.

# Shared libraries of one minor version are exchangeable; before 1.0 nothing else is promised.
set(KAIROS_SOVERSION ${PROJECT_VERSION_MAJOR})
if(PROJECT_VERSION_MAJOR EQUAL 0)
    set(KAIROS_SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
endif()
set(KAIROS_LIBRARY_DIRECTORY ${PROJECT_BINARY_DIR}/lib)

# glibc 2.36 reads the short form of relocations, a seventh of the libraries' size otherwise.
include(CheckCXXSourceCompiles)
check_cxx_source_compiles("#include <features.h>
    #if !__GLIBC_PREREQ(2, 36)
    #error too old
    #endif
    int main() {}" KAIROS_SHORT_RELOCATIONS)

# What a shared library begins with, as a regular expression of objects.
file(STRINGS ${PROJECT_SOURCE_DIR}/cmake/resident.txt kairos_resident REGEX "^[a-z]")
set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS
    ${PROJECT_SOURCE_DIR}/cmake/resident.txt)
list(TRANSFORM kairos_resident REPLACE "^([a-z]+)/(.*)" "kairos_\\1[.]dir/[./]*\\2")
list(JOIN kairos_resident "|" kairos_resident)
set(kairos_resident "(${kairos_resident})[.]o$")

set(kairos_internals $<BOOL:$<TARGET_PROPERTY:KAIROS_INTERNALS>>)

# kairos_link_shared(target --as-needed|--no-as-needed library)
# Users of the target are linked with the shared library only if they name anything of it, or even
# if they do not.
function(kairos_link_shared target needed library)
    set(option -Wl,--push-state,${needed},$<TARGET_FILE:${library}>,--pop-state)
    target_link_libraries(${target} INTERFACE $<$<NOT:${kairos_internals}>:${option}>)
    add_dependencies(${target} ${library})
endfunction()

# kairos_library(name DESCRIPTION text MODULES base cdr … [PARTS module …] [DEPENDS library …]
#     [NEEDS library-of-the-system …] [COMPONENT component])
# The libraries lib<name>.so and lib<name>.a, as targets <name>-shared and <name>-static, and for
# each module what programs call it by: Kairos::<module>. PARTS are modules that programs do not
# call: every library that names one has a copy of its own. NEEDS are only linked.
function(kairos_library name)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "" "COMPONENT;DESCRIPTION" "MODULES;PARTS;DEPENDS;NEEDS")
    if(NOT ARG_COMPONENT)
        set(ARG_COMPONENT runtime)
    endif()
    set(objects "")
    set(others "")
    set(include "")
    foreach(module IN LISTS ARG_MODULES ARG_PARTS)
        set(all $<TARGET_OBJECTS:kairos_${module}>)
        list(APPEND objects $<FILTER:${all},INCLUDE,${kairos_resident}>)
        list(APPEND others $<FILTER:${all},EXCLUDE,${kairos_resident}>)
        get_target_property(generated kairos_${module} KAIROS_GENERATED_HEADERS)
        if(generated)
            # Generated code says "foo.h" of the IDL it includes.
            list(APPEND include $<BUILD_INTERFACE:${generated}>
                $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}/kairos/${module}>)
        endif()
    endforeach()
    foreach(kind shared static)
        string(TOUPPER ${kind} upper)
        set(target ${name}-${kind})
        add_library(${target} ${upper} ${objects} ${others})
        set_target_properties(${target} PROPERTIES OUTPUT_NAME ${name} LINKER_LANGUAGE CXX
            LIBRARY_OUTPUT_DIRECTORY ${KAIROS_LIBRARY_DIRECTORY}
            ARCHIVE_OUTPUT_DIRECTORY ${KAIROS_LIBRARY_DIRECTORY}
            INTERFACE_KAIROS_LINKAGE ${kind}
            COMPATIBLE_INTERFACE_STRING KAIROS_LINKAGE)
        target_include_directories(${target} INTERFACE ${include}
            $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}> $<BUILD_INTERFACE:${PROJECT_BINARY_DIR}/gen>
            $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
        target_compile_features(${target} INTERFACE cxx_std_20)
        list(TRANSFORM ARG_DEPENDS APPEND -${kind} OUTPUT_VARIABLE depends)
        target_link_libraries(${target} PUBLIC ${depends} Threads::Threads)
        target_link_libraries(${target} PRIVATE ${ARG_NEEDS})
    endforeach()
    set_target_properties(${name}-shared PROPERTIES VERSION ${PROJECT_VERSION}
        SOVERSION ${KAIROS_SOVERSION} INSTALL_RPATH $ORIGIN)
    target_link_options(${name}-shared PRIVATE LINKER:--gc-sections,-Bsymbolic-functions
        LINKER:--version-script=${PROJECT_SOURCE_DIR}/cmake/kairos.map)
    if(name STREQUAL kairos AND CMAKE_SYSTEM_PROCESSOR STREQUAL x86_64)
        # What libgcc asks the processor at the start lies with the rest of what is resident.
        target_link_options(${name}-shared PRIVATE LINKER:--undefined=__cpu_model -lgcc)
    endif()
    if(KAIROS_SHORT_RELOCATIONS)
        target_link_options(${name}-shared PRIVATE LINKER:-z,pack-relative-relocs)
    endif()
    set_target_properties(${name}-shared PROPERTIES LINK_DEPENDS
        ${PROJECT_SOURCE_DIR}/cmake/kairos.map)
    if(NOT KAIROS_SANITIZE AND NOT KAIROS_FUZZ) # whose run time is in the program alone
        target_link_options(${name}-shared PRIVATE LINKER:-z,defs)
    endif()

    foreach(module IN LISTS ARG_MODULES)
        add_library(kairos_api_${module} INTERFACE)
        add_library(Kairos::${module} ALIAS kairos_api_${module})
        target_link_libraries(kairos_api_${module} INTERFACE
            $<IF:${kairos_internals},kairos_${module},${name}-shared>)
        get_target_property(symbol kairos_${module} KAIROS_UNDEFINED)
        if(symbol)
            target_link_options(kairos_${module} INTERFACE LINKER:--undefined=${symbol})
            kairos_link_shared(kairos_api_${module} --no-as-needed ${name}-shared)
        else()
            set(symbol "")
        endif()
        set_property(GLOBAL APPEND_STRING PROPERTY KAIROS_PACKAGE_MODULES
            "kairos_package_module(${module} ${name} \"${symbol}\")\n")
    endforeach()

    # What KairosPackage.cmake writes for pkg-config.
    list(TRANSFORM ARG_NEEDS PREPEND -l OUTPUT_VARIABLE needs)
    list(JOIN needs " " needs)
    list(JOIN ARG_DEPENDS " " depends)
    set(include "\${includedir}")
    foreach(module IN LISTS ARG_MODULES)
        get_target_property(generated kairos_${module} KAIROS_GENERATED_HEADERS)
        if(generated)
            string(APPEND include " -I\${includedir}/kairos/${module}")
        endif()
    endforeach()
    set_property(GLOBAL APPEND PROPERTY KAIROS_LIBRARIES ${name})
    set_target_properties(${name}-shared PROPERTIES KAIROS_PKG_CONFIG
"Name: ${name}
Description: ${ARG_DESCRIPTION}
Requires: ${depends}
Libs: -L\${libdir} -l${name}
Libs.private: ${needs} -pthread
Cflags: -I${include}")

    install(TARGETS ${name}-shared EXPORT KairosSharedTargets
        LIBRARY COMPONENT ${ARG_COMPONENT} NAMELINK_COMPONENT development)
    install(TARGETS ${name}-static EXPORT KairosStaticTargets ARCHIVE COMPONENT development)
endfunction()
