// SPDX-License-Identifier: Apache-2.0
#include "kairos/corba/context.h"

#include "kairos/mapping/marshal.h"

#include <functional>
#include <map>
#include <utility>

namespace CORBA {

struct Context::Properties : std::map<std::string, std::string, std::less<>> {};

namespace {

constexpr ULong no_scope = kairos::mapping::omg_minor(1);
constexpr ULong no_property = kairos::mapping::omg_minor(2);

/// A name, or its beginning and an asterisk.
bool matches(std::string_view name, std::string_view pattern)
{
    if (!pattern.ends_with('*')) return name == pattern;
    return name.starts_with(pattern.substr(0, pattern.size() - 1));
}

std::string_view property_name(const char* name)
{
    const std::string_view text = name == nullptr ? "" : name;
    if (text.empty() || text.find('*') != std::string_view::npos)
        throw BAD_PARAM(0, COMPLETED_NO, "not the name of a property");
    return text;
}

std::string property_value(const Any& value)
{
    const char* text = nullptr;
    if (!(value >>= text))
        throw BAD_TYPECODE(0, COMPLETED_NO, "a property of a context is a string");
    return text;
}

std::string_view checked_pattern(const char* pattern)
{
    if (pattern == nullptr || *pattern == '\0')
        throw BAD_PARAM(0, COMPLETED_NO, "no name or pattern of a property");
    return pattern;
}

} // namespace

Context::Context() : properties_(new Properties) {}
Context::Context(std::string_view name, Context_ptr parent)
    : name_(name), parent_(_duplicate(parent)), properties_(new Properties)
{
}
Context::~Context() = default;

Context_ptr Context::_duplicate(Context_ptr context)
{
    if (context != nullptr) context->_add_ref();
    return context;
}

void release(Context_ptr context)
{
    if (context != nullptr) context->_remove_ref();
}

void Context::create_child(const char* name, Context_out child)
{
    child = new Context(name == nullptr ? "" : name, this);
}

void Context::set_one_value(const char* name, const Any& value)
{
    std::string text = property_value(value);
    properties_->insert_or_assign(std::string(property_name(name)), std::move(text));
}

void Context::set_values(NVList_ptr values)
{
    if (values == nullptr) throw BAD_PARAM(0, COMPLETED_NO, "no list of properties");
    Properties added;
    for (ULong i = 0; i < values->count(); ++i) {
        const NamedValue& each = *values->item(i);
        added.insert_or_assign(std::string(property_name(each.name())),
                               property_value(*each.value()));
    }
    added.merge(*properties_); // what it has already, properties_ keeps
    properties_->swap(added);
}

void Context::delete_values(const char* pattern)
{
    const std::string_view wanted = checked_pattern(pattern);
    const std::size_t deleted =
        std::erase_if(static_cast<std::map<std::string, std::string, std::less<>>&>(*properties_),
                      [&](const auto& property) { return matches(property.first, wanted); });
    if (deleted == 0) throw BAD_CONTEXT(no_property, COMPLETED_NO, "no such property");
}

void Context::get_values(const char* start_scope, Flags flags, const char* pattern,
                         NVList_out values)
{
    const std::string_view wanted = checked_pattern(pattern);
    const std::string_view scope = start_scope == nullptr ? "" : start_scope;
    const Context* start = this;
    while (!scope.empty() && start != nullptr && start->name_ != scope)
        start = start->parent();
    if (start == nullptr) throw BAD_CONTEXT(no_scope, COMPLETED_NO, "no such context");
    Properties found;
    start->_kairos_collect(wanted, flags != CTX_RESTRICT_SCOPE, found);
    if (found.empty()) throw BAD_CONTEXT(no_property, COMPLETED_NO, "no such property");
    NVList_var list = new NVList;
    for (const auto& [name, text] : found) {
        Any value;
        value <<= text.c_str();
        list->add_value(name.c_str(), value, 0);
    }
    values = list._retn();
}

void Context::_kairos_collect(std::string_view pattern, bool parents, Properties& found) const
{
    for (const Context* each = this; each != nullptr; each = each->parent()) {
        for (auto property = each->properties_->lower_bound(pattern.substr(0, pattern.find('*')));
             property != each->properties_->end(); ++property) {
            if (!matches(property->first, pattern)) break; // they are in order
            found.insert(*property);
        }
        if (!parents) return;
    }
}

} // namespace CORBA

namespace kairos::corba {

/// A sequence of strings: names and values in turn (CORBA 3.3 part 2, 9.4.2.3).
void encode_context(cdr::Writer& out, CORBA::Context_ptr context,
                    std::span<const std::string_view> clause)
{
    CORBA::Context::Properties found;
    if (context != nullptr)
        for (const std::string_view pattern : clause)
            context->_kairos_collect(pattern, true, found);
    out.write(static_cast<CORBA::ULong>(2 * found.size()));
    for (const auto& [name, value] : found) {
        // Copied, however long: these end before the request is sent.
        out.write_string(name);
        out.write_string(value);
    }
}

CORBA::Context_ptr decode_context(cdr::Reader& in)
{
    const CORBA::ULong count = in.read_length(sizeof(CORBA::ULong) + 1);
    if (count % 2 != 0) in.fail(cdr::Fault::invalid_value);
    CORBA::Context_var context = new CORBA::Context;
    for (CORBA::ULong i = 0; i < count && in.ok(); i += 2) {
        CORBA::String_var name;
        CORBA::String_var value;
        mapping::decode_string(in, name);
        mapping::decode_string(in, value);
        context->_kairos_properties().insert_or_assign(name.in(), value.in());
    }
    return in.ok() ? context._retn() : nullptr;
}

} // namespace kairos::corba
