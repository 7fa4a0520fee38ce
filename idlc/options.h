// SPDX-License-Identifier: Apache-2.0
//
// What the command line of kairos-idl says. main.cpp fills it; the front end reads the first part,
// back ends the second.
#pragma once

#include "idlc/marshal_choice.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace kairos::idlc {

class Profile;

/// How skeletons find their operations (paper 000 §5.3).
enum class OperationDemux { perfect, hash, linear, delayered };

struct Options {
    // The front end's.
    std::vector<std::string> files{};
    std::vector<std::string> include_directories{}; ///< -I, searched in order
    std::vector<std::string> defines{};             ///< -D, "NAME" or "NAME=VALUE"
    std::vector<std::string> undefines{};           ///< -U
    bool preprocess_only = false;                   ///< -E
    bool check_only = false;                        ///< --check

    // The back end's.
    std::string output_directory = "."; ///< -o
    std::string root{}; ///< --root: folders below it are kept in names; empty: none are
    std::vector<std::string> root_files{}; ///< --with: those of which that is so; empty: all
    std::string header_suffix = ".h";
    std::string source_suffix = ".cpp";
    std::string skel_header_suffix = "_skel.h"; ///< empty: the header declares skeletons, too
    std::string skel_source_suffix = "_skel.cpp";
    Engine marshal = Engine::compiled;                        ///< where the IDL does not say
    OperationDemux operation_demux = OperationDemux::perfect; ///< of all skeletons
    bool instrument = false;                    ///< measure marshalling, all of it compiled
    std::vector<std::string> profiles{};        ///< --profile: files of measurements
    const Profile* profile = nullptr;           ///< what they say, borrowed; null without any
    std::optional<std::uint32_t> code_budget{}; ///< bytes of object code, for --profile
    std::string export_macro{};                 ///< in front of the names of classes
    std::string export_include{};               ///< the header that defines it
    std::vector<std::string> header_includes{}; ///< --include: what the header includes first
    bool any = true;                            ///< TypeCodes, and insertion into Any
    bool of_run_time = false; ///< --run-time: the IDL is Kairos's own (provider.h)
    std::string depfile{};    ///< a make rule of what was read; empty for none
};

} // namespace kairos::idlc
