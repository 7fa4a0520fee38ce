// SPDX-License-Identifier: Apache-2.0
#include "tools/kairos/browse_objects.h"

#include "kairos/dynany/dynamic_any.h"
#include "kairos/ior/name.h"
#include "kairos/ior/profile.h"
#include "kairos/naming/listing.h"
#include "kairos/naming/name.h"
#include "kairos/orb/reference.h"
#include "tools/kairos/dynamic_call.h"
#include "tools/kairos/failure.h"
#include "tools/kairos/idl_text.h"
#include "tools/kairos/value_json.h"

#include <algorithm>
#include <chrono>
#include <fmt/format.h>
#include <map>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace kairos::tools {
namespace {

/// Objects whose interface is remembered; bindings of one context that are listed.
constexpr std::size_t opened_max = 256;
constexpr std::size_t bindings_max = 5000;
/// How long bindings are asked for; what has come by then is shown.
constexpr std::chrono::seconds listing_max{10};
/// Values within a template: a repository may tell of arrays that no memory holds. All templates of
/// an object, and the names in them: a part of the answer, which has more than these.
constexpr std::uint64_t template_values_max = 1000;
constexpr std::size_t templates_octets_max = browse_answer_octets_max / 4;

constexpr std::string_view by_name = "name:";

// --- What went wrong -----------------------------------------------------------------------------

/// What a system exception means to somebody who has called an object by hand.
std::string_view meaning_of(std::string_view name)
{
    static const std::map<std::string_view, std::string_view> meanings{
        {"TRANSIENT", "The server cannot be reached at the moment: it is not running, or refuses "
                      "connections. Nothing was executed unless it says COMPLETED_YES."},
        {"COMM_FAILURE", "The connection broke while the call was on its way."},
        {"TIMEOUT", "The object has not answered in time. It may still be busy with the call."},
        {"OBJECT_NOT_EXIST", "The server knows no such object any more."},
        {"NO_PERMISSION", "The server does not permit this call."},
        {"BAD_OPERATION", "The object does not have this operation: it has another interface than "
                          "the one that is shown."},
        {"MARSHAL", "One side could not read what the other has sent: their IDL may differ."},
        {"BAD_PARAM", "The server does not take one of the arguments."},
        {"NO_IMPLEMENT", "The server has not implemented this operation."},
        {"INTF_REPOS", "No Interface Repository answers for the object: give its IDL by "
                       "--idl FILE."},
        {"INV_OBJREF", "The reference is malformed, or leads nowhere from here."},
        {"UNKNOWN", "The servant has thrown what the server could not pass on."},
        {"NO_RESOURCES", "The server has no resources for this call."},
        {"IMP_LIMIT", "A limit of one of the two sides was reached."},
    };
    const auto found = meanings.find(name);
    return found == meanings.end() ? std::string_view() : found->second;
}

Json failure_of(const CORBA::SystemException& raised)
{
    return {{"name", raised._name()},
            {"minor", raised.minor()},
            {"text", raised.what()},
            {"meaning", meaning_of(raised._name())}};
}

Json exception_of(const CORBA::Any& exception, const ValueJson& values, JsonBudget& budget)
{
    const CORBA::TypeCode_var type = exception.type();
    const std::string name = idl_name(*type.in());
    budget.take_text(type->id());
    budget.take_text(name);
    return {{"id", type->id()}, {"name", name}, {"members", values.json_of(exception)}};
}

// --- Forms for arguments -------------------------------------------------------------------------

/// What the forms of one object are made with.
struct FormTools {
    CORBA::ORB_ptr orb;
    const ValueJson& values;
    JsonBudget& budget; ///< of `values`, for all that is made by it
};

/// How many values the default of a type consists of, and the members of its unions; more than
/// the limit for too many, or where it is nested too deep.
std::uint64_t values_in(const CORBA::TypeCode& type, std::size_t depth = 0)
{
    constexpr std::uint64_t too_many = template_values_max + 1;
    if (depth > json_depth_max) return too_many;
    const CORBA::TypeCode& resolved = types::resolved(type);
    switch (resolved.kind()) {
    case CORBA::tk_array: {
        const CORBA::TypeCode_var content = resolved.content_type();
        const std::uint64_t each = values_in(*content.in(), depth + 1);
        // One of no elements counts as well, or what it is nested in would never be too much.
        return std::min(too_many, each) *
               std::max(std::uint64_t{1}, std::uint64_t{resolved.length()});
    }
    case CORBA::tk_struct:
    case CORBA::tk_except:
    case CORBA::tk_union: {
        std::uint64_t values = 1;
        for (CORBA::ULong i = 0; i < resolved.member_count() && values < too_many; ++i) {
            const CORBA::TypeCode_var member = resolved.member_type(i);
            values += values_in(*member.in(), depth + 1);
        }
        return values;
    }
    default: // sequences are empty, valuetypes null
        return 1;
    }
}

/// A value of the type to begin with, as the page shows it; null where there is no good one.
Json template_of(CORBA::TypeCode_ptr type, const FormTools& tools)
{
    if (tools.budget.is_empty() || values_in(*type) > template_values_max) return {};
    const CORBA::Object_var service = tools.orb->resolve_initial_references("DynAnyFactory");
    const DynamicAny::DynAnyFactory_var factory = DynamicAny::DynAnyFactory::_narrow(service.in());
    try {
        const DynamicAny::DynAny_var made = factory->create_dyn_any_from_type_code(type);
        const CORBA::Any_var value = made->to_any();
        made->destroy();
        return tools.values.json_of(value.in());
    } catch (const CORBA::Exception&) {   // such as a native type's
    } catch (const std::runtime_error&) { // JSON has no form for it, or it is too large
    }
    return {};
}

/// A choice; where its names are too many and too long, a text.
Json enum_form_of(const CORBA::TypeCode& type, JsonBudget& budget)
{
    Json names = Json::array();
    try {
        for (CORBA::ULong i = 0; i < type.member_count(); ++i) {
            budget.take_value();
            budget.take_text(type.member_name(i));
            names.push_back(type.member_name(i));
        }
    } catch (const std::runtime_error&) {
        return {{"input", "text"}};
    }
    return {{"input", "enum"}, {"values", std::move(names)}};
}

/// How the page asks for a value: `input` is one of integer, number, boolean, enum, text,
/// reference and json.
Json form_of(CORBA::TypeCode_ptr type, const FormTools& tools)
{
    const CORBA::TypeCode& resolved = types::resolved(*type);
    switch (resolved.kind()) {
    case CORBA::tk_short:
    case CORBA::tk_long:
    case CORBA::tk_longlong:
    case CORBA::tk_ushort:
    case CORBA::tk_ulong:
    case CORBA::tk_ulonglong:
    case CORBA::tk_octet:
        return {{"input", "integer"}};
    case CORBA::tk_float:
    case CORBA::tk_double:
    case CORBA::tk_longdouble:
        return {{"input", "number"}};
    case CORBA::tk_fixed:
        return {{"input", "fixed"}};
    case CORBA::tk_boolean:
        return {{"input", "boolean"}};
    case CORBA::tk_char:
    case CORBA::tk_wchar:
    case CORBA::tk_string:
    case CORBA::tk_wstring:
        return {{"input", "text"}};
    case CORBA::tk_objref:
        return {{"input", "reference"}};
    case CORBA::tk_enum:
        return enum_form_of(resolved, tools.budget);
    default: {
        Json form{{"input", "json"}, {"template", template_of(type, tools)}};
        if (resolved.kind() != CORBA::tk_sequence) return form;
        const CORBA::TypeCode_var element = resolved.content_type(); // what there may be more of
        if (types::resolved(*element.in()).kind() != CORBA::tk_octet)
            form["element"] = template_of(element.in(), tools);
        return form;
    }
    }
}

const char* direction_of(const KnownParameter& parameter)
{
    using Direction = KnownParameter::Direction;
    return parameter.direction == Direction::in    ? "in"
           : parameter.direction == Direction::out ? "out"
                                                   : "inout";
}

Json attribute_of(const KnownOperation& get, const FormTools& tools)
{
    return {{"name", get.name},
            {"type", idl_name(*get.result.in())},
            {"declared_in", get.declared_in},
            {"readonly", get.is_readonly},
            {"form", form_of(get.result.in(), tools)}};
}

Json operation_of(const KnownOperation& operation, const FormTools& tools)
{
    Json parameters = Json::array();
    for (const KnownParameter& parameter : operation.parameters) {
        Json one{{"name", parameter.name},
                 {"direction", direction_of(parameter)},
                 {"type", idl_name(*parameter.type.in())}};
        if (parameter.is_given()) one["form"] = form_of(parameter.type.in(), tools);
        parameters.push_back(std::move(one));
    }
    Json raises = Json::array();
    for (const CORBA::TypeCode_var& exception : operation.raises)
        raises.push_back(idl_name(*exception.in()));
    return {{"name", operation.name},
            {"wire", operation.wire_name},
            {"idl", idl_of(operation)},
            {"declared_in", operation.declared_in},
            {"oneway", operation.is_oneway},
            {"result", idl_name(*operation.result.in())},
            {"parameters", std::move(parameters)},
            {"raises", std::move(raises)}};
}

std::string address_of(const ior::Ior& reference)
{
    const auto targets = ior::targets(reference);
    return targets.empty() ? "" : ior::to_string(targets.front().address);
}

/// A server keeps an iterator until it is told not to.
class IteratorOwner {
  public:
    explicit IteratorOwner(CosNaming::BindingIterator_ptr iterator) : iterator_(iterator) {}
    IteratorOwner(const IteratorOwner&) = delete;
    IteratorOwner& operator=(const IteratorOwner&) = delete;
    ~IteratorOwner()
    {
        if (CORBA::is_nil(iterator_)) return;
        try {
            iterator_->destroy();
        } catch (const CORBA::Exception&) { // it is gone already
        }
    }

  private:
    const CosNaming::BindingIterator_ptr iterator_;
};

/// Calls `take` with bindings of the context, until it returns false for one or the time is over.
/// Returns whether these are all. A server could go on for ever, with portions of nothing.
template <typename Take>
bool list_bindings(CosNaming::NamingContext_ptr context, const Take& take)
{
    const auto until = std::chrono::steady_clock::now() + listing_max;
    CosNaming::BindingList_var portion;
    CosNaming::BindingIterator_var iterator;
    context->list(naming::portion_default, portion.out(), iterator.out());
    const IteratorOwner owner(iterator.in());
    for (bool has_more = !CORBA::is_nil(iterator.in());;) {
        const CosNaming::BindingList& bindings = portion.in();
        for (CORBA::ULong i = 0; i < bindings.length(); ++i)
            if (!take(bindings[i])) return false;
        if (!has_more) return true;
        if (std::chrono::steady_clock::now() >= until) return false;
        has_more = iterator->next_n(naming::portion_default, portion.out());
    }
}

} // namespace

BrowseObjects::BrowseObjects(CORBA::ORB_ptr orb, const Interfaces& files,
                             std::vector<NamedTarget> targets)
    : orb_(orb), files_(files), targets_(std::move(targets))
{
}

Json BrowseObjects::answer(const BrowseCall& asked)
{
    try {
        switch (asked.kind) {
        case BrowseCall::Kind::roots:
            return roots();
        case BrowseCall::Kind::names:
            return names(asked.path);
        case BrowseCall::Kind::open:
            return open(asked.object);
        case BrowseCall::Kind::call:
            return call(asked);
        case BrowseCall::Kind::read:
            return read(asked);
        }
    } catch (const CORBA::SystemException& raised) {
        return {{"failure", failure_of(raised)}};
    } catch (const CosNaming::NamingContext::NotFound&) {
        return {{"error", "the Naming Service has no such name"}};
    } catch (const CORBA::Exception& raised) {
        return {{"error", raised.what()}};
    } catch (const std::exception& wrong) {
        return {{"error", wrong.what()}};
    }
    return {{"error", "there is no such call"}};
}

Json BrowseObjects::roots() const
{
    Json references = Json::array();
    for (const NamedTarget& target : targets_)
        references.push_back({{"name", target.name}, {"object", target.url}});
    bool has_names = true;
    try {
        const CORBA::Object_var service = orb_->resolve_initial_references("NameService");
    } catch (const CORBA::ORB::InvalidName&) {
        has_names = false;
    }
    return {{"names", has_names}, {"references", std::move(references)}};
}

Json BrowseObjects::names(const std::string& path) const
{
    CORBA::Object_var object = orb_->resolve_initial_references("NameService");
    CosNaming::NamingContext_var context = CosNaming::NamingContext::_narrow(object.in());
    if (CORBA::is_nil(context.in())) fail("the NameService is no naming context");
    if (!path.empty()) {
        const auto name = ior::parse_name(path);
        if (!name) fail(path + ": " + name.error().reason);
        object = context->resolve(naming::to_idl(*name));
        context = CosNaming::NamingContext::_narrow(object.in());
        if (CORBA::is_nil(context.in())) fail(path + " is an object, not a naming context");
    }
    Json bindings = Json::array();
    JsonBudget budget(browse_answer_octets_max);
    const auto take = [&](const CosNaming::Binding& binding) {
        if (bindings.size() == bindings_max) return false;
        const std::string name = ior::to_string(naming::from_idl(binding.binding_name));
        const std::string whole = path.empty() ? name : path + "/" + name;
        try {
            budget.take(4 * JsonBudget::value_octets);
            budget.take_text(name);
            budget.take_text(whole);
        } catch (const std::runtime_error&) {
            return false;
        }
        bindings.push_back({{"name", name},
                            {"path", whole},
                            {"context", binding.binding_type == CosNaming::ncontext}});
        return true;
    };
    const bool is_all = list_bindings(context.in(), take);
    return {{"bindings", std::move(bindings)}, {"more", !is_all}};
}

CORBA::Object_var BrowseObjects::object_of(const std::string& text) const
{
    if (!text.starts_with(by_name)) {
        CORBA::Object_var object = orb_->string_to_object(text.c_str());
        if (CORBA::is_nil(object.in())) fail("the reference is nil");
        return object;
    }
    const CORBA::Object_var service = orb_->resolve_initial_references("NameService");
    const CosNaming::NamingContext_var root = CosNaming::NamingContext::_narrow(service.in());
    if (CORBA::is_nil(root.in())) fail("the NameService is no naming context");
    const auto name = ior::parse_name(text.substr(by_name.size()));
    if (!name) fail(text + ": " + name.error().reason);
    CORBA::Object_var object = root->resolve(naming::to_idl(*name));
    if (CORBA::is_nil(object.in())) fail(text + " is bound to nil");
    return object;
}

std::shared_ptr<const BrowseObjects::Opened> BrowseObjects::ask(const std::string& object) const
{
    auto opened = std::make_shared<Opened>();
    opened->object = object;
    opened->reference = object_of(object);
    opened->interface = files_.find_of(opened->reference.in());
    if (opened->interface != nullptr) return opened;
    auto asked = std::make_shared<Interfaces>();
    std::string why = "its server names no Interface Repository";
    try {
        opened->interface = asked->add_interface_of(opened->reference.in());
    } catch (const CORBA::INTF_REPOS& raised) {
        why = raised._name();
    } catch (const CORBA::NO_IMPLEMENT& raised) {
        why = raised._name();
    } catch (const CORBA::BAD_OPERATION& raised) {
        why = raised._name();
    }
    const auto& reference = opened->reference->_kairos_reference();
    if (opened->interface == nullptr && reference && !reference->ior().type_id.empty()) {
        try { // that of this ORB
            const CORBA::Object_var service =
                orb_->resolve_initial_references("InterfaceRepository");
            const CORBA::Repository_var repository = CORBA::Repository::_narrow(service.in());
            if (!CORBA::is_nil(repository.in()))
                opened->interface = asked->add_interface(repository.in(), reference->ior().type_id);
        } catch (const CORBA::ORB::InvalidName&) { // it has none
        }
    }
    if (opened->interface == nullptr)
        fail(fmt::format("nobody knows the interface of the object ({}): give its IDL by --idl "
                         "FILE, or an Interface Repository by -ORBInitRef "
                         "InterfaceRepository=…",
                         why));
    opened->asked = std::move(asked);
    return opened;
}

std::shared_ptr<const BrowseObjects::Opened> BrowseObjects::find_opened(const std::string& object)
{
    {
        const std::lock_guard lock(mutex_);
        const auto found = std::ranges::find(
            opened_, object, [](const auto& opened) -> const auto& { return opened->object; });
        if (found != opened_.end()) {
            opened_.splice(opened_.begin(), opened_, found);
            return opened_.front();
        }
    }
    auto opened = ask(object); // nobody else waits for that
    keep(opened);
    return opened;
}

void BrowseObjects::keep(std::shared_ptr<const Opened> opened)
{
    const std::lock_guard lock(mutex_);
    std::erase_if(opened_, [&](const auto& other) { return other->object == opened->object; });
    opened_.push_front(std::move(opened));
    if (opened_.size() > opened_max) opened_.pop_back();
}

Json BrowseObjects::open(const std::string& object)
{
    std::shared_ptr<const Opened> opened = ask(object); // what was known may have changed
    const CORBA::String_var text = orb_->object_to_string(opened->reference.in());
    // Calls go to the object that was opened, whoever has its name by then.
    auto by_reference = std::make_shared<Opened>(*opened);
    by_reference->object = text.in();
    keep(by_reference);
    const Interfaces& known = opened->asked ? *opened->asked : files_;
    JsonBudget budget(templates_octets_max);
    const ValueJson values = values_of(*opened, budget);
    const FormTools tools{.orb = orb_, .values = values, .budget = budget};
    Json attributes = Json::array();
    Json operations = Json::array();
    for (const KnownOperation& operation : opened->interface->operations) {
        if (!operation.is_attribute)
            operations.push_back(operation_of(operation, tools));
        else if (operation.parameters.empty())
            attributes.push_back(attribute_of(operation, tools));
    }
    const auto& reference = opened->reference->_kairos_reference();
    Json bases = Json::array();
    for (const std::string& base : opened->interface->bases)
        bases.push_back(base);
    return {{"reference", text.in()},
            {"address", reference ? address_of(reference->ior()) : ""},
            {"interface",
             {{"name", opened->interface->name},
              {"id", opened->interface->id},
              {"bases", std::move(bases)},
              {"idl", idl_of(*opened->interface, known)}}},
            {"attributes", std::move(attributes)},
            {"operations", std::move(operations)}};
}

CORBA::Object_var BrowseObjects::argument_of(const std::string& text) const
{
    must_be_reference_of_page(text);
    if (text.starts_with(by_name)) return object_of(text);
    return orb_->string_to_object(text.c_str()); // which may be nil
}

ValueJson BrowseObjects::values_of(const Opened& opened, JsonBudget& budget) const
{
    const Interfaces& known = opened.asked ? *opened.asked : files_;
    return {orb_,
            [&known](const std::string& name) { return known.type(name)._retn(); },
            {.budget = &budget,
             .find_object = [this](const std::string& text) { return argument_of(text)._retn(); }}};
}

Json BrowseObjects::invoke(const Opened& opened, const KnownOperation& operation,
                           const Json& arguments, JsonBudget& budget) const
{
    const ValueJson forms = values_of(opened, budget);
    const std::vector<Json> values = arguments_in_json(arguments, operation);
    const CORBA::Request_var request = request_of(opened.reference.in(), operation, values, forms);
    const auto begin = std::chrono::steady_clock::now();
    if (operation.is_oneway) {
        request->send_oneway();
        return {{"sent", true}};
    }
    try {
        request->invoke();
    } catch (const CORBA::SystemException& raised) {
        return {{"failure", failure_of(raised)}};
    }
    const std::chrono::duration<double, std::milli> took = std::chrono::steady_clock::now() - begin;
    Json answer = Json::object();
    const CORBA::Exception* const raised = request->env()->exception();
    const auto* const user = dynamic_cast<const CORBA::UnknownUserException*>(raised);
    if (user != nullptr)
        answer["exception"] = exception_of(
            const_cast<CORBA::UnknownUserException*>(user)->exception(), forms, budget);
    else if (const auto* const system = dynamic_cast<const CORBA::SystemException*>(raised))
        answer["failure"] = failure_of(*system);
    else
        answer = results_of(operation, request.in(), forms);
    answer["ms"] = took.count();
    return answer;
}

Json BrowseObjects::call(const BrowseCall& asked)
{
    const std::shared_ptr<const Opened> opened = find_opened(asked.object);
    const auto& operations = opened->interface->operations;
    const auto found = std::ranges::find(operations, asked.operation, &KnownOperation::wire_name);
    if (found == operations.end())
        fail(fmt::format("{} has no operation {}", opened->interface->name, asked.operation));
    JsonBudget budget(browse_answer_octets_max);
    return invoke(*opened, *found, asked.arguments, budget);
}

Json BrowseObjects::read(const BrowseCall& asked)
{
    const std::shared_ptr<const Opened> opened = find_opened(asked.object);
    const auto& operations = opened->interface->operations;
    Json values = Json::object();
    JsonBudget budget(browse_answer_octets_max);
    for (const std::string& name : asked.attributes) {
        const auto found =
            std::ranges::find(operations, "_get_" + name, &KnownOperation::wire_name);
        if (found == operations.end())
            fail(fmt::format("{} has no attribute {}", opened->interface->name, name));
        Json& value = values[name];
        const JsonBudget left = budget;
        try {
            budget.take_text(name);
            budget.take(4 * JsonBudget::value_octets);
            value = invoke(*opened, *found, Json::array(), budget);
        } catch (const std::runtime_error& wrong) { // JSON has no form for it, or it is too large
            budget = left;                          // for the others
            value = {{"error", wrong.what()}};
        }
        // Who cannot be reached now cannot be asked for the next one either.
        if (value.contains("failure") &&
            (value["failure"]["name"] == "TRANSIENT" || value["failure"]["name"] == "TIMEOUT" ||
             value["failure"]["name"] == "COMM_FAILURE"))
            return {{"failure", value["failure"]}};
    }
    return {{"values", std::move(values)}};
}

} // namespace kairos::tools
