// SPDX-License-Identifier: Apache-2.0
#include "idlc/implied_ami.h"

#include <algorithm>
#include <string_view>
#include <unordered_set>
#include <utility>

namespace kairos::idlc {
namespace {

/// "IDL:Demo/Echo:1.0" of "Echo" is "IDL:Demo/NAME:1.0"; where an id is of another form, the
/// default one.
std::string id_beside(const Declaration& declaration, const std::string& name,
                      const std::string& scoped_name)
{
    const std::string& id = declaration.repository_id;
    const std::size_t version = id.rfind(':');
    const std::string end = declaration.name + id.substr(std::min(version, id.size()));
    if (id.starts_with("IDL:") && id.ends_with(end) && id.size() > end.size() + 3)
        return id.substr(0, id.size() - end.size()) + name + id.substr(version);
    std::string path = "IDL:";
    for (std::size_t i = 0; i < scoped_name.size(); ++i) {
        path += scoped_name[i] == ':' ? '/' : scoped_name[i];
        if (scoped_name[i] == ':') ++i;
    }
    return path + ":1.0";
}

/// "IDL:Demo/Echo:1.0" and "add" are "IDL:Demo/Echo/add:1.0".
std::string id_within(const Declaration& scope, const std::string& name)
{
    const std::string& id = scope.repository_id;
    const std::size_t version = id.rfind(':');
    return id.substr(0, version) + "/" + name + id.substr(version);
}

/// The names that a scope has, but for those within its scopes.
std::unordered_set<std::string> names_in(const Declarations& declarations)
{
    std::unordered_set<std::string> names;
    for (const Declaration* declaration : declarations)
        names.insert(declaration->name);
    return names;
}

std::unordered_set<std::string> names_of(const Interface& interface)
{
    std::unordered_set<std::string> names = names_in(interface.declarations);
    for (const Interface* ancestor : interface.ancestors)
        names.merge(names_in(ancestor->declarations));
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

/// Where the C++ of an interface is installed there is none of its asynchronous calls.
bool is_wanted(const Unit& unit, const Interface& interface)
{
    const std::uint32_t file = interface.location.file;
    const bool is_installed =
        file != 0 && file < unit.files.size() && !unit.files[file].headers.empty();
    return interface.defined && !interface.is_local && !interface.is_abstract && !is_installed &&
           (file != 0 || interface.generated);
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
        std::unordered_set<std::string> taken = names_in(declarations);
        Declarations all;
        for (const Declaration* declaration : declarations) {
            if (auto* module = as<Module>(const_cast<Declaration*>(declaration)))
                imply(module->declarations);
            const auto* interface = as<Interface>(declaration);
            if (interface == nullptr || !is_wanted(unit_, *interface)) {
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
            all.insert(all.end(),
                       {&forward(handler), &forward(poller), interface, &handler, &poller});
            unit_.reply_handlers.emplace(interface, &handler);
            unit_.pollers.emplace(interface, &poller);
        }
        declarations = std::move(all);
    }

  private:
    static void describe(Declaration& implied, const Declaration& by, const std::string& name)
    {
        implied.name = name;
        const std::size_t scope = by.scoped_name.size() - by.name.size();
        implied.scoped_name = by.scoped_name.substr(0, scope) + name;
        implied.repository_id = id_beside(by, name, implied.scoped_name);
        implied.parent = by.parent;
        implied.location = by.location;
        implied.in_main_file = by.in_main_file;
        implied.generated = by.generated;
    }

    const Forward& forward(const Declaration& implied)
    {
        auto& forward = unit_.add<Forward>();
        describe(forward, implied, implied.name);
        forward.definition = &implied;
        return forward;
    }

    const ValueType& poller_of(const Interface& interface, const std::string& name)
    {
        auto& poller = unit_.add<ValueType>();
        describe(poller, interface, name);
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
                add_operation(poller, poller.declarations, request, reply_name(request),
                              std::move(parameters));
            }
        return poller;
    }

    const Interface& handler_of(const Interface& interface, const std::string& name)
    {
        auto& handler = unit_.add<Interface>();
        describe(handler, interface, name);
        handler.defined = true;
        for (const Interface* base : interface.bases) {
            const auto found = unit_.reply_handlers.find(base);
            if (found != unit_.reply_handlers.end()) handler.bases.push_back(found->second);
        }
        if (handler.bases.empty()) handler.bases.push_back(&reply_handler_);
        for (const Interface* base : handler.bases) {
            for (const Interface* ancestor : base->ancestors)
                add_ancestor(handler, *ancestor);
            add_ancestor(handler, *base);
        }
        for (const Declaration* declaration : interface.declarations)
            for (const Request& request : requests_of(*declaration))
                if (is_asynchronous(request)) add_operations(handler, request, interface);
        return handler;
    }

    static void add_ancestor(Interface& handler, const Interface& ancestor)
    {
        if (std::ranges::find(handler.ancestors, &ancestor) == handler.ancestors.end())
            handler.ancestors.push_back(&ancestor);
    }

    void add_operations(Interface& handler, const Request& request, const Interface& interface)
    {
        Declarations& all = handler.declarations;
        add_operation(handler, all, request, reply_name(request), replied_parameters(request));
        add_operation(handler, all, request, failure_name(request, interface),
                      {{.name = "excep_holder", .type = &holder_}});
    }

    void add_operation(const Declaration& scope, Declarations& declarations, const Request& request,
                       const std::string& name, std::vector<Parameter> parameters)
    {
        auto& operation = unit_.add<Operation>();
        operation.name = name;
        operation.scoped_name = scope.scoped_name + "::" + name;
        operation.repository_id = id_within(scope, name);
        operation.parent = &scope;
        operation.location = request.declaration->location;
        operation.in_main_file = scope.in_main_file;
        operation.generated = scope.generated;
        operation.result = &void_type_;
        operation.parameters = std::move(parameters);
        declarations.push_back(&operation);
    }

    Unit& unit_;
    const Interface& reply_handler_;
    const ValueType& poller_;
    const Type& holder_;
    const Type& timeout_ = unit_.add_type({.kind = TypeKind::unsigned_long});
    const Type& void_type_ = unit_.add_type({.kind = TypeKind::void_});
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
    if (!unit.has_awaited_calls || !is_wanted(unit, interface)) return false;
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
