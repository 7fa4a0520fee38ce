// SPDX-License-Identifier: Apache-2.0
//
// `kairos names ls|tree|bind|rebind|unbind|resolve|mkdir|watch`: the Naming Service from the
// command line, any ORB's.
#include "kairos/ior/profile.h"
#include "kairos/naming/KairosNaming.h"
#include "kairos/naming/name.h"
#include "kairos/orb/reference.h"
#include "tools/kairos/commands.h"
#include "tools/kairos/names.h"
#include "tools/kairos/reference_argument.h"

#include <CLI/CLI.hpp>
#include <cstdio>
#include <fmt/format.h>
#include <memory>
#include <set>
#include <stdexcept>
#include <vector>

namespace kairos::tools {

using CosNaming::NamingContext;
using CosNaming::NamingContext_var;

CosNaming::Name parse_name_argument(const std::string& text)
{
    const auto name = ior::parse_name(text);
    if (!name) throw std::runtime_error(text + ": " + name.error().reason);
    return naming::to_idl(*name);
}

std::string text_of(const CosNaming::Binding& binding)
{
    const bool is_context = binding.binding_type == CosNaming::ncontext;
    return ior::to_string(naming::from_idl(binding.binding_name)) + (is_context ? "/" : "");
}

nlohmann::json json_of(const CosNaming::Binding& binding)
{
    const ior::Name name = naming::from_idl(binding.binding_name);
    nlohmann::json json{
        {"name", ior::to_string(name)},
        {"type", binding.binding_type == CosNaming::ncontext ? "context" : "object"}};
    if (name.size() == 1) {
        json["id"] = name[0].id;
        json["kind"] = name[0].kind;
    }
    return json;
}

std::string dump(const nlohmann::json& json)
{
    constexpr auto replace = nlohmann::json::error_handler_t::replace;
    const std::string text = json.dump(-1, ' ', false, replace);
    return is_shown_as_it_is(text) ? text : json.dump(-1, ' ', true, replace);
}

NamingContext_var NamesSession::context(const std::string& name) const
{
    if (name.empty()) return NamingContext::_duplicate(root.in());
    const CORBA::Object_var object = root->resolve(parse_name_argument(name));
    NamingContext_var context = NamingContext::_narrow(object.in());
    if (CORBA::is_nil(context.in()))
        throw std::runtime_error(name + ": is an object, not a naming context");
    return context;
}

namespace {

// --- the commands --------------------------------------------------------------------------------

std::string type_id_of(CORBA::Object_ptr object)
{
    if (CORBA::is_nil(object) || !object->_kairos_reference()) return "";
    return object->_kairos_reference()->ior().type_id;
}

std::string address_of(CORBA::Object_ptr object)
{
    if (CORBA::is_nil(object) || !object->_kairos_reference()) return "";
    const auto targets = ior::targets(object->_kairos_reference()->ior());
    return targets.empty() ? "" : ior::to_string(targets.front().address);
}

/// What the context's server knows of the objects that are bound in it, if it looks after them.
class LivenessOf {
  public:
    /// Asks nobody unless `wanted`.
    LivenessOf(NamingContext::_ptr_type context, bool wanted)
    {
        if (wanted) context_ = KairosNaming::NamingContext::_narrow(context);
    }
    /// "alive", "dead", or "" for what is not known.
    [[nodiscard]] std::string operator()(const CosNaming::Binding& binding) const
    {
        if (CORBA::is_nil(context_.in())) return "";
        CosNaming::BindingList bindings;
        bindings.length(1);
        bindings[0] = binding;
        const KairosNaming::LivenessList_var list = context_->liveness(bindings);
        if (list->length() != 1 || list[0] == KairosNaming::not_known) return "";
        return list[0] == KairosNaming::alive ? "alive" : "dead";
    }

  private:
    KairosNaming::NamingContext_var context_;
};

/// A JSON array whose elements are printed as they come.
class JsonArray {
  public:
    void add(const nlohmann::json& element)
    {
        fmt::print("{}  {}", first_ ? "[\n" : ",\n", dump(element));
        first_ = false;
    }
    void end() { fmt::print("{}\n", first_ ? "[]" : "\n]"); }

  private:
    bool first_ = true;
};

void list_names(const NamesSession& session, const NamesArguments& arguments)
{
    const NamingContext_var context = session.context(arguments.name);
    const LivenessOf liveness_of(context.in(), arguments.details);
    JsonArray array;
    const auto print = [&](const CosNaming::Binding& binding) {
        CORBA::Object_var object;
        if (arguments.details) object = context->resolve(binding.binding_name);
        nlohmann::json json = json_of(binding);
        const std::string liveness = liveness_of(binding);
        if (!liveness.empty()) json["liveness"] = liveness;
        if (arguments.details) {
            json["type_id"] = type_id_of(object.in());
            json["address"] = address_of(object.in());
        }
        if (arguments.json)
            array.add(json);
        else if (arguments.details)
            fmt::print("{:24}  {:40}  {}{}\n", shown(text_of(binding)),
                       shown(type_id_of(object.in())), shown(address_of(object.in())),
                       liveness.empty() ? "" : "  " + liveness);
        else
            fmt::print("{}\n", shown(text_of(binding)));
    };
    naming::for_each_binding(context.in(), print, arguments.portion);
    if (arguments.json) array.end();
}

/// Walks contexts within contexts. They may contain each other, so each is listed once.
class TreePrinter {
  public:
    TreePrinter(const NamesSession& session, const NamesArguments& arguments)
        : session_(session), arguments_(arguments)
    {
    }

    /// The bindings below; printed, or for JSON returned.
    nlohmann::json walk(NamingContext::_ptr_type context, unsigned depth)
    {
        const LivenessOf liveness_of(context, arguments_.details);
        nlohmann::json bindings = nlohmann::json::array();
        naming::for_each_binding(
            context,
            [&](const CosNaming::Binding& binding) {
                nlohmann::json json = json_of(binding);
                const std::string liveness = liveness_of(binding);
                if (!liveness.empty()) json["liveness"] = liveness;
                if (!arguments_.json)
                    fmt::print("{:{}}{}{}\n", "", 2 * depth, shown(text_of(binding)),
                               liveness == "dead" ? "  dead" : "");
                if (binding.binding_type == CosNaming::ncontext)
                    walk_into(context, binding, depth + 1, json);
                if (arguments_.json) bindings.push_back(std::move(json));
            },
            arguments_.portion);
        return bindings;
    }

    /// Remembers that the context is being listed; false if it is one of those already.
    [[nodiscard]] bool begin(NamingContext::_ptr_type context)
    {
        const CORBA::String_var reference = session_.orb->object_to_string(context);
        return listed_.insert(reference.in()).second;
    }

    [[nodiscard]] bool complete() const { return complete_; }

  private:
    void walk_into(NamingContext::_ptr_type outer, const CosNaming::Binding& binding,
                   unsigned depth, nlohmann::json& json)
    {
        std::string note;
        if (depth == arguments_.depth) {
            note = "not listed: --depth";
        } else {
            try {
                const CORBA::Object_var object = outer->resolve(binding.binding_name);
                const NamingContext_var inner = NamingContext::_narrow(object.in());
                if (CORBA::is_nil(inner.in()))
                    note = "not a naming context";
                else if (!begin(inner.in()))
                    note = "listed above";
                else
                    json["bindings"] = walk(inner.in(), depth);
            } catch (const CORBA::Exception& failure) { // perhaps it is another server's
                complete_ = false;
                note = failure.what();
            }
        }
        if (note.empty()) return;
        json["note"] = note;
        if (!arguments_.json) fmt::print("{:{}}({})\n", "", 2 * depth, shown(note));
    }

    const NamesSession& session_;
    const NamesArguments& arguments_;
    std::set<std::string> listed_;
    bool complete_ = true;
};

void print_tree(const NamesSession& session, const NamesArguments& arguments)
{
    const NamingContext_var context = session.context(arguments.name);
    TreePrinter printer(session, arguments);
    (void)printer.begin(context.in());
    const nlohmann::json bindings = printer.walk(context.in(), 0);
    if (arguments.json) fmt::print("{}\n", dump(bindings));
    if (!printer.complete()) throw std::runtime_error("some contexts could not be listed");
}

/// Makes the contexts on the way to the name; those that are there stay.
void make_parents(NamingContext::_ptr_type root, const CosNaming::Name& name)
{
    CosNaming::Name parent;
    for (CORBA::ULong length = 1; length < name.length(); ++length) {
        parent.length(length);
        parent[length - 1] = name[length - 1];
        try {
            (void)NamingContext_var(root->bind_new_context(parent));
        } catch (const NamingContext::AlreadyBound&) {
        }
    }
}

CORBA::Object_var object_argument(const NamesSession& session, const NamesArguments& arguments)
{
    const auto url = url_of(arguments.reference);
    if (!url) throw std::runtime_error(url.error().reason);
    CORBA::Object_var object = session.orb->string_to_object(url->c_str());
    if (CORBA::is_nil(object.in())) throw std::runtime_error("the reference is nil");
    return object;
}

void report(const NamesArguments& arguments, const char* done)
{
    if (arguments.json)
        fmt::print("{}\n", dump({{done, arguments.name}}));
    else
        fmt::print("{} {}\n", done, shown(arguments.name));
}

void bind_name(const NamesSession& session, const NamesArguments& arguments, bool replace)
{
    const CosNaming::Name name = parse_name_argument(arguments.name);
    const CORBA::Object_var object = object_argument(session, arguments);
    if (arguments.parents) make_parents(session.root.in(), name);
    if (arguments.context) {
        const NamingContext_var context = NamingContext::_narrow(object.in());
        if (CORBA::is_nil(context.in()))
            throw std::runtime_error("the reference is not one of a naming context");
        if (replace)
            session.root->rebind_context(name, context.in());
        else
            session.root->bind_context(name, context.in());
    } else if (replace) {
        session.root->rebind(name, object.in());
    } else {
        session.root->bind(name, object.in());
    }
    report(arguments, replace ? "rebound" : "bound");
}

/// What nobody finds any more by the name of a context.
struct Lost {
    std::size_t bindings = 0;
    std::string first; ///< the names of a few
    std::string reference;

    [[nodiscard]] std::string text() const
    {
        return fmt::format("{} {} ({})", bindings, bindings == 1 ? "binding" : "bindings", first);
    }
};

/// Nothing where the name is not one of a context, or of one whose server cannot be asked.
Lost lost_with(const NamesSession& session, const NamesArguments& arguments,
               const CosNaming::Name& name)
{
    constexpr std::size_t named_max = 5;
    Lost lost;
    const CORBA::Object_var object = session.root->resolve(name);
    // No object is asked what it is, which may be gone, if its reference says that it is another.
    const std::string type = type_id_of(object.in());
    if (CORBA::is_nil(object.in()) ||
        (!type.empty() && type.find("NamingContext") == std::string::npos))
        return lost;
    try {
        const NamingContext_var context = NamingContext::_narrow(object.in());
        if (CORBA::is_nil(context.in())) return lost;
        const auto count = [&](const CosNaming::Binding& binding) {
            if (lost.bindings < named_max)
                lost.first += (lost.bindings == 0 ? "" : ", ") + text_of(binding);
            if (lost.bindings++ == named_max) lost.first += ", …";
        };
        naming::for_each_binding(context.in(), count, arguments.portion);
        lost.reference = CORBA::String_var(session.orb->object_to_string(object.in())).in();
    } catch (const CORBA::SystemException&) {
        return {};
    }
    return lost;
}

void unbind_name(const NamesSession& session, const NamesArguments& arguments)
{
    const CosNaming::Name name = parse_name_argument(arguments.name);
    if (arguments.destroy) session.context(arguments.name)->destroy();
    const Lost lost = arguments.destroy ? Lost{} : lost_with(session, arguments, name);
    if (lost.bindings != 0 && !arguments.force)
        throw std::runtime_error(arguments.name + ": is a naming context with " + lost.text() +
                                 ", which this name may be the only way to: unbind them first, "
                                 "or say --force");
    session.root->unbind(name);
    if (arguments.json && lost.bindings != 0)
        return fmt::print("{}\n", dump({{"unbound", arguments.name},
                                        {"bindings", lost.bindings},
                                        {"reference", lost.reference}}));
    report(arguments, "unbound");
    if (lost.bindings != 0)
        fmt::print("with {}; the context is still there: {}\n", shown(lost.text()), lost.reference);
}

void resolve_name(const NamesSession& session, const NamesArguments& arguments)
{
    const CORBA::Object_var object = session.root->resolve(parse_name_argument(arguments.name));
    const CORBA::String_var text = session.orb->object_to_string(object.in());
    if (arguments.json)
        fmt::print("{}\n", dump({{"name", arguments.name},
                                 {"reference", text.in()},
                                 {"type_id", type_id_of(object.in())},
                                 {"address", address_of(object.in())}}));
    else
        fmt::print("{}\n", text.in());
}

void make_context(const NamesSession& session, const NamesArguments& arguments)
{
    const CosNaming::Name name = parse_name_argument(arguments.name);
    if (arguments.parents) make_parents(session.root.in(), name);
    (void)NamingContext_var(session.root->bind_new_context(name));
    report(arguments, "made");
}

// --- from arguments to a command, and from exceptions to messages --------------------------------

NamesSession open_session(const NamesArguments& arguments,
                          const std::vector<std::string>& orb_options)
{
    // Names are text of this terminal's, unless an option says otherwise.
    std::vector<std::string> texts{"kairos", "-ORBNativeCharCodeSet", "UTF-8"};
    texts.insert(texts.end(), orb_options.begin(), orb_options.end());
    std::vector<char*> argv;
    for (std::string& text : texts)
        argv.push_back(text.data());
    argv.push_back(nullptr);
    int argc = static_cast<int>(texts.size());
    NamesSession session;
    session.orb = CORBA::ORB_init(argc, argv.data(), "kairos-names");

    std::string url = "corbaname:rir:";
    if (!arguments.service.empty()) {
        const auto given = url_of(arguments.service);
        if (!given) throw std::runtime_error(given.error().reason);
        url = *given;
    }
    CORBA::Object_var object;
    try {
        object = session.orb->string_to_object(url.c_str());
    } catch (const CORBA::ORB::InvalidName&) {
        throw std::runtime_error(
            "no naming service is known: say --service corbaloc::HOST:PORT/NameService, "
            "-ORBInitRef NameService=URL, or set KAIROS_NAME_SERVICE");
    }
    session.root = NamingContext::_narrow(object.in());
    if (CORBA::is_nil(session.root.in()))
        throw std::runtime_error(url + " is not a naming context");
    return session;
}

std::string not_found_text(const NamingContext::NotFound& failure)
{
    const CosNaming::Name& rest = failure.rest_of_name;
    CosNaming::Name first = rest;
    if (first.length() > 1) first.length(1);
    const std::string at = ior::to_string(naming::from_idl(first));
    switch (failure.why) {
    case NamingContext::not_context:
        return "not found: '" + at + "' is an object, not a naming context";
    case NamingContext::not_object:
        return "'" + at + "' is a naming context, not an object";
    default:
        return "not found: there is no '" + at + "'";
    }
}

using Command = void (*)(const NamesSession& session, const NamesArguments& arguments);

/// The exit status.
int run(Command command, const NamesArguments& arguments,
        const std::vector<std::string>& orb_options)
{
    const std::string name = arguments.name.empty() ? "" : arguments.name + ": ";
    std::string message;
    try {
        command(open_session(arguments, orb_options), arguments);
        return 0;
    } catch (const NamingContext::NotFound& failure) {
        message = name + not_found_text(failure);
    } catch (const NamingContext::CannotProceed& failure) {
        message = name + "the server cannot proceed with '" +
                  ior::to_string(naming::from_idl(failure.rest_of_name)) + "'";
    } catch (const NamingContext::AlreadyBound&) {
        message = name + "already bound";
    } catch (const NamingContext::NotEmpty&) {
        message = name + "the context is not empty";
    } catch (const NamingContext::InvalidName&) {
        message = name + "the server says that the name is invalid";
    } catch (const std::exception& failure) {
        message = failure.what();
    }
    fmt::print(stderr, "kairos names: {}\n", shown(message));
    return 1;
}

/// Adds one sub-command after the other to `kairos names`.
class NamesParser {
  public:
    NamesParser(CLI::App& names, const std::vector<std::string>& orb_options, int& status)
        : names_(names), orb_options_(orb_options), status_(status)
    {
        names
            .add_option("-s,--service", arguments_->service,
                        "Its root context: corbaloc::HOST:PORT/NameService, IOR:…, or a file "
                        "with one; else -ORBInitRef or -ORBDefaultInitRef says it")
            ->type_name("REFERENCE")
            ->envname("KAIROS_NAME_SERVICE");
        names.add_flag("--json", arguments_->json, "Print JSON");
        names.add_option("--portion", arguments_->portion, "Bindings in one reply")
            ->check(CLI::Range(1u, 100'000u))
            ->capture_default_str();
    }

    void add_reading()
    {
        auto* ls = add_of_context("ls", "List a context", &list_names);
        ls->add_flag("-l,--long", arguments_->details,
                     "With type and address of each object, and whether it is alive if the server "
                     "knows");
        auto* tree = add_of_context("tree", "List a context and those within", &print_tree);
        tree->add_flag("-l,--long", arguments_->details,
                       "Say what is dead, as far as the server knows");
        tree->add_option("--depth", arguments_->depth, "Levels")
            ->check(CLI::Range(1u, 1000u))
            ->default_val(64);
        add_of_name("resolve", "Print the reference of a name", &resolve_name);
        auto* watch =
            add_of_context("watch", "Print changes of a context, by asking again and again",
                           [](const auto& session, const auto& all) { watch_names(session, all); });
        watch->add_option("--interval", arguments_->interval_s, "Seconds between two askings")
            ->check(CLI::Range(0.001, 86'400.0))
            ->default_val(2.0);
        watch->add_flag("--references", arguments_->references,
                        "Notice other references of the same name, too: a call for each binding");
    }

    void add_changing()
    {
        add_binding("bind", "Bind a name to a reference",
                    [](const auto& session, const auto& all) { bind_name(session, all, false); });
        add_binding("rebind", "Bind a name, whether it is bound or not",
                    [](const auto& session, const auto& all) { bind_name(session, all, true); });
        auto* unbind = add_of_name("unbind", "Unbind a name", &unbind_name);
        unbind->add_flag("--destroy", arguments_->destroy,
                         "Destroy the empty context that it names");
        unbind->add_flag("-f,--force", arguments_->force,
                         "Also a context that has bindings, and prints its reference: nobody finds "
                         "them by this name any more");
        add_parents(add_of_name("mkdir", "Make a context and bind it", &make_context));
    }

  private:
    CLI::App* add(const char* verb, const char* help, Command command)
    {
        auto* one = names_.add_subcommand(verb, help);
        one->fallthrough(); // --service and --json may stand behind it
        one->callback([command, arguments = arguments_, &orb_options = orb_options_,
                       &status = status_] { status = run(command, *arguments, orb_options); });
        return one;
    }
    CLI::App* add_of_context(const char* verb, const char* help, Command command)
    {
        auto* one = add(verb, help, command);
        one->add_option("name", arguments_->name, "A context, such as dev/robot; else the root")
            ->type_name("NAME");
        return one;
    }
    CLI::App* add_of_name(const char* verb, const char* help, Command command)
    {
        auto* one = add(verb, help, command);
        one->add_option("name", arguments_->name, "A name, such as dev/robot/arm.motor")
            ->required()
            ->type_name("NAME");
        return one;
    }
    void add_binding(const char* verb, const char* help, Command command)
    {
        auto* one = add_of_name(verb, help, command);
        one->add_option("reference", arguments_->reference,
                        "IOR:…, corbaloc:…, corbaname:…, a file with one, or -")
            ->required()
            ->type_name("REFERENCE");
        one->add_flag("-c,--context", arguments_->context, "Bind it as a context");
        add_parents(one);
    }
    void add_parents(CLI::App* one)
    {
        one->add_flag("-p,--parents", arguments_->parents, "Make the contexts that are missing");
    }

    CLI::App& names_;
    const std::vector<std::string>& orb_options_;
    int& status_;
    const std::shared_ptr<NamesArguments> arguments_ = std::make_shared<NamesArguments>();
};

} // namespace

void add_names_command(CLI::App& app, const std::vector<std::string>& orb_options, int& status)
{
    auto* names = app.add_subcommand("names", "Show and change what a Naming Service has");
    names->require_subcommand(1);
    names->footer(orb_options_footer);
    names->fallthrough();
    NamesParser parser(*names, orb_options, status);
    parser.add_reading();
    parser.add_changing();
}

} // namespace kairos::tools
