// SPDX-License-Identifier: Apache-2.0
//
// What asynchronous calls imply of IDL that nobody has written (CORBA 3.3 part 1, 17.5 to 17.8):
// for each interface the one of its reply handlers and the valuetype of its pollers, in the same
// scope, so that all back ends make of them what they make of any. How the sendc_ and sendp_
// operations are called is here, too; they are not in the model, as they are in no skeleton.
#pragma once

#include "idlc/model.h"
#include "idlc/request.h"

#include <string>

namespace kairos::idlc {

/// Adds to every interface that can be called, but those whose C++ is installed already, its reply
/// handler and its poller. idl/MessagingAMI.idl must be among what the unit includes.
void imply_ami(Unit& unit);

/// Returns whether calls of the interface can be awaited: with --async, where they can be sent.
[[nodiscard]] bool is_awaited(const Unit& unit, const Interface& interface);

/// Returns whether there is an asynchronous form of the request: not of a oneway.
[[nodiscard]] bool is_asynchronous(const Request& request);
/// Returns what a request's reply is called in the handler: "add", "get_size", "set_size".
[[nodiscard]] std::string reply_name(const Request& request);
/// Returns what its failure is called there: "add_excep".
[[nodiscard]] std::string failure_name(const Request& request, const Interface& interface);
/// Returns what sends it: "sendc_add".
[[nodiscard]] std::string sendc_name(const Request& request, const Interface& interface);
/// Returns what sends it where the reply is polled: "sendp_add".
[[nodiscard]] std::string sendp_name(const Request& request, const Interface& interface);
/// Returns what an interface's class calls the function that is asked for calls to await: "async".
[[nodiscard]] std::string async_name(const Interface& interface);
/// Returns what a request is called there: "add", "get_size", "set_size".
[[nodiscard]] std::string awaited_name(const Request& request, const Interface& interface);
/// Returns the type of several results of an awaited call: "divide_results".
[[nodiscard]] std::string results_name(const Request& request, const Interface& interface);
/// Returns what is sent, as `in` parameters: in and inout ones; of an attribute "attr_size".
[[nodiscard]] std::vector<Parameter> sent_parameters(const Request& request);
/// Returns what comes back, as `in` parameters: the result as "ami_return_val", inout and out.
[[nodiscard]] std::vector<Parameter> replied_parameters(const Request& request);
/// Returns what a poller's operation has behind the timeout: the same as `out` parameters.
[[nodiscard]] std::vector<Parameter> polled_parameters(const Request& request);

} // namespace kairos::idlc
