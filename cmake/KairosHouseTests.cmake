# SPDX-License-Identifier: Apache-2.0
#
# The tests of the house itself rather than of a module: the rules of the tree (tools/tidy.py), that
# tidy.py still finds what it should, that the installed package serves a project of its own.
find_package(Python3 REQUIRED COMPONENTS Interpreter)

add_test(NAME tidy COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy.py
    --root ${PROJECT_SOURCE_DIR})
add_test(NAME tidy.rules COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/tidy_test.py)
add_test(NAME readme COMMAND Python3::Interpreter ${PROJECT_SOURCE_DIR}/tools/readme.py)
set_tests_properties(tidy tidy.rules readme PROPERTIES TIMEOUT 60)

# A ThreadSanitizer build holds only the concurrent tests; there is nothing to install then.
if(TARGET kairos-idl AND TARGET kairos_corba AND NOT KAIROS_SANITIZE MATCHES thread)
    add_test(NAME package COMMAND Python3::Interpreter
        ${PROJECT_SOURCE_DIR}/tests/package/package_test.py --cmake ${CMAKE_COMMAND}
        --build ${PROJECT_BINARY_DIR} --compiler ${CMAKE_CXX_COMPILER}
        --build-type ${CMAKE_BUILD_TYPE} "--sanitize=${KAIROS_SANITIZE}")
    set_tests_properties(package PROPERTIES TIMEOUT 900 PROCESSORS 2)
endif()
