// SPDX-License-Identifier: Apache-2.0
#include "idlc/implied_amh.h"

#include "idlc/implied.h"
#include "idlc/implied_ami.h"

#include <algorithm>
#include <unordered_set>
#include <utility>

namespace kairos::idlc {
namespace {

class AmhImplication {
  public:
    explicit AmhImplication(Unit& unit) : unit_(unit) {}

    void imply(Declarations& declarations)
    {
        std::unordered_set<std::string> taken = names_in_scope(declarations);
        Declarations all;
        for (const Declaration* declaration : declarations) {
            if (auto* module = as<Module>(const_cast<Declaration*>(declaration)))
                imply(module->declarations);
            const auto* interface = as<Interface>(declaration);
            if (interface == nullptr || !answers_later(*interface)) {
                all.push_back(declaration);
                continue;
            }
            const auto free_name = [&](const std::string& end) {
                std::string name = "AMH_" + interface->name + end;
                while (!taken.insert(name).second)
                    name.insert(0, "AMH_");
                return name;
            };
            const ValueType& holder = holder_of(*interface, free_name("ExceptionHolder"));
            const Interface& handler = handler_of(*interface, holder, free_name("ResponseHandler"));
            all.insert(all.end(), {&forward_to(unit_, handler), &forward_to(unit_, holder),
                                   interface, &holder, &handler});
            unit_.response_handlers.emplace(interface, &handler);
            unit_.response_holders.emplace(interface, &holder);
        }
        declarations = std::move(all);
    }

  private:
    [[nodiscard]] bool answers_later(const Interface& interface) const
    {
        const bool is_of_ami = std::ranges::any_of(unit_.reply_handlers, [&](const auto& implied) {
            return implied.second == &interface;
        });
        return may_imply(unit_, interface) && !is_of_ami &&
               std::ranges::all_of(interface.ancestors, [this](const Interface* ancestor) {
                   return unit_.response_handlers.contains(ancestor);
               });
    }

    const ValueType& holder_of(const Interface& interface, const std::string& name)
    {
        auto& holder = unit_.add<ValueType>();
        describe_beside(holder, interface, name);
        holder.defined = true;
        holder.is_abstract = true;
        for (const Interface* base : interface.bases)
            holder.bases.push_back(unit_.response_holders.at(base));
        for (const Declaration* declaration : interface.declarations)
            for (const Request& request : requests_of(*declaration))
                if (is_asynchronous(request))
                    add_implied_operation(unit_, holder, holder.declarations, request,
                                          raising_name(request), {});
        return holder;
    }

    const Interface& handler_of(const Interface& interface, const ValueType& holder,
                                const std::string& name)
    {
        auto& handler = unit_.add<Interface>();
        describe_beside(handler, interface, name);
        handler.defined = true;
        handler.is_local = true;
        for (const Interface* base : interface.bases)
            handler.bases.push_back(unit_.response_handlers.at(base));
        find_ancestors(handler);
        const Type& held = unit_.add_type({.kind = TypeKind::declared, .declaration = &holder});
        for (const Declaration* declaration : interface.declarations)
            for (const Request& request : requests_of(*declaration)) {
                if (!is_asynchronous(request)) continue;
                Declarations& all = handler.declarations;
                add_implied_operation(unit_, handler, all, request, reply_name(request),
                                      answered_parameters(request));
                add_implied_operation(unit_, handler, all, request,
                                      failure_name(request, interface),
                                      {{.name = "excep_holder", .type = &held}});
            }
        return handler;
    }

    Unit& unit_;
};

} // namespace

void imply_amh(Unit& unit) { AmhImplication(unit).imply(unit.declarations); }

std::string raising_name(const Request& request) { return "raise_" + reply_name(request); }

std::vector<Parameter> answered_parameters(const Request& request)
{
    std::vector<Parameter> answered = replied_parameters(request);
    if (!request.has_result()) return answered;
    std::string name = "return_value";
    while (std::ranges::any_of(request.parameters,
                               [&](const Parameter& each) { return each.name == name; }))
        name.insert(0, "amh_");
    answered.front().name = std::move(name);
    return answered;
}

} // namespace kairos::idlc
