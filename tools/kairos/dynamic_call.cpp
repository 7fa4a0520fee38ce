// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/dynamic_call.h"
#include "tools/kairos/failure.h"

#include "tools/kairos/idl_text.h"

#include <cstddef>
#include <fmt/format.h>
#include <stdexcept>

namespace kairos::tools {
namespace {

} // namespace

std::vector<const KnownParameter*> given(const KnownOperation& operation)
{
    std::vector<const KnownParameter*> parameters;
    for (const KnownParameter& parameter : operation.parameters)
        if (parameter.is_given()) parameters.push_back(&parameter);
    return parameters;
}

std::vector<Json> arguments_in_json(const Json& all, const KnownOperation& operation)
{
    const auto parameters = given(operation);
    if (!all.is_array() && !all.is_object()) fail("the arguments are an array or an object");
    if (all.size() != parameters.size())
        fail(fmt::format("{} takes {} arguments, not {}", idl_of(operation), parameters.size(),
                         all.size()));
    std::vector<Json> values;
    for (std::size_t i = 0; i < parameters.size(); ++i) {
        if (all.is_array()) {
            values.push_back(all[i]);
            continue;
        }
        const auto found = all.find(parameters[i]->name);
        if (found == all.end())
            fail(fmt::format("the argument '{}' is missing", parameters[i]->name));
        values.push_back(*found);
    }
    return values;
}

CORBA::Request_var request_of(CORBA::Object_ptr object, const KnownOperation& operation,
                              const std::vector<Json>& values, const ValueJson& forms)
{
    CORBA::Request_var request = object->_request(operation.wire_name.c_str());
    auto value = values.begin();
    for (const KnownParameter& parameter : operation.parameters) {
        if (!parameter.is_given()) {
            request->add_out_arg(parameter.name.c_str()).replace(parameter.type.in(), nullptr);
            continue;
        }
        CORBA::Any_var any;
        try {
            any = forms.value_of(*value++, parameter.type.in());
        } catch (const std::runtime_error& error) {
            fail(fmt::format("argument '{}': {}", parameter.name, error.what()));
        }
        (parameter.direction == KnownParameter::Direction::in
             ? request->add_in_arg(parameter.name.c_str())
             : request->add_inout_arg(parameter.name.c_str())) = any.in();
    }
    for (const CORBA::TypeCode_var& exception : operation.raises)
        request->exceptions()->add(exception.in());
    for (const std::string& context : operation.contexts)
        request->contexts()->add(context.c_str());
    request->set_return_type(operation.result.in());
    return request;
}

Json results_of(const KnownOperation& operation, CORBA::Request_ptr request, const ValueJson& forms)
{
    Json results = Json::object();
    if (operation.result->kind() != CORBA::tk_void)
        results["result"] = forms.json_of(request->return_value());
    for (std::size_t i = 0; i < operation.parameters.size(); ++i) {
        const KnownParameter& parameter = operation.parameters[i];
        if (parameter.direction == KnownParameter::Direction::in) continue;
        const CORBA::NamedValue_ptr item = request->arguments()->item(static_cast<CORBA::ULong>(i));
        results["out"][parameter.name] = forms.json_of(*item->value());
    }
    return results;
}

} // namespace kairos::tools
