// SPDX-License-Identifier: Apache-2.0
//
// The stages of the front end, one after the other.
#include "idlc/frontend.h"

#include "idlc/implied_amh.h"
#include "idlc/implied_ami.h"
#include "idlc/lex.h"
#include "idlc/parse.h"
#include "idlc/uses.h"

namespace kairos::idlc {

bool Compilation::compile_file(const std::string& path)
{
    preprocessed_ = preprocess(path, options_, unit_.files, texts_, diagnostics_);
    // Without an included file nearly everything after it would be unknown: stop here.
    if (diagnostics_.error_count() > 0) return false;
    return parse();
}

bool Compilation::compile_text(std::string text, const std::string& path)
{
    texts_.give(path, text);
    preprocessed_ = interpret_markers(std::move(text), path, unit_.files, texts_);
    return parse();
}

bool Compilation::preprocess_file(const std::string& path, std::string& out)
{
    preprocessed_ = preprocess(path, options_, unit_.files, texts_, diagnostics_);
    out = with_markers(preprocessed_, unit_.files);
    return diagnostics_.error_count() == 0;
}

bool Compilation::parse()
{
    for (std::uint32_t i = 1; i < unit_.files.size(); ++i)
        if (unit_.files[i].includer && unit_.files[i].includer->file == 0)
            unit_.direct_includes.push_back(i);
    unit_.of_run_time = options_.of_run_time;
    unit_.has_awaited_calls = options_.async;
    Lexer lexer(preprocessed_, unit_.files, texts_, diagnostics_);
    Parser(unit_, lexer, diagnostics_).parse();
    if (options_.ami && diagnostics_.error_count() == 0) imply_ami(unit_);
    if (options_.amh && diagnostics_.error_count() == 0) imply_amh(unit_);
    check_locality(unit_, diagnostics_);
    timings_ = read_timings(unit_, diagnostics_);
    preprocessed_ = {}; // the model owns all it needs
    return diagnostics_.error_count() == 0;
}

} // namespace kairos::idlc
