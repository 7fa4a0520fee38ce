# SPDX-License-Identifier: Apache-2.0
#
# The tests of the house itself rather than of a module: the rules of the tree (tools/tidy.py), that
# tidy.py still finds what it should, that the installed package serves a project of its own.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

# Sanitizers have nothing to say of scripts, nor does what is in an archive depend on them.
if(NOT KAIROS_SANITIZE)
    add_test(NAME tidy COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy.py
        --root ${PROJECT_SOURCE_DIR})
    add_test(NAME tidy.rules COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy_test.py)
    add_test(NAME readme COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/readme.py)
    add_test(NAME lock_table COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/lock_table.py)
    add_test(NAME lock_table.rules COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/lock_table_test.py)
    add_test(NAME figures COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/figures.py)
    add_test(NAME build_times COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/build_times_test.py)
    add_test(NAME compat.tool COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/compat_test.py)
    add_test(NAME clang_tidy.rules COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/clang_tidy_test.py)
    add_test(NAME slow_tests COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/slow_tests_test.py)
    add_test(NAME changelog COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/changelog.py
        --check)
    add_test(NAME changelog.rules COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/changelog_test.py)
    set_tests_properties(tidy tidy.rules readme lock_table lock_table.rules figures build_times
        clang_tidy.rules slow_tests changelog changelog.rules
        PROPERTIES TIMEOUT ${KAIROS_TEST_SECONDS})
    add_test(NAME release COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tools/release_test.py)
    set_tests_properties(release PROPERTIES TIMEOUT 600 COST 50 SKIP_RETURN_CODE 77)
endif()

# A ThreadSanitizer build holds only the concurrent tests; there is nothing to install then.
if(TARGET kairos-idl AND TARGET kairos_corba AND NOT KAIROS_SANITIZE MATCHES thread)
    list(JOIN KAIROS_SANITIZE_LINK_OPTIONS " " sanitize)
    add_test(NAME package COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tests/package/package_test.py --cmake ${CMAKE_COMMAND}
        --build ${PROJECT_BINARY_DIR} --compiler ${CMAKE_CXX_COMPILER}
        --build-type ${CMAKE_BUILD_TYPE} "--sanitize=${sanitize}")
    set_tests_properties(package PROPERTIES TIMEOUT 900 PROCESSORS 2 COST 50)
    find_program(KAIROS_SIZE size)
    mark_as_advanced(KAIROS_SIZE)
    get_property(libraries GLOBAL PROPERTY KAIROS_LIBRARIES)
    set(files "")
    foreach(library IN LISTS libraries)
        list(APPEND files $<TARGET_FILE:${library}-shared> $<TARGET_FILE:${library}-static>)
    endforeach()
    # What a release may have, and what other builds, of which all is built for speed: so growth is
    # seen in either.
    if(CMAKE_READELF AND KAIROS_SIZE AND NOT KAIROS_SANITIZE)
        add_test(NAME package.text COMMAND Python3::Interpreter
            ${PROJECT_SOURCE_DIR}/tests/package/text_test.py ${KAIROS_SIZE} ${CMAKE_READELF}
            $<TARGET_FILE:hello_server> $<TARGET_FILE_DIR:kairos-shared>
            $<IF:$<CONFIG:Release>,1600000,2145000>)
        set_tests_properties(package.text PROPERTIES TIMEOUT ${KAIROS_TEST_SECONDS})
    endif()
    add_test(NAME package.test_code COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tests/package/test_code_test.py ${CMAKE_NM} ${CMAKE_AR}
        $<TARGET_FILE:net_faults> ${files})
    set_tests_properties(package.test_code PROPERTIES TIMEOUT ${KAIROS_TEST_SECONDS})
endif()
