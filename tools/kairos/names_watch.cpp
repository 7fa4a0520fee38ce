// SPDX-License-Identifier: Apache-2.0
//
// `kairos names watch`: the changes of a context, seen by asking for all its bindings again and
// again, because the Naming Service tells nobody. What comes and goes between two askings is
// missed.
#include "tools/kairos/names.h"

#include <chrono>
#include <cstdio>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <thread>

namespace kairos::tools {
namespace {

/// A binding as far as it is compared.
struct Watched {
    nlohmann::json json;
    std::string shown;
    friend bool operator==(const Watched& left, const Watched& right)
    {
        return left.json == right.json;
    }
};
using Bindings = std::map<std::string, Watched>; // by name as text

Bindings read_bindings(const NamesSession& session, CosNaming::NamingContext_ptr context,
                       const NamesArguments& arguments)
{
    Bindings bindings;
    const auto add = [&](const CosNaming::Binding& binding) {
        Watched watched{json_of(binding), shown(text_of(binding))};
        if (arguments.references) {
            try {
                const CORBA::Object_var object = context->resolve(binding.binding_name);
                const CORBA::String_var text = session.orb->object_to_string(object.in());
                watched.json["reference"] = text.in();
            } catch (const CosNaming::NamingContext::NotFound&) {
                return; // unbound since it was listed
            }
        }
        bindings.insert_or_assign(watched.json["name"], std::move(watched));
    };
    naming::for_each_binding(context, add, arguments.portion);
    return bindings;
}

void print_change(const Watched& binding, std::string_view change, char sign, bool as_json)
{
    if (as_json) {
        nlohmann::json line = binding.json;
        line["change"] = change;
        fmt::print("{}\n", dump(line));
    } else {
        fmt::print("{} {}\n", sign, binding.shown);
    }
}

void print_changes(const Bindings& before, const Bindings& after, bool as_json)
{
    for (const auto& [name, binding] : before)
        if (!after.contains(name)) print_change(binding, "removed", '-', as_json);
    for (const auto& [name, binding] : after) {
        const auto old = before.find(name);
        if (old == before.end())
            print_change(binding, "added", '+', as_json);
        else if (!(old->second == binding))
            print_change(binding, "changed", '~', as_json);
    }
}

void print_start(const Bindings& bindings, const NamesArguments& arguments)
{
    if (arguments.json)
        fmt::print("{}\n",
                   dump({{"watching", bindings.size()}, {"interval_s", arguments.interval_s}}));
    else
        fmt::print("watching {} bindings, asking every {} s\n", bindings.size(),
                   arguments.interval_s);
}

/// None while the naming service cannot be reached.
std::optional<Bindings> try_to_read(const NamesSession& session,
                                    CosNaming::NamingContext_ptr context,
                                    const NamesArguments& arguments, bool& reachable)
{
    try {
        auto bindings = read_bindings(session, context, arguments);
        reachable = true;
        return bindings;
    } catch (const CORBA::TRANSIENT& failure) {
        if (reachable) fmt::print(stderr, "kairos names: {}\n", shown(failure.what()));
    } catch (const CORBA::COMM_FAILURE& failure) {
        if (reachable) fmt::print(stderr, "kairos names: {}\n", shown(failure.what()));
    }
    reachable = false; // said once, not at every asking
    return std::nullopt;
}

} // namespace

void watch_names(const NamesSession& session, const NamesArguments& arguments)
{
    const CosNaming::NamingContext_var context = session.context(arguments.name);
    Bindings bindings = read_bindings(session, context.in(), arguments);
    print_start(bindings, arguments);
    for (bool reachable = true;;) {
        std::fflush(stdout);
        std::this_thread::sleep_for(std::chrono::duration<double>(arguments.interval_s));
        auto now = try_to_read(session, context.in(), arguments, reachable);
        if (!now) continue;
        print_changes(bindings, *now, arguments.json);
        bindings = std::move(*now);
    }
}

} // namespace kairos::tools
