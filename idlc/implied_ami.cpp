// SPDX-License-Identifier: Apache-2.0
#include "idlc/implied_ami.h"

#include "idlc/implied.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace kairos::idlc {
namespace {

std::unordered_set<std::string> names_of(const Interface& interface)
{
    std::unordered_set<std::string> names = names_in_scope(interface.declarations);
    for (const Interface* ancestor : interface.ancestors)
        names.merge(names_in_scope(ancestor->declarations));
    return names;
}

const Interface* find_interface(const Declarations& declarations, std::string_view scoped_name)
{
    for (const Declaration* declaration : declarations) {
        if (declaration->scoped_name == scoped_name)
            if (const auto* found = as<Interface>(declaration)) return found;
        if (const auto* module = as<Module>(declaration))
            if (const auto* found = find_interface(module->declarations, scoped_name)) return found;
    }
    return nullptr;
}

const ValueType* find_value(const Declarations& declarations, std::string_view scoped_name)
{
    for (const Declaration* declaration : declarations) {
        if (declaration->scoped_name == scoped_name)
            if (const auto* found = as<ValueType>(declaration)) return found;
        if (const auto* module = as<Module>(declaration))
            if (const auto* found = find_value(module->declarations, scoped_name)) return found;
    }
    return nullptr;
}

class Implication {
  public:
    Implication(Unit& unit, const Interface& reply_handler, const ValueType& exception_holder,
                const ValueType& poller)
        : unit_(unit), reply_handler_(reply_handler), poller_(poller),
          holder_(unit.add_type({.kind = TypeKind::declared, .declaration = &exception_holder}))
    {
    }

    void imply(Declarations& declarations)
    {
        std::unordered_set<std::string> taken = names_in_scope(declarations);
        Declarations all;
        for (const Declaration* declaration : declarations) {
            if (auto* module = as<Module>(const_cast<Declaration*>(declaration)))
                imply(module->declarations);
            const auto* interface = as<Interface>(declaration);
            if (interface == nullptr || !may_imply(unit_, *interface)) {
                all.push_back(declaration);
                continue;
            }
            const auto free_name = [&](std::string_view end) {
                std::string name = "AMI_" + interface->name + std::string(end);
                while (!taken.insert(name).second)
                    name.insert(0, "AMI_");
                return name;
            };
            const Interface& handler = handler_of(*interface, free_name("Handler"));
            const ValueType& poller = poller_of(*interface, free_name("Poller"));
            all.insert(all.end(), {&forward_to(unit_, handler), &forward_to(unit_, poller),
                                   interface, &handler, &poller});
            unit_.reply_handlers.emplace(interface, &handler);
            unit_.pollers.emplace(interface, &poller);
        }
        declarations = std::move(all);
    }

  private:
    const ValueType& poller_of(const Interface& interface, const std::string& name)
    {
        auto& poller = unit_.add<ValueType>();
        describe_beside(poller, interface, name);
        poller.defined = true;
        poller.is_abstract = true;
        for (const Interface* base : interface.bases) {
            const auto found = unit_.pollers.find(base);
            if (found != unit_.pollers.end()) poller.bases.push_back(found->second);
        }
        if (poller.bases.empty()) poller.bases.push_back(&poller_);
        for (const Declaration* declaration : interface.declarations)
            for (const Request& request : requests_of(*declaration)) {
                if (!is_asynchronous(request)) continue;
                std::vector<Parameter> parameters = polled_parameters(request);
                parameters.insert(parameters.begin(),
                                  Parameter{.name = "ami_timeout", .type = &timeout_});
                add_implied_operation(unit_, poller, poller.declarations, request,
                                      reply_name(request), std::move(parameters));
            }
        return poller;
    }

    const Interface& handler_of(const Interface& interface, const std::string& name)
    {
        auto& handler = unit_.add<Interface>();
        describe_beside(handler, interface, name);
        handler.defined = true;
        for (const Interface* base : interface.bases) {
            const auto found = unit_.reply_handlers.find(base);
            if (found != unit_.reply_handlers.end()) handler.bases.push_back(found->second);
        }
        if (handler.bases.empty()) handler.bases.push_back(&reply_handler_);
        find_ancestors(handler);
        for (const Declaration* declaration : interface.declarations)
            for (const Request& request : requests_of(*declaration))
                if (is_asynchronous(request)) add_operations(handler, request, interface);
        return handler;
    }

    void add_operations(Interface& handler, const Request& request, const Interface& interface)
    {
        Declarations& all = handler.declarations;
        add_implied_operation(unit_, handler, all, request, reply_name(request),
                              replied_parameters(request));
        add_implied_operation(unit_, handler, all, request, failure_name(request, interface),
                              {{.name = "excep_holder", .type = &holder_}});
    }

    Unit& unit_;
    const Interface& reply_handler_;
    const ValueType& poller_;
    const Type& holder_;
    const Type& timeout_ = unit_.add_type({.kind = TypeKind::unsigned_long});
};

/// The name of a function that sends a request, by how it begins.
std::string sending_name(std::string begin, const Request& request, const Interface& interface)
{
    const std::unordered_set<std::string> taken = names_of(interface);
    while (taken.contains(begin + reply_name(request)))
        begin += "ami_";
    return begin + reply_name(request);
}

} // namespace

void imply_ami(Unit& unit)
{
    const Interface* handler = find_interface(unit.declarations, "Messaging::ReplyHandler");
    const ValueType* holder = find_value(unit.declarations, "Messaging::ExceptionHolder");
    const ValueType* poller = find_value(unit.declarations, "Messaging::Poller");
    if (handler == nullptr || holder == nullptr || poller == nullptr)
        return; // reported: the file was not found
    Implication(unit, *handler, *holder, *poller).imply(unit.declarations);
}

bool is_awaited(const Unit& unit, const Interface& interface)
{
    if (!unit.has_awaited_calls || !may_imply(unit, interface)) return false;
    return std::ranges::none_of(unit.reply_handlers, [&](const auto& implied) {
        return implied.second == &interface; // of --ami, whom only ORBs call
    });
}

bool is_asynchronous(const Request& request) { return !request.oneway; }

std::string reply_name(const Request& request)
{
    const std::string& name = request.wire_name;
    return name.starts_with("_get_") || name.starts_with("_set_") ? name.substr(1) : name;
}

std::string failure_name(const Request& request, const Interface& interface)
{
    const std::unordered_set<std::string> taken = names_of(interface);
    std::string end = "_excep";
    while (taken.contains(reply_name(request) + end))
        end.insert(0, "_ami");
    return reply_name(request) + end;
}

std::string sendc_name(const Request& request, const Interface& interface)
{
    return sending_name("sendc_", request, interface);
}

std::string sendp_name(const Request& request, const Interface& interface)
{
    return sending_name("sendp_", request, interface);
}

std::string async_name(const Interface& interface)
{
    const std::unordered_set<std::string> taken = names_of(interface);
    std::string name = "async";
    while (taken.contains(name))
        name.insert(0, "ami_");
    return name;
}

std::string awaited_name(const Request& request, const Interface& interface)
{
    std::string name = reply_name(request);
    if (as<Attribute>(request.declaration) == nullptr) return name;
    const std::unordered_set<std::string> taken = names_of(interface);
    while (taken.contains(name))
        name.insert(0, "ami_");
    return name;
}

std::string results_name(const Request& request, const Interface& interface)
{
    const std::unordered_set<std::string> taken = names_of(interface);
    std::string name = reply_name(request) + "_results";
    while (taken.contains(name))
        name.insert(0, "ami_");
    return name;
}

std::vector<Parameter> sent_parameters(const Request& request)
{
    const auto* attribute = as<Attribute>(request.declaration);
    std::vector<Parameter> sent;
    for (const Parameter& parameter : request.parameters) {
        if (parameter.direction == Direction::out) continue;
        Parameter& one = sent.emplace_back(parameter);
        one.direction = Direction::in;
        if (attribute != nullptr) one.name = "attr_" + attribute->name;
    }
    return sent;
}

std::vector<Parameter> replied_parameters(const Request& request)
{
    std::vector<Parameter> replied;
    if (request.has_result()) replied.push_back({.name = "ami_return_val", .type = request.result});
    for (const Parameter& parameter : request.parameters) {
        if (parameter.direction == Direction::in) continue;
        replied.emplace_back(parameter).direction = Direction::in;
    }
    return replied;
}

std::vector<Parameter> polled_parameters(const Request& request)
{
    std::vector<Parameter> polled = replied_parameters(request);
    for (Parameter& parameter : polled)
        parameter.direction = Direction::out;
    return polled;
}

} // namespace kairos::idlc
