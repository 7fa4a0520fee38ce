// SPDX-License-Identifier: Apache-2.0
//
// What the command line of kairos-idl says to everybody: to the front end, and about the files that
// any back end writes. command/main.cpp fills it. What a back end alone understands is its own
// (backend.h).
#pragma once

#include <string>
#include <vector>

namespace kairos::idlc {

/// How IDL is read.
struct Options {
    std::vector<std::string> files{};
    std::vector<std::string> include_directories{}; ///< -I, searched in order
    std::vector<std::string> defines{};             ///< -D, "NAME" or "NAME=VALUE"
    std::vector<std::string> undefines{};           ///< -U
    bool preprocess_only = false;                   ///< -E
    bool check_only = false;                        ///< --check
    bool of_run_time = false; ///< --run-time: the IDL is Kairos's own (provider.h)
    bool ami = false;         ///< --ami: with what asynchronous calls imply (implied_ami.h)
    bool amh = false;         ///< --amh: with servants that answer later (implied_amh.h)
    bool async = false;       ///< --async: with calls that coroutines await (implied_ami.h)
};

/// Where what is generated goes, and what it is called.
struct OutputOptions {
    std::string directory = "."; ///< -o
    std::string root{};          ///< --root: folders below it are kept in names; empty: none are
    std::vector<std::string> root_files{}; ///< --with: those of which that is so; empty: all
    std::string depfile{}; ///< --depfile: a make rule of what was read; empty for none
};

} // namespace kairos::idlc
