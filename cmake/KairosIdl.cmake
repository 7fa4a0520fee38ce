# SPDX-License-Identifier: Apache-2.0
#
# kairos_idl_library(): from IDL files to a library, in the source tree and from an install tree
# alike. Read by the top CMakeLists.txt and by KairosConfig.cmake.

# The OMG's IDL. An install tree says where (KairosConfig.cmake); in the source tree we know.
if(NOT KAIROS_IDL_DIR)
    get_filename_component(KAIROS_IDL_DIR ${CMAKE_CURRENT_LIST_DIR}/../idl ABSOLUTE)
endif()

# kairos_idl_included(result source dir …)
# The IDL files that `source` includes, at any depth, found in its own folder and the dirs: when one
# changes, the code is generated again. A file that gains an #include is read again first.
function(kairos_idl_included result source)
    set(found "")
    set(waiting ${source})
    while(waiting)
        list(POP_FRONT waiting current)
        if(NOT EXISTS ${current})
            continue() # a file that the build writes
        endif()
        set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${current})
        get_filename_component(beside ${current} DIRECTORY)
        file(STRINGS ${current} lines REGEX "^[ \t]*#[ \t]*include[ \t]*[<\"]")
        foreach(line IN LISTS lines)
            string(REGEX REPLACE "^[^<\"]*[<\"]([^>\"]*)[>\"].*$" "\\1" name "${line}")
            foreach(directory IN LISTS beside ARGN)
                get_filename_component(path ${directory}/${name} ABSOLUTE)
                if(EXISTS ${path} AND NOT path IN_LIST found AND NOT path STREQUAL source)
                    list(APPEND found ${path})
                    list(APPEND waiting ${path})
                    break()
                endif()
            endforeach()
        endforeach()
    endwhile()
    set(${result} ${found} PARENT_SCOPE)
endfunction()

# kairos_idl_library(target foo.idl [bar.idl …] [STATIC|SHARED] [INCLUDE dir …] [OPTIONS option …]
#     [PROFILE file …])
# A library of the stubs and skeletons of the IDL files. Users of the library include "foo.h" and
# "foo_skel.h" and link nothing else. Of a file in a folder below, a/foo.idl, "a/foo.h" is another
# name of "foo.h", and the only one where there is a b/foo.idl, too. INCLUDE names folders with IDL
# that the files include; OPTIONS go to kairos-idl as they are (not the ones that rename its output:
# the names above are expected). PROFILE names files that -ORBProfileTypes wrote: the code is
# generated again when one changes, and what was chosen is shown.
function(kairos_idl_library target)
    cmake_parse_arguments(PARSE_ARGV 1 ARG "STATIC;SHARED" "" "INCLUDE;OPTIONS;PROFILE")
    if(NOT ARG_UNPARSED_ARGUMENTS)
        message(FATAL_ERROR "kairos_idl_library(${target}): no IDL files given")
    endif()
    if(NOT TARGET Kairos::kairos-idl)
        message(FATAL_ERROR "kairos_idl_library(${target}): the compiler kairos-idl is not there")
    endif()
    set(kind "") # BUILD_SHARED_LIBS decides
    if(ARG_STATIC)
        set(kind STATIC)
    elseif(ARG_SHARED)
        set(kind SHARED)
    endif()

    set(directories "")
    foreach(directory IN LISTS ARG_INCLUDE ITEMS ${KAIROS_IDL_DIR})
        get_filename_component(directory ${directory} ABSOLUTE)
        if(EXISTS ${directory})
            list(APPEND directories ${directory})
        endif()
    endforeach()
    set(include_options "")
    foreach(directory IN LISTS directories)
        list(APPEND include_options -I ${directory})
    endforeach()

    set(profiles "")
    set(profile_options "")
    foreach(profile IN LISTS ARG_PROFILE)
        get_filename_component(profile ${profile} ABSOLUTE)
        list(APPEND profiles ${profile})
        list(APPEND profile_options --profile ${profile})
    endforeach()

    # A folder per target: two libraries of one directory may hold IDL files of the same name.
    set(output ${CMAKE_CURRENT_BINARY_DIR}/gen/${target})
    file(MAKE_DIRECTORY ${output})
    set(generated "")
    set(folders ${output})
    set(root_options --root ${CMAKE_CURRENT_SOURCE_DIR})
    foreach(idl IN LISTS ARG_UNPARSED_ARGUMENTS)
        get_filename_component(source ${idl} ABSOLUTE)
        list(APPEND root_options --with ${source})
    endforeach()
    foreach(idl IN LISTS ARG_UNPARSED_ARGUMENTS)
        get_filename_component(source ${idl} ABSOLUTE)
        get_filename_component(stem ${idl} NAME_WLE)
        # The folders below this one are kept, as --root does.
        get_filename_component(root ${CMAKE_CURRENT_SOURCE_DIR} REALPATH)
        get_filename_component(folder ${source} DIRECTORY)
        get_filename_component(folder ${folder} REALPATH)
        file(RELATIVE_PATH folder ${root} ${folder})
        if(folder AND NOT folder MATCHES "^\\.\\.(/|$)" AND NOT IS_ABSOLUTE "${folder}")
            set(stem ${folder}/${stem})
            list(APPEND folders ${output}/${folder})
        endif()
        set(files ${output}/${stem}.h ${output}/${stem}.cpp ${output}/${stem}_skel.h
            ${output}/${stem}_skel.cpp)
        if(${output}/${stem}.h IN_LIST generated)
            message(FATAL_ERROR "kairos_idl_library(${target}): two IDL files become ${stem}.h")
        endif()
        kairos_idl_included(included ${source} ${directories})
        add_custom_command(OUTPUT ${files}
            COMMAND $<TARGET_FILE:Kairos::kairos-idl> -o ${output} ${include_options}
                ${root_options}
                ${ARG_OPTIONS} ${profile_options} ${source}
            DEPENDS ${source} ${included} ${profiles} Kairos::kairos-idl
                $<TARGET_FILE:Kairos::kairos-idl>
            COMMENT "kairos-idl ${idl}" VERBATIM COMMAND_EXPAND_LISTS)
        list(APPEND generated ${files})
    endforeach()

    list(REMOVE_DUPLICATES folders)
    add_library(${target} ${kind} ${generated})
    # A client that links the stubs of a static library does not link its skeletons: a file each.
    # Our own sanitized programs may.
    if(NOT KAIROS_SANITIZE)
        set_target_properties(${target} PROPERTIES UNITY_BUILD OFF)
    endif()
    target_include_directories(${target} PUBLIC "$<BUILD_INTERFACE:${folders}>")
    target_link_libraries(${target} PUBLIC Kairos::generated)
    if(TARGET kairos_flags) # our own tree holds generated code to the rules of written code
        target_link_libraries(${target} PRIVATE $<BUILD_INTERFACE:kairos_flags>)
    endif()
endfunction()
