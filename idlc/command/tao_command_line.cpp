// SPDX-License-Identifier: Apache-2.0
#include "idlc/command/tao_command_line.h"

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace kairos::idlc {
namespace {

/// One of tao_idl's options.
struct Row {
    std::string_view name;
    enum class Kind {
        flag,    ///< becomes the flag `means`; empty: changes nothing here
        value,   ///< takes a value, as the option `means` does; empty: changes nothing here
        refused, ///< `means` says why
    } kind;
    std::string_view means{};
};
using Kind = Row::Kind;

constexpr std::string_view no_files = "no such files are written";

constexpr Row rows[] = {
    // Names of files.
    {"-hc", Kind::value, "--header-suffix"},
    {"-cs", Kind::value, "--source-suffix"},
    {"-hs", Kind::value, "--skel-header-suffix"},
    {"-ss", Kind::value, "--skel-source-suffix"},
    {"-ci", Kind::value},
    {"-si", Kind::value},
    {"-sI", Kind::value},
    {"-hI", Kind::value},
    {"-sT", Kind::value},
    {"-hT", Kind::value},
    {"-ST", Kind::value},
    {"-o", Kind::value, "-o"},
    {"-oS", Kind::refused, "skeletons go where stubs go; say -o"},
    {"-oA", Kind::refused, "operators of Any are in the files of the stubs"},
    {"-oE", Kind::refused, no_files},
    {"-oN", Kind::flag},
    // What is generated.
    {"-GC", Kind::flag, "--ami"},
    {"-GH", Kind::flag, "--amh"},
    {"-GI", Kind::refused, "implementations are the program's"},
    {"-GIh", Kind::refused, "implementations are the program's"},
    {"-GIs", Kind::refused, "implementations are the program's"},
    {"-Gsp", Kind::flag, "--smart-proxies"},
    {"-Gstl", Kind::refused, "the mapping is the classic one"},
    {"-GM", Kind::refused, "there is no AMI for connectors"},
    {"-Gcm", Kind::refused, "there is no CCM"},
    {"-Gce", Kind::refused, "there is no CCM"},
    {"-Gos", Kind::refused, "there are no operators of streams"},
    {"-Gxhst", Kind::refused, "no header for exports is written; -Wb,export_include names one"},
    {"-Gxhsk", Kind::refused, "no header for exports is written; -Wb,export_include names one"},
    {"-GA", Kind::flag}, // operators of Any are in the files of the stubs
    {"-GT", Kind::flag}, // templates of TIE are always there
    {"-Gd", Kind::flag},
    {"-Gp", Kind::flag},
    {"-Gt", Kind::flag},
    {"-Guc", Kind::flag},
    {"-Gse", Kind::flag},
    {"-Gsv", Kind::flag},
    {"-in", Kind::flag},
    {"-ic", Kind::flag},
    {"-as", Kind::flag},
    {"-ae", Kind::flag},
    {"-aw", Kind::flag},
    {"-b", Kind::flag},
    {"-Ce", Kind::flag},
    {"-Cw", Kind::flag},
    {"-d", Kind::flag},
    {"-v", Kind::flag},
    {"-w", Kind::flag},
    {"-Sci", Kind::flag},
    {"-Scc", Kind::flag},
    {"-Scdr", Kind::refused, "what is sent has to be encoded"},
    {"-Sd", Kind::flag},
    {"-Sg", Kind::flag},
    {"-Sm", Kind::flag},
    {"-Sorb", Kind::flag},
    {"-Sp", Kind::flag},
    {"-SS", Kind::flag}, // skeletons cost nothing where nothing refers to them
    {"-Ssi", Kind::flag},
    {"-SI", Kind::flag},
    {"-g", Kind::value},
    {"-t", Kind::value},
    {"-H", Kind::value},
    {"--idl-version", Kind::value},
    {"--unknown-annotations", Kind::value},
    {"--syntax-only", Kind::flag, "--check"},
    {"--no-fixed-err", Kind::flag},
    {"-V", Kind::flag, "--version"},
    {"-u", Kind::flag, "--help"},
};

constexpr std::string_view demuxing[][2] = {{"dynamic_hash", "hash"},
                                            {"perfect_hash", "perfect"},
                                            {"binary_search", "perfect"},
                                            {"linear_search", "linear"}};

class TaoTranslator {
  public:
    TaoCommandLine run(const std::vector<std::string>& arguments)
    {
        // TAO's generated headers include those of its ORB, which have more than the mapping.
        result_.arguments = {"--style", "tao", "--include", "kairos/compat/tao/tao.h"};
        for (next_ = 0; next_ < arguments.size() && result_.error.empty();)
            one(arguments);
        // Only both together are what we have: Any and TypeCodes go together.
        if (no_any_ && no_typecodes_)
            result_.arguments.emplace_back("--no-any");
        else if (no_any_ || no_typecodes_)
            result_.ignored.emplace_back(no_any_ ? "-Sa" : "-St");
        if (!export_macro_.empty()) push("--export-macro", export_macro_);
        if (export_include_.empty()) export_include_ = skel_include_;
        if (!export_include_.empty()) push("--export-include", export_include_);
        if (!skel_include_.empty() && skel_include_ != export_include_)
            push("--include", skel_include_);
        return std::move(result_);
    }

  private:
    void push(std::string_view option, std::string_view value)
    {
        result_.arguments.emplace_back(option);
        result_.arguments.emplace_back(value);
    }

    void one(const std::vector<std::string>& arguments)
    {
        const std::string& argument = arguments[next_++];
        const auto* const row = std::ranges::find(rows, argument, &Row::name);
        if (argument == "-Sa" || argument == "-Sal" || argument == "-St") {
            (argument == "-St" ? no_typecodes_ : no_any_) = true;
        } else if (argument.starts_with("-Wb,")) {
            parts(argument, &TaoTranslator::back_end);
        } else if (argument.starts_with("-Wp,")) {
            parts(argument, &TaoTranslator::preprocessor);
        } else if (row != std::end(rows)) {
            by_row(*row, arguments);
        } else if (argument.starts_with("-Y") || argument.starts_with("-Gx")) {
            result_.ignored.push_back(argument);
        } else if (argument.starts_with("-G") || argument.starts_with("-S")) {
            result_.error = argument + ": kairos-idl has nothing like it";
        } else {
            result_.arguments.push_back(argument); // -I, -D, -U, -E, files
        }
    }

    void by_row(const Row& row, const std::vector<std::string>& arguments)
    {
        const std::string name(row.name);
        if (row.kind == Kind::refused) {
            result_.error = name + ": " + std::string(row.means);
            return;
        }
        if (row.kind == Kind::flag) {
            if (row.means.empty())
                result_.ignored.push_back(name);
            else
                result_.arguments.emplace_back(row.means);
            return;
        }
        if (next_ == arguments.size()) {
            result_.error = name + " needs a value";
            return;
        }
        const std::string& value = arguments[next_++];
        if (name == "-H")
            demultiplexing(value);
        else if (row.means.empty())
            result_.ignored.push_back(name + " " + value);
        else
            push(row.means, value);
    }

    void demultiplexing(const std::string& value)
    {
        for (const auto& [theirs, ours] : demuxing)
            if (theirs == value) return push("--operation-demux", ours);
        result_.error = "-H " + value +
                        ": it is dynamic_hash, perfect_hash, binary_search or "
                        "linear_search";
    }

    /// Calls `each` for what stands between the commas behind the first one.
    void parts(const std::string& argument, void (TaoTranslator::*each)(const std::string&))
    {
        for (std::size_t begin = argument.find(','); begin != std::string::npos;) {
            const std::size_t end = argument.find(',', begin + 1);
            const std::string part =
                argument.substr(begin + 1, end == std::string::npos ? end : end - begin - 1);
            if (!part.empty()) (this->*each)(part);
            begin = end;
        }
    }

    void preprocessor(const std::string& part) { result_.arguments.push_back(part); }

    /// -Wb,export_macro=FOO_Export,export_include=Foo_Export.h
    void back_end(const std::string& part)
    {
        const std::size_t equals = part.find('=');
        const std::string name = part.substr(0, equals);
        const std::string value = equals == std::string::npos ? "" : part.substr(equals + 1);
        // One macro is for both; where they differ, that of the stubs.
        if (name == "export_macro" || name == "stub_export_macro" ||
            (name == "skel_export_macro" && export_macro_.empty()))
            export_macro_ = value;
        else if (name == "export_include" || name == "stub_export_include")
            export_include_ = value;
        else if (name == "skel_export_include") // programs have its macro from here
            skel_include_ = value;
        else if (name == "include_guard" || name == "safe_include" || name == "unique_include")
            result_.error = "-Wb," + part + ": generated headers are their own";
        else
            result_.ignored.push_back("-Wb," + part);
    }

    TaoCommandLine result_;
    std::size_t next_ = 0;
    bool no_any_ = false;
    bool no_typecodes_ = false;
    std::string export_macro_;
    std::string export_include_;
    std::string skel_include_;
};

} // namespace

bool is_tao_idl(std::string_view program)
{
    const std::size_t slash = program.rfind('/');
    return (slash == std::string_view::npos ? program : program.substr(slash + 1)) == "tao_idl";
}

TaoCommandLine translate_tao_idl(const std::vector<std::string>& arguments)
{
    return TaoTranslator().run(arguments);
}

} // namespace kairos::idlc
