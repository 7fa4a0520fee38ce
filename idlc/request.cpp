// SPDX-License-Identifier: Apache-2.0
#include "idlc/request.h"

namespace kairos::idlc {
namespace {

const Type& void_type()
{
    static const Type type{};
    return type;
}

} // namespace

std::vector<Request> requests_of(const Declaration& declaration)
{
    std::vector<Request> requests;
    if (const auto* operation = as<Operation>(&declaration)) {
        requests.push_back({.declaration = operation,
                            .wire_name = operation->name,
                            .result = operation->result,
                            .parameters = operation->parameters,
                            .raises = operation->raises,
                            .oneway = operation->oneway,
                            .context = operation->context});
    } else if (const auto* attribute = as<Attribute>(&declaration)) {
        requests.push_back({.declaration = attribute,
                            .wire_name = "_get_" + attribute->name,
                            .result = attribute->type,
                            .raises = attribute->get_raises});
        if (!attribute->readonly)
            requests.push_back({.declaration = attribute,
                                .wire_name = "_set_" + attribute->name,
                                .result = &void_type(),
                                .parameters = {{.name = "value", .type = attribute->type}},
                                .raises = attribute->set_raises});
    }
    return requests;
}

} // namespace kairos::idlc
