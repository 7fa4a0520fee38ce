// SPDX-License-Identifier: Apache-2.0
//
// TAO's smart proxies (kairos/compat/tao/smart_proxies.h): for each interface a factory that
// programs derive from, the place where it is registered, and a class of objects that are had in
// the place of stubs. They stand in the scope of the interface.
#include "idlc/cpp/emitters.h"

namespace kairos::idlc {
namespace {

/// What TAO calls it, in the scope of the interface: "::Demo::TAO_Demo_Echo_Smart_Proxy_Base".
std::string smart_name(const Interface& interface, std::string_view what)
{
    const std::string scope = qualified(interface);
    return scope.substr(0, scope.size() - identifier(interface).size()) + "TAO_" +
           flat_name(interface) + "_" + std::string(what);
}

/// What the class of smart proxies derives from. Those of interfaces that Kairos has itself have
/// none; nor have abstract ones: their operations are the stub's.
std::string smart_bases(const Source& source, const Interface& interface)
{
    std::string bases = "public virtual " + qualified(interface);
    bool any = false;
    for (const Interface* base : interface.bases) {
        if (base->is_abstract || !source.unit.files[base->location.file].headers.empty()) continue;
        bases += ", public virtual " + smart_name(*base, "Smart_Proxy_Base");
        any = true;
    }
    return any ? bases : bases + ", public virtual ::TAO_Smart_Proxy_Base";
}

void emit_forward(const Call& call, const std::string& scope, Text& out)
{
    std::string arguments = listed(call.locals);
    if (!call.context.empty()) arguments += arguments.empty() ? "_context" : ", _context";
    out.line(result_type(*call.result), " ", scope, "::", call.cpp_name(), "(",
             parameter_list(call), ") { ", call.has_result() ? "return " : "", "get_proxy()->",
             call.cpp_name(), "(", arguments, "); }");
}

} // namespace

bool has_smart_proxy(const Source& source, const Interface& interface)
{
    return source.options.smart_proxies && !interface.is_local && !interface.is_abstract;
}

std::string smart_proxy_factories(const Interface& interface)
{
    return smart_name(interface, "PROXY_FACTORY_ADAPTER");
}

void emit_smart_proxy_classes(const Source& source, const Interface& interface, Text& out)
{
    if (!has_smart_proxy(source, interface)) return;
    const std::string prefix = "TAO_" + flat_name(interface);
    const std::string type = qualified(interface);
    out.put({'E', exported(source), 'P', prefix, 'F', prefix + "_Default_Proxy_Factory", 'T', type,
             'B', smart_bases(source, interface)},
            R"(
class $E$F {
  public:
    $F(int permanent = 1);
    $F(const $F&) = delete;
    $F& operator=(const $F&) = delete;
    virtual ~$F();
    virtual $T_ptr create_proxy($T_ptr proxy);
};
typedef ::kairos::compat::tao::ProxyFactories<$T, $F>
    $P_Proxy_Factory_Adapter;
typedef ::TAO_Singleton<$P_Proxy_Factory_Adapter, TAO_SYNCH_RECURSIVE_MUTEX>
    $P_PROXY_FACTORY_ADAPTER;

class $E$P_Smart_Proxy_Base : $B {
  public:
    $P_Smart_Proxy_Base();
)");
    for (const Call& call : calls_in(source, interface.declarations))
        declare(call, "", " override", out);
    out.put({'P', prefix, 'T', type}, R"(

protected:
$T_ptr get_proxy() { return _kairos_behind.get(); }

private:
::kairos::compat::tao::ProxyBehind<$T, $P_PROXY_FACTORY_ADAPTER> _kairos_behind;
};

)");
}

void emit_smart_proxy_functions(const Source& source, const Interface& interface, Text& out)
{
    if (!has_smart_proxy(source, interface)) return;
    const auto name = [&interface](std::string_view what) {
        return smart_name(interface, what).substr(2); // "Demo::TAO_…"
    };
    out.put({'S', name("Default_Proxy_Factory"), 'P', "TAO_" + flat_name(interface), 'T',
             qualified(interface), 'B', name("Smart_Proxy_Base")},
            R"(
$S::$P_Default_Proxy_Factory(int permanent)
{
    $P_PROXY_FACTORY_ADAPTER::instance()->register_proxy_factory(this, permanent != 0);
}
$S::~$P_Default_Proxy_Factory() { $P_PROXY_FACTORY_ADAPTER::instance()->forget(this); }
$T_ptr $S::create_proxy($T_ptr proxy) { return proxy; }
$B::$P_Smart_Proxy_Base() : _kairos_behind(base_proxy_.in()) {}
)");
    for (const Call& call : calls_in(source, interface.declarations))
        emit_forward(call, name("Smart_Proxy_Base"), out);
    out.blank();
}

} // namespace kairos::idlc
