// SPDX-License-Identifier: Apache-2.0
//
// What the command line says to the C++ back end alone.
#pragma once

#include "idlc/marshal_choice.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
}

namespace kairos::idlc {

class Profile;

/// How skeletons find their operations (paper 000 §5.3).
enum class OperationDemux { perfect, hash, linear, delayered };

struct CppOptions {
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
    bool smart_proxies = false;                 ///< TAO's, beside the stubs
    bool tao = false;                           ///< --style tao: idioms of its generated code
    bool any = true;                            ///< TypeCodes, and insertion into Any
};

/// Adds the options to the command line, which writes into them.
void add_cpp_options(CLI::App& app, CppOptions& options);

} // namespace kairos::idlc
