// SPDX-License-Identifier: Apache-2.0
//
// What --ami, --amh and --async add to generated code: nothing where the command line does not ask
// for it. The interfaces that these imply are described in implied_ami.h and implied_amh.h.
#pragma once

#include "idlc/cpp/emitters.h"

#include <string>
#include <vector>

namespace kairos::idlc {

/// emit_ami.cpp: the sendc_ functions of an interface's class: declarations and definitions.
[[nodiscard]] bool has_asynchronous_calls(const Source& source);
void emit_asynchronous_declarations(const Source& source, const Interface& interface, Text& out);
void emit_asynchronous_calls(const Source& source, const Interface& interface, Text& out);
/// emit_ami.cpp: makes the file's exceptions known to holders of exceptions.
void emit_known_exceptions(const Source& source, Text& out);
/// emit_ami.cpp: the parameters of what sends a request, which has a handler in front where there
/// is one; and what encodes them into `_call.out()`.
[[nodiscard]] std::string sent_list(const Source& source, const Call& call,
                                    const Interface* handler);
void emit_sent_arguments(const Source& source, const Call& call, Text& out);
/// emit_ami.cpp: what a parameter is called so that it hides nothing.
[[nodiscard]] std::string unhidden_name(const Source& source, const std::string& name);

/// emit_amh.cpp: the servants that answer later: the class, and its functions.
[[nodiscard]] bool has_late_answers(const Source& source);
void emit_amh_class(const Source& source, const Interface& interface, Text& out);
void emit_amh_servant(const Source& source, const Interface& interface, Text& out,
                      Diagnostics& diagnostics);
/// emit_amh.cpp: the class of a holder of exceptions, if the value is that of a response handler;
/// returns whether it is.
[[nodiscard]] bool emit_response_holder(const Source& source, const ValueType& value, Text& out);

/// emit_async.cpp: calls that coroutines await: declarations within an interface's class, and
/// definitions.
[[nodiscard]] bool has_awaited_calls(const Source& source);
void emit_async_declarations(const Source& source, const Interface& interface, Text& out);
void emit_async_calls(const Source& source, const Interface& interface, Text& out);
/// emit_async.cpp: the results of a call as they are called and owned, and the type of all of them:
/// what `co_await` gives, and a servant's `co_return` takes.
[[nodiscard]] std::vector<Parameter> awaited_results(const Call& call);
[[nodiscard]] std::string owner_type(const Parameter& parameter);
[[nodiscard]] std::string awaited_type(const Call& call);
/// emit_async_servant.cpp: the servants whose operations are coroutines: the class, and its
/// functions.
[[nodiscard]] bool has_coroutine_servants(const Source& source);
void emit_async_class(const Source& source, const Interface& interface, Text& out);
void emit_async_servant(const Source& source, const Interface& interface, Text& out,
                        Diagnostics& diagnostics);

/// emit_amh.cpp: how the class of servants of either kind begins, whose bases are of the same kind,
/// and how it ends, behind the operations.
void begin_servant(const Source& source, const Interface& interface, ServantName class_of,
                   Text& out);
void end_servant(const Source& source, const Interface& interface, Text& out);

} // namespace kairos::idlc
