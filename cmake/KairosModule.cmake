# SPDX-License-Identifier: Apache-2.0
#
# The helpers every folder's CMakeLists.txt is written with: a module, a unit test, a benchmark or
# a fuzz target is one line beside the code it is about.

add_library(kairos_flags INTERFACE)
target_compile_options(kairos_flags INTERFACE -Wall -Wextra -Wconversion -Wshadow -Wnon-virtual-dtor
    -Woverloaded-virtual $<$<CXX_COMPILER_ID:Clang>:-Wno-sign-conversion> # as g++'s -Wconversion
    $<$<BOOL:${KAIROS_WERROR}>:-Werror>)
if(CMAKE_UNITY_BUILD AND KAIROS_SANITIZE) # a file's name may well be another's local variable
    target_compile_options(kairos_flags INTERFACE -Wno-shadow)
endif()
# Compiles files of these targets several at a time in every build: they are tools, which nobody
# measures, and half of what a release compiles.
function(kairos_compile_together)
    if(NOT CMAKE_UNITY_BUILD)
        set_target_properties(${ARGV} PROPERTIES UNITY_BUILD ON)
    endif()
endfunction()
# Of what goes into libraries: programs see what is marked KAIROS_API, what is not asked for can be
# left out, and the libraries' own calls cannot be taken over by others' functions. A class that
# another library of ours uses may well have members of hidden types: we build them all together.
# Sanitizers want to know classes that nobody else does: with them everything is visible.
add_library(kairos_library_flags INTERFACE)
target_compile_options(kairos_library_flags INTERFACE -fno-semantic-interposition -Wno-attributes)
if(NOT KAIROS_SANITIZE AND NOT KAIROS_FUZZ)
    target_compile_options(kairos_library_flags INTERFACE -ffunction-sections -fdata-sections
        -fvisibility=hidden -fvisibility-inlines-hidden)
endif()
if(KAIROS_SANITIZE)
    add_compile_options(-fsanitize=${KAIROS_SANITIZE} -fno-omit-frame-pointer
        -fno-sanitize-recover=all)
    set(KAIROS_SANITIZE_LINK_OPTIONS -fsanitize=${KAIROS_SANITIZE})
    if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
        if(KAIROS_SANITIZE STREQUAL thread)
            set(runtime tsan)
            add_compile_definitions(__SANITIZE_THREAD__) # as g++ says it
        else()
            set(runtime asan)
            add_compile_definitions(__SANITIZE_ADDRESS__)
        endif()
        # The run time is a library, as g++'s is: programs may have an operator new of their own.
        execute_process(COMMAND ${CMAKE_CXX_COMPILER}
                -print-file-name=libclang_rt.${runtime}-x86_64.so
            OUTPUT_VARIABLE runtime OUTPUT_STRIP_TRAILING_WHITESPACE COMMAND_ERROR_IS_FATAL ANY)
        cmake_path(GET runtime PARENT_PATH runtime)
        list(APPEND KAIROS_SANITIZE_LINK_OPTIONS -fuse-ld=lld -shared-libsan -Wl,-rpath,${runtime})
    endif()
    add_link_options(${KAIROS_SANITIZE_LINK_OPTIONS})
endif()
if(KAIROS_FUZZ)
    add_compile_options(-fsanitize=fuzzer-no-link,address,undefined -fno-sanitize-recover=all)
    add_link_options(-fsanitize=address,undefined)
endif()

# A compiler cache is used when there is one; a launcher given on the command line wins.
find_program(KAIROS_CCACHE ccache)
mark_as_advanced(KAIROS_CCACHE)
foreach(language C CXX)
    if(KAIROS_CCACHE AND NOT DEFINED CMAKE_${language}_COMPILER_LAUNCHER)
        set(CMAKE_${language}_COMPILER_LAUNCHER ${KAIROS_CCACHE})
    endif()
endforeach()

# g++ reads a precompiled header in half a second and gives every test the header's functions again;
# clang takes a third of the time, or less. What is looked at for what it does only, the tests and
# the programs that they start, is compiled by it, where KAIROS_TEST_COMPILER says so and it is
# there.
set(KAIROS_TESTS_BY_CLANG OFF)
set(KAIROS_TEST_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
set(KAIROS_TEST_LINK_OPTIONS "")
if(CMAKE_CXX_COMPILER_ID MATCHES Clang)
    set(KAIROS_TESTS_BY_CLANG ON)
elseif(KAIROS_TEST_COMPILER)
    find_program(KAIROS_TEST_COMPILER_FOUND ${KAIROS_TEST_COMPILER})
    mark_as_advanced(KAIROS_TEST_COMPILER_FOUND)
    if(KAIROS_TEST_COMPILER_FOUND)
        set(KAIROS_TESTS_BY_CLANG ON)
        if(NOT KAIROS_TEST_LAUNCHER)
            set(KAIROS_TEST_LAUNCHER env)
        endif()
        set(KAIROS_TEST_LAUNCHER ${PROJECT_SOURCE_DIR}/cmake/by_clang.sh ${KAIROS_TEST_LAUNCHER}
            ${KAIROS_TEST_COMPILER_FOUND})
        # That clang's linker, where it has one, takes a quarter of the time of g++'s.
        file(REAL_PATH ${KAIROS_TEST_COMPILER_FOUND} directory)
        cmake_path(GET directory PARENT_PATH directory)
        if(EXISTS ${directory}/ld.lld)
            set(KAIROS_TEST_LINK_OPTIONS -B${directory} -fuse-ld=lld)
        endif()
    endif()
endif()

find_package(Threads REQUIRED)
if(KAIROS_TESTS)
    find_package(GTest REQUIRED)
    include(GoogleTest)
endif()

if(KAIROS_TOOLS)
    find_package(benchmark QUIET)
endif()

# What `make tsan` and `make fuzz` build: exactly the programs they run. A concurrent test that
# starts another program says so with add_dependencies(<test target> <program>).
add_custom_target(concurrent_tests)
add_custom_target(fuzz_targets)

# gcc would give every file std::string's functions once more, each a little changed. A source with
# options of its own is always compiled alone: so there are none where they would say nothing.
set(KAIROS_SMALL_OPTIONS "")
if(CMAKE_BUILD_TYPE STREQUAL Release)
    set(KAIROS_SMALL_OPTIONS -Os $<$<CXX_COMPILER_ID:GNU>:-fno-ipa-sra>)
endif()

set(KAIROS_MODULE_KIND STATIC)
set(KAIROS_MODULE_DIRECTORY ${PROJECT_BINARY_DIR}/modules)
if(KAIROS_SANITIZE)
    set(KAIROS_MODULE_KIND SHARED)
    set(CMAKE_INSTALL_RPATH ${KAIROS_MODULE_DIRECTORY}) # where installed programs find them as well
endif()

# kairos_module(name SOURCES a.cpp … [SMALL b.cpp …] HEADERS a.h … DEPENDS base cdr …)
# One module of kairos/: its objects, and of them the archive kairos_<name>, which stays in the
# build tree (KairosLibrary.cmake makes what is installed). Its public headers are exactly HEADERS.
# With sanitizers it is a shared library: a copy of it in every test took 15 GB of disk.
# SMALL is what no call goes through: a release compiles it for size, which is what it costs. The
# other sources of such a module are compiled one by one, as a release does it, also by presets that
# compile several at a time: their figures are looked at.
function(kairos_module name)
    cmake_parse_arguments(ARG "" "" "SOURCES;SMALL;HEADERS;DEPENDS" ${ARGN})
    add_library(kairos_${name} ${KAIROS_MODULE_KIND} ${ARG_SOURCES} ${ARG_SMALL})
    if(ARG_SMALL AND NOT KAIROS_SANITIZE)
        set_source_files_properties(${ARG_SOURCES} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    if(KAIROS_SMALL_OPTIONS)
        set_source_files_properties(${ARG_SMALL} PROPERTIES
            COMPILE_OPTIONS "${KAIROS_SMALL_OPTIONS}")
    endif()
    target_sources(kairos_${name} PUBLIC FILE_SET HEADERS BASE_DIRS ${PROJECT_SOURCE_DIR}
        FILES ${ARG_HEADERS})
    target_compile_features(kairos_${name} PUBLIC cxx_std_20)
    list(TRANSFORM ARG_DEPENDS PREPEND kairos_)
    target_link_libraries(kairos_${name} PUBLIC ${ARG_DEPENDS} PRIVATE kairos_flags
        kairos_library_flags)
    set_target_properties(kairos_${name} PROPERTIES INTERFACE_KAIROS_LINKAGE internals
        LIBRARY_OUTPUT_DIRECTORY ${KAIROS_MODULE_DIRECTORY}
        COMPATIBLE_INTERFACE_STRING KAIROS_LINKAGE)
    install(FILES ${ARG_HEADERS} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kairos/${name}
        COMPONENT development)
endfunction()

# kairos_module_idl(name foo.idl suffix [option …])
# What module `name` has of the OMG's IDL in idl/, generated into the module's place: <kairos/name/
# foo<suffix>.h> and foo<suffix>_skel.h. Small rather than fast: nobody calls these often.
function(kairos_module_idl name idl suffix)
    set(source ${PROJECT_SOURCE_DIR}/idl/${idl})
    set(output ${PROJECT_BINARY_DIR}/gen/kairos/${name})
    file(MAKE_DIRECTORY ${output})
    get_filename_component(stem ${idl} NAME_WLE)
    set(headers ${output}/${stem}${suffix}.h ${output}/${stem}${suffix}_skel.h)
    set(sources ${output}/${stem}${suffix}.cpp ${output}/${stem}${suffix}_skel.cpp)
    file(GLOB all_idl CONFIGURE_DEPENDS ${PROJECT_SOURCE_DIR}/idl/*.idl)
    add_custom_command(OUTPUT ${headers} ${sources}
        COMMAND kairos-idl --run-time --marshal=interpretive --header-suffix ${suffix}.h
            --source-suffix ${suffix}.cpp --skel-header-suffix ${suffix}_skel.h
            --skel-source-suffix ${suffix}_skel.cpp
            --export-macro KAIROS_API --export-include kairos/base/export.h
            -o ${output} ${ARGN} ${source}
        DEPENDS kairos-idl ${all_idl} COMMENT "kairos-idl ${idl}" VERBATIM)
    target_sources(kairos_${name} PRIVATE ${sources} ${headers})
    if(NOT KAIROS_SANITIZE)
        set_source_files_properties(${sources} PROPERTIES SKIP_UNITY_BUILD_INCLUSION ON)
    endif()
    if(KAIROS_SMALL_OPTIONS)
        set_source_files_properties(${sources} PROPERTIES
            COMPILE_OPTIONS "${KAIROS_SMALL_OPTIONS}")
    endif()
    # Generated code says "foo.h" of the IDL it includes.
    target_include_directories(kairos_${name} PUBLIC ${PROJECT_BINARY_DIR}/gen ${output})
    set_target_properties(kairos_${name} PROPERTIES KAIROS_GENERATED_HEADERS ${output})
    install(FILES ${headers} DESTINATION ${CMAKE_INSTALL_INCLUDEDIR}/kairos/${name}
        COMPONENT development)
endfunction()

# A test that takes longer hangs. Sanitizers take several times as long, on a busy machine more.
set(KAIROS_TEST_SECONDS 120)
if(KAIROS_SANITIZE)
    set(KAIROS_TEST_SECONDS 400)
endif()

# kairos_precompiled(name [LIBS target …] HEADERS <header> …)
# Headers that many tests read, read once: GoogleTest's alone is 100,000 lines. A test has those
# that a fixture among its LIBS names by the property KAIROS_PRECOMPILED, or the general ones.
# ccache keeps what includes it only where CCACHE_SLOPPINESS has pch_defines and time_macros, as in
# the Makefile. clang compiles the headers' functions once, too, for all who link <name>_code.
function(kairos_precompiled name)
    cmake_parse_arguments(ARG "" "" "LIBS;HEADERS" ${ARGN})
    add_executable(${name} EXCLUDE_FROM_ALL ${PROJECT_BINARY_DIR}/precompiled.cpp)
    set(launcher ${KAIROS_TEST_LAUNCHER})
    if(launcher AND CMAKE_CXX_COMPILER_ID MATCHES Clang)
        list(PREPEND launcher ${PROJECT_SOURCE_DIR}/cmake/precompile.sh)
    endif()
    set_target_properties(${name} PROPERTIES UNITY_BUILD OFF CXX_COMPILER_LAUNCHER "${launcher}")
    target_link_libraries(${name} PRIVATE kairos_flags GTest::gtest ${ARG_LIBS})
    target_precompile_headers(${name} PRIVATE <gtest/gtest.h> <algorithm> <atomic> <chrono>
        <condition_variable> <functional> <map> <memory> <mutex> <optional> <sstream> <string>
        <thread> <vector> ${ARG_HEADERS})
    target_compile_options(${name} PRIVATE ${KAIROS_PRECOMPILED_OPTIONS})
    if(NOT KAIROS_TESTS_BY_CLANG)
        add_library(${name}_code INTERFACE)
        return()
    endif()
    # Without its headers' times: a compiler cache serves clones, which have others.
    target_compile_options(${name} PRIVATE "SHELL:-Xclang -fno-pch-timestamp" -ffunction-sections)
    # Of the header alone: precompiled.cpp would have all its functions, too.
    set_source_files_properties(${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.cxx
        PROPERTIES COMPILE_OPTIONS
        "-Xclang;-building-pch-with-obj;-Xclang;-fmodules-codegen")
    # Inline functions may call what GoogleTest's library has not (it prints no char8_t).
    target_link_options(${name} PRIVATE -Wl,--gc-sections)
    cmake_path(RELATIVE_PATH CMAKE_CURRENT_BINARY_DIR BASE_DIRECTORY ${PROJECT_BINARY_DIR}
        OUTPUT_VARIABLE folder)
    set(compiler ${CMAKE_CXX_COMPILER})
    set(suffix pch)
    if(NOT CMAKE_CXX_COMPILER_ID MATCHES Clang)
        set(compiler ${KAIROS_TEST_COMPILER_FOUND} -gdwarf-4)
        set(suffix gch)
        # CMake says so to a clang that it knows of. Functions that are instantiated later take
        # {a, b} for a call of a constructor, as if there were no initializer_list.
        target_compile_options(${name} PRIVATE -fpch-instantiate-templates)
    endif()
    set(precompiled ${CMAKE_CURRENT_BINARY_DIR}/CMakeFiles/${name}.dir/cmake_pch.hxx.${suffix})
    get_directory_property(options COMPILE_OPTIONS)
    string(TOUPPER CMAKE_CXX_FLAGS_${CMAKE_BUILD_TYPE} flags)
    separate_arguments(flags UNIX_COMMAND "${${flags}}")
    add_custom_command(OUTPUT ${name}.o
        COMMAND ${compiler} ${flags} -std=c++20 -fPIE ${options} ${KAIROS_TEST_OPTIONS}
            -ffunction-sections -c ${precompiled} -o ${name}.o
        DEPENDS ${precompiled} COMMENT "Compiling ${folder}/${name}'s functions" VERBATIM)
    add_library(${name}_code STATIC ${name}.o)
    set_target_properties(${name}_code PROPERTIES LINKER_LANGUAGE CXX)
    target_link_libraries(${name}_code PUBLIC GTest::gtest ${ARG_LIBS})
    target_link_options(${name}_code INTERFACE -Wl,--gc-sections)
endfunction()

if(KAIROS_TESTS)
    file(CONFIGURE OUTPUT ${PROJECT_BINARY_DIR}/precompiled.cpp CONTENT "int main() {}\n")
    set(KAIROS_PRECOMPILED_OPTIONS ${KAIROS_TEST_OPTIONS})
    if(NOT KAIROS_TESTS_BY_CLANG)
        list(APPEND KAIROS_PRECOMPILED_OPTIONS -fpch-preprocess)
    endif()
    kairos_precompiled(kairos_test_precompiled)
endif()

# kairos_test(module.subject file_test.cpp … [LIBS target …] [CONCURRENT] [LONG])
# A GoogleTest program. CONCURRENT labels it for the ThreadSanitizer run. LONG is what takes half a
# minute in any configuration: begun first, it does not run alone at the end. Other tests say COST.
function(kairos_test name)
    if(NOT KAIROS_TESTS)
        return()
    endif()
    cmake_parse_arguments(ARG "CONCURRENT;LONG" "" "LIBS" ${ARGN})
    string(REPLACE "." "_" target ${name}_test)
    add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
    # Most have one source; g++ does not want a fixture of what only its file sees in a header.
    set_target_properties(${target} PROPERTIES UNITY_BUILD OFF
        CXX_COMPILER_LAUNCHER "${KAIROS_TEST_LAUNCHER}")
    target_compile_options(${target} PRIVATE ${KAIROS_PRECOMPILED_OPTIONS})
    target_link_options(${target} PRIVATE ${KAIROS_TEST_LINK_OPTIONS})
    set(precompiled kairos_test_precompiled)
    foreach(library IN LISTS ARG_LIBS)
        if(TARGET ${library})
            get_target_property(fixture ${library} KAIROS_PRECOMPILED)
            if(fixture)
                set(precompiled ${fixture})
            endif()
        endif()
    endforeach()
    target_precompile_headers(${target} REUSE_FROM ${precompiled})
    set_target_properties(${target} PROPERTIES KAIROS_INTERNALS ON)
    target_link_libraries(${target} PRIVATE kairos_flags ${ARG_LIBS} ${precompiled}_code
        GTest::gtest GTest::gtest_main)
    # One ctest entry per program: starting a process per test case would cost more than the cases.
    add_test(NAME ${name} COMMAND ${target})
    set_tests_properties(${name} PROPERTIES TIMEOUT ${KAIROS_TEST_SECONDS})
    if(ARG_LONG)
        set_tests_properties(${name} PROPERTIES COST 50)
    endif()
    if(ARG_CONCURRENT)
        set_tests_properties(${name} PROPERTIES LABELS concurrent)
        add_dependencies(concurrent_tests ${target})
    endif()
endfunction()

# kairos_micro_bench(module.subject file_bench.cpp … [LIBS target …])
# A Google Benchmark program, where that is installed. As a test it runs for a moment, so that it
# does not rot; what it says then is no measurement.
function(kairos_micro_bench name)
    if(NOT benchmark_FOUND)
        return()
    endif()
    cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
    string(REPLACE "." "_" target ${name}_bench)
    add_executable(${target} ${ARG_UNPARSED_ARGUMENTS})
    set_target_properties(${target} PROPERTIES KAIROS_INTERNALS ON)
    target_link_libraries(${target} PRIVATE kairos_flags ${ARG_LIBS} benchmark::benchmark)
    if(KAIROS_TESTS AND NOT KAIROS_SANITIZE)
        add_test(NAME micro_bench.${name} COMMAND ${target} --benchmark_min_time=0.001)
        set_tests_properties(micro_bench.${name} PROPERTIES TIMEOUT ${KAIROS_TEST_SECONDS})
    endif()
endfunction()

# kairos_fuzz(module.subject file_fuzz.cpp [LIBS target …])
# A libFuzzer target. Without KAIROS_FUZZ it is linked with a small main that replays
# fuzz/corpus/<module.subject>/ as an ordinary test. Both run it within the bounds of fuzz/bounds.h.
function(kairos_fuzz name)
    cmake_parse_arguments(ARG "" "" "LIBS" ${ARGN})
    string(REPLACE "." "_" target ${name}_fuzz)
    set(corpus ${PROJECT_SOURCE_DIR}/fuzz/corpus/${name})
    if(NOT KAIROS_FUZZ AND NOT KAIROS_TESTS)
        return()
    endif()
    add_executable(${target} ${ARG_UNPARSED_ARGUMENTS} $<TARGET_OBJECTS:kairos_fuzz_harness>)
    list(GET ARG_UNPARSED_ARGUMENTS 0 source)
    set_source_files_properties(${source} PROPERTIES
        COMPILE_DEFINITIONS LLVMFuzzerTestOneInput=kairos_fuzz_input)
    set_target_properties(${target} PROPERTIES KAIROS_INTERNALS ON
        CXX_COMPILER_LAUNCHER "${KAIROS_TEST_LAUNCHER}")
    target_include_directories(${target} PRIVATE ${PROJECT_SOURCE_DIR})
    target_compile_options(${target} PRIVATE ${KAIROS_TEST_OPTIONS})
    target_link_options(${target} PRIVATE ${KAIROS_TEST_LINK_OPTIONS})
    target_link_libraries(${target} PRIVATE kairos_flags ${ARG_LIBS})
    if(KAIROS_FUZZ)
        target_link_options(${target} PRIVATE -fsanitize=fuzzer ${KAIROS_FUZZ_WRAPPED})
        add_dependencies(fuzz_targets ${target})
        set_property(GLOBAL APPEND PROPERTY KAIROS_FUZZ_TARGETS ${name})
    else()
        add_test(NAME fuzz.${name} COMMAND ${target} ${corpus})
        set_tests_properties(fuzz.${name} PROPERTIES TIMEOUT ${KAIROS_TEST_SECONDS})
    endif()
endfunction()

# What every fuzz target is linked with, compiled once.
if(KAIROS_FUZZ)
    add_library(kairos_fuzz_harness OBJECT ${PROJECT_SOURCE_DIR}/fuzz/bounds.cpp)
    # Not counted itself.
    target_compile_options(kairos_fuzz_harness PRIVATE -O2 -fno-sanitize=fuzzer-no-link)
    target_compile_definitions(kairos_fuzz_harness PRIVATE KAIROS_FUZZ)
    set(KAIROS_FUZZ_WRAPPED "")
    foreach(width 1 2 4 8)
        list(APPEND KAIROS_FUZZ_WRAPPED -Wl,--wrap=__sanitizer_cov_trace_cmp${width}
            -Wl,--wrap=__sanitizer_cov_trace_const_cmp${width})
    endforeach()
    list(APPEND KAIROS_FUZZ_WRAPPED -Wl,--wrap=__sanitizer_cov_trace_switch)
elseif(KAIROS_TESTS)
    add_library(kairos_fuzz_harness OBJECT ${PROJECT_SOURCE_DIR}/fuzz/bounds.cpp
        ${PROJECT_SOURCE_DIR}/fuzz/replay_main.cpp)
endif()
if(TARGET kairos_fuzz_harness)
    target_include_directories(kairos_fuzz_harness PRIVATE ${PROJECT_SOURCE_DIR})
    target_link_libraries(kairos_fuzz_harness PRIVATE kairos_flags)
endif()

# kairos_list_fuzz_targets()
# Writes "name program" lines for fuzz/run.py; called once, after every folder has been read.
function(kairos_list_fuzz_targets)
    get_property(names GLOBAL PROPERTY KAIROS_FUZZ_TARGETS)
    set(lines "")
    foreach(name IN LISTS names)
        string(REPLACE "." "_" target ${name}_fuzz)
        string(APPEND lines "${name} $<TARGET_FILE:${target}>\n")
    endforeach()
    file(GENERATE OUTPUT ${PROJECT_BINARY_DIR}/fuzz-targets.txt CONTENT "${lines}")
endfunction()
