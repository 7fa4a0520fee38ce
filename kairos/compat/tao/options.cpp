// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/tao/options.h"

#include "kairos/compat/tao/service_configuration.h"
#include "kairos/mapping/exception.h"
#include "kairos/orb/configuration.h"
#include "kairos/orb/failure.h"

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

namespace kairos::compat::tao {
namespace {

std::string lower(std::string_view text)
{
    std::string result(text);
    for (char& c : result)
        if (c >= 'A' && c <= 'Z') c = static_cast<char>(c - 'A' + 'a');
    return result;
}

[[noreturn]] void refuse(std::string_view option, std::string_view reason)
{
    orb::raise<CORBA::BAD_PARAM>(orb::minor_code::bad_option, CORBA::COMPLETED_NO,
                                 std::string(option) + ": " + std::string(reason));
}

/// The options of Kairos, as they are spelled.
constexpr std::string_view own_options[] = {
#define KAIROS_OPTION_TOPIC(title, note)
#define KAIROS_OPTION(name, needs, pages, meaning, ...) name,
#define KAIROS_OPTION_SPELLING(name, option)
#include "kairos/orb/option_list.h"
};

/// The spelling of one of our own options; null if it is none.
const std::string_view* find_own(std::string_view lower_name)
{
    const auto* const found = std::ranges::find_if(
        own_options, [&](std::string_view name) { return lower(name) == lower_name; });
    return found == std::end(own_options) ? nullptr : found;
}

/// One of TAO's options.
struct Row {
    std::string_view name; ///< in lower case
    enum class Kind {
        same,         ///< `means` has the same values
        flag,         ///< takes no value, and is ignored
        ignored,      ///< takes a value, and is ignored
        refused,      ///< `means` says why
        refused_flag, ///< likewise, and takes no value
        unless_zero,  ///< 0 is ignored, for it is so here; else `means` says why it is refused
        unless_one,   ///< likewise 1
    } kind;
    std::string_view means{};
};

using Kind = Row::Kind;
constexpr std::string_view no_multicast =
    "services are not looked for by multicast; say where they are with -ORBInitRef";
constexpr std::string_view no_activation =
    "servers are not activated by an Implementation Repository; start the server itself";

// What needs more than a row is in Translator::special.
constexpr Row command_line[] = {
    {"-orbaccepterrordelay", Kind::ignored},
    {"-orballowreactivationofsystemids", Kind::ignored},
    {"-orbamicollocation", Kind::ignored},
    {"-orbconnectionhandlercleanup", Kind::ignored},
    {"-orbdaemon", Kind::refused_flag, "start the program with systemd, or behind setsid"},
    {"-orbdontroute", Kind::unless_zero, "the routes are the system's"},
    {"-orbdefaultinitref", Kind::same, "-ORBDefaultInitRef"},
    {"-orbenforcepreferredinterfaces", Kind::unless_zero, "the routes are the system's"},
    {"-orbfollowforward", Kind::ignored},
    {"-orbforwardinvocationonobjectnotexist", Kind::ignored},
    {"-orbforwardonceoncommfailure", Kind::ignored},
    {"-orbforwardonceoninvobjref", Kind::ignored},
    {"-orbforwardonceonobjectnotexist", Kind::ignored},
    {"-orbforwardonceontransient", Kind::ignored},
    {"-orbgestalt", Kind::ignored},
    {"-orbid", Kind::same, "-ORBid"},
    {"-orbimplreposerviceport", Kind::refused, no_activation},
    {"-orbiphoplimit", Kind::ignored},
    {"-orbipmulticastloop", Kind::ignored},
    {"-orbkeepalive", Kind::unless_zero,
     "dead peers are found by time limits; -ORBClientTimeout and -ORBReceiveTimeout set them"},
    {"-orblinger", Kind::ignored},
    {"-orblistenerinterfaces", Kind::refused, "say the interface's address in -ORBListenEndpoints"},
    {"-orbmaxmessagesize", Kind::same, "-ORBFragmentSize"}, // what TAO means by it
    {"-orbmulticastdiscoveryendpoint", Kind::refused, no_multicast},
    {"-orbnameserviceport", Kind::refused, no_multicast},
    {"-orbnegotiatecodesets", Kind::unless_one, "code sets are always agreed on"},
    {"-orbnodelay", Kind::same, "-ORBNoDelay"},
    {"-orbnoserversidenamelookups", Kind::flag},
    {"-orbparallelconnectdelay", Kind::ignored},
    {"-orbpolicyvalidator", Kind::ignored},
    {"-orbpreferredinterfaces", Kind::refused, "the routes are the system's"},
    {"-orbreceivesock", Kind::same, "-ORBReceiveQueue"},
    {"-orbrcvsock", Kind::same, "-ORBReceiveQueue"},
    {"-orbserverid", Kind::same, "-ORBServerId"},
    {"-orbsinglereadoptimization", Kind::ignored},
    {"-orbskipserviceconfigopen", Kind::flag},
    {"-orbsndsock", Kind::same, "-ORBSendQueue"},
    {"-orbstdprofilecomponents", Kind::unless_one,
     "references always say the ORB's type and code sets"},
    {"-orbtradingserviceport", Kind::refused, no_multicast},
    {"-orbuseimr", Kind::unless_zero, no_activation},
    {"-orbuseparallelconnect", Kind::ignored},
    {"-orbverboselogging", Kind::ignored},
};

/// Options of the objects that svc.conf makes.
constexpr Row of_factories[] = {
    {"-orballowreactivationofsystemids", Kind::ignored},
    {"-orbactivehintinids", Kind::ignored},
    {"-orbactivehintinpoanames", Kind::ignored},
    {"-orbactiveobjectmapsize", Kind::ignored},
    {"-orbclientconnectionhandler", Kind::ignored},
    {"-orbconnectionpurgingstrategy", Kind::ignored},
    {"-orbconnectioncachelock", Kind::ignored},
    {"-orbconnectioncachemax", Kind::same, "-ORBMaxClientConnections"},
    {"-orbconnectioncachepurgepercentage", Kind::ignored},
    {"-orbconnectioncachingstrategy", Kind::ignored},
    {"-orbconnectionpurgingstrategy", Kind::ignored},
    {"-orbconnectstrategy", Kind::ignored},
    {"-orbconnectorlock", Kind::ignored},
    {"-orbcorbaobjectlock", Kind::ignored},
    {"-orbdisablertcollocation", Kind::ignored},
    {"-orbdroprepliesduringshutdown", Kind::ignored},
    {"-orbflushingstrategy", Kind::ignored},
    {"-orbinputcdrallocator", Kind::ignored},
    {"-orbiorparser", Kind::ignored},
    {"-orbmuxedconnectionmax", Kind::ignored},
    {"-orbnativecharcodeset", Kind::same, "-ORBNativeCharCodeSet"},
    {"-orbnativewcharcodeset", Kind::same, "-ORBNativeWCharCodeSet"},
    {"-orbobjectkeytablelock", Kind::ignored},
    {"-orboutputcdrallocator", Kind::ignored},
    {"-orbpersistentidpolicydemuxstrategy", Kind::ignored},
    {"-orbpersistentidpolicyreversedemuxstrategy", Kind::ignored},
    {"-orbpoalock", Kind::ignored},
    {"-orbpoamaplock", Kind::ignored},
    {"-orbpoamapsize", Kind::ignored},
    {"-orbprofilelock", Kind::ignored},
    {"-orbprotocolfactory", Kind::ignored},
    {"-orbpurgepercentage", Kind::ignored},
    {"-orbreactormasksignals", Kind::ignored},
    {"-orbreactorregistry", Kind::ignored},
    {"-orbreactorthreadqueue", Kind::ignored},
    {"-orbreactortype", Kind::ignored},
    {"-orbreplydispatchertablesize", Kind::ignored},
    {"-orbresources", Kind::ignored},
    {"-orbschedpolicy", Kind::ignored},
    {"-orbscopepolicy", Kind::ignored},
    {"-orbtablesize", Kind::ignored},
    {"-orbthreadflags", Kind::ignored},
    {"-orbthreadperconnectiontimeout", Kind::ignored},
    {"-orbtransientidpolicydemuxstrategy", Kind::ignored},
    {"-orbtransportmuxstrategylock", Kind::ignored},
    {"-orbuniqueidpolicyreversedemuxstrategy", Kind::ignored},
    {"-orbuseridpolicydemuxstrategy", Kind::ignored},
    {"-orbwaitstrategy", Kind::ignored},
    {"-orbzerocopywrite", Kind::flag},
};

/// One value of an option of TAO's, and Kairos's option and value for it.
struct Choice {
    std::string_view name; ///< in lower case, as the value
    std::string_view value;
    std::string_view option;
    std::string_view becomes;
};

constexpr Choice choices[] = {
    {"-orbcollocation", "global", "-ORBCollocation", "through-poa"},
    {"-orbcollocation", "per-orb", "-ORBCollocation", "through-poa"},
    {"-orbcollocation", "yes", "-ORBCollocation", "through-poa"},
    {"-orbcollocation", "no", "-ORBCollocation", "no"},
    {"-orbcollocationstrategy", "best", "-ORBCollocation", "through-poa"},
    {"-orbcollocationstrategy", "direct", "-ORBCollocation", "direct"},
    {"-orbcollocationstrategy", "thru_poa", "-ORBCollocation", "through-poa"},
    {"-orbconcurrency", "reactive", "-ORBConcurrency", "reactor"},
    {"-orbdotteddecimaladdresses", "0", "-ORBPublish", "hostname"},
    {"-orbdotteddecimaladdresses", "1", "-ORBPublish", "addresses"},
    {"-orbpreferipv6interfaces", "0", "", ""},
    {"-orbpreferipv6interfaces", "1", "-ORBPublish", "ipv6"},
    {"-orbprioritymapping", "continuous", "-ORBPriorityMapping", "linear"},
    {"-orbprioritymapping", "linear", "-ORBPriorityMapping", "linear"},
    {"-orbprioritymapping", "direct", "-ORBPriorityMapping", "direct"},
    {"-orbschedpolicy", "sched_other", "", ""},
    {"-orbschedpolicy", "sched_fifo", "-ORBSchedulingPolicy", "fifo"},
    {"-orbschedpolicy", "sched_rr", "-ORBSchedulingPolicy", "rr"},
    {"-orbsystemidpolicydemuxstrategy", "active", "-ORBDemux", "active"},
    {"-orbsystemidpolicydemuxstrategy", "dynamic", "-ORBDemux", "hash"},
    {"-orbsystemidpolicydemuxstrategy", "linear", "-ORBDemux", "linear"},
    {"-orbtransportmuxstrategy", "exclusive", "-ORBConnection", "non-multiplexed"},
    {"-orbtransportmuxstrategy", "muxed", "-ORBConnection", "leader-followers"},
    {"-orbusesharedprofile", "0", "-ORBPublishAs", "profiles"},
    {"-orbusesharedprofile", "1", "-ORBPublishAs", "alternates"},
};

const Row* find(const auto& rows, std::string_view name)
{
    const auto* const found = std::ranges::find(rows, name, &Row::name);
    return found == std::end(rows) ? nullptr : found;
}

bool is_number(std::string_view text)
{
    return !text.empty() && text.size() < 10 &&
           std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
}

/// Reads one command line, or the options of one object of svc.conf.
class Translator {
  public:
    Translator(Translated& result, int depth) : result_(result), depth_(depth) {}

    void run(const std::vector<std::string>& arguments, bool of_factory)
    {
        of_factory_ = of_factory;
        for (next_ = 0; next_ < arguments.size();) {
            const std::string& argument = arguments[next_++];
            if (!lower(argument).starts_with("-orb")) {
                if (of_factory)
                    ignore(argument, nullptr);
                else
                    result_.arguments.push_back(argument);
                continue;
            }
            const std::size_t equals = argument.find('=');
            given_.reset();
            if (equals != std::string::npos) given_ = argument.substr(equals + 1);
            arguments_ = &arguments;
            option(argument.substr(0, equals));
        }
    }

  private:
    /// The value of the option that is being read.
    std::string value(const std::string& name)
    {
        if (given_) return *std::exchange(given_, std::nullopt);
        if (next_ == arguments_->size()) refuse(name, "needs a value");
        return (*arguments_)[next_++];
    }

    void ignore(const std::string& name, const std::string* its_value)
    {
        result_.ignored.push_back(its_value == nullptr ? name : name + " " + *its_value);
    }

    void set(std::string_view option, std::string its_value)
    {
        result_.arguments.emplace_back(option);
        result_.arguments.push_back(std::move(its_value));
    }

    void option(const std::string& name)
    {
        const std::string key = lower(name);
        if (special(name, key) || choice(name, key)) return;
        const Row* row = find(command_line, key);
        if (row == nullptr && of_factory_) row = find(of_factories, key);
        if (row != nullptr) return by_row(name, *row);
        if (const std::string_view* own = find_own(key); own != nullptr && !of_factory_)
            return set(*own, value(name));
        if (key.size() > 7 && key.ends_with("ior")) // -ORBNameServiceIOR
            return set("-ORBInitRef", name.substr(4, name.size() - 7) + "=" + value(name));
        if (of_factory_) refuse(name, "neither TAO nor Kairos has such an option");
        set(name, given_ ? value(name) : std::string());
        if (result_.arguments.back().empty()) result_.arguments.pop_back();
    }

    void by_row(const std::string& name, const Row& row)
    {
        switch (row.kind) {
        case Kind::same:
            return set(row.means, value(name));
        case Kind::flag:
            return ignore(name, nullptr);
        case Kind::refused:
            (void)value(name);
            [[fallthrough]];
        case Kind::refused_flag:
            refuse(name, row.means);
        case Kind::ignored:
        case Kind::unless_zero:
        case Kind::unless_one:
            break;
        }
        const std::string its_value = value(name);
        if ((row.kind == Kind::unless_zero && its_value != "0") ||
            (row.kind == Kind::unless_one && its_value != "1"))
            refuse(name + " " + its_value, row.means);
        ignore(name, &its_value);
    }

    /// Returns whether the option is one whose values have names here. Kairos's own values of an
    /// option of the same name stay.
    bool choice(const std::string& name, const std::string& key)
    {
        if (std::ranges::find(choices, key, &Choice::name) == std::end(choices)) return false;
        if (const Row* row = of_factory_ ? find(of_factories, key) : nullptr;
            row != nullptr && row->kind != Kind::ignored)
            return false;
        const std::string its_value = value(name);
        std::string known;
        for (const Choice& each : choices) {
            if (each.name != key) continue;
            if (each.value == lower(its_value)) {
                if (each.option.empty())
                    ignore(name, &its_value);
                else
                    set(each.option, std::string(each.becomes));
                return true;
            }
            known.append(known.empty() ? "" : ", ").append(each.value);
        }
        const std::string_view* own = find_own(key);
        if (own == nullptr) refuse(name + " " + its_value, "it is one of " + known);
        set(*own, its_value); // ORB_init refuses what is no value
        return true;
    }

    /// Returns whether the option is one of those that need more than a row.
    bool special(const std::string& name, const std::string& key)
    {
        if (key == "-orbdebuglevel") {
            const std::string level = value(name);
            if (!is_number(level)) refuse(name + " " + level, "a number is needed");
            result_.debug_level = std::atoi(level.c_str());
            set("-ORBDebug", std::to_string(std::min(result_.debug_level, 3)));
        } else if (key == "-orbdebug") { // TAO's takes no value, ours a level
            const bool has_level =
                given_ || (next_ < arguments_->size() && is_number((*arguments_)[next_]));
            set("-ORBDebug", has_level ? value(name) : "1");
        } else if (key == "-orbendpoint" || key == "-orblistenendpoint" ||
                   key == "-orblistenendpoints") {
            set("-ORBListenEndpoints", translate_endpoints(value(name), result_.ignored));
        } else if (key == "-orblogfile") {
            result_.log_file = value(name);
        } else if (key == "-orbobjrefstyle") {
            const std::string style = value(name);
            if (lower(style) != "ior")
                refuse(name + " " + style, "object_to_string gives IOR: texts only; `kairos ior` "
                                           "shows the corbaloc: of one");
            ignore(name, &style);
        } else if (key == "-orbsvcconf") {
            file(name, value(name));
        } else if (key == "-orbsvcconfdirective") {
            text(value(name), name);
        } else {
            return false;
        }
        return true;
    }

    void file(const std::string& name, const std::string& path)
    {
        if (depth_ != 0) refuse(name, "it belongs on the command line");
        const auto content = orb::read_configuration(path);
        if (!content) refuse(name, content.error().reason);
        text(*content, path);
    }

    void text(const std::string& directives, const std::string& where)
    {
        Translated more = translate_configuration(directives, where);
        std::ranges::move(more.arguments, std::back_inserter(result_.arguments));
        std::ranges::move(more.ignored, std::back_inserter(result_.ignored));
    }

    Translated& result_;
    const int depth_;
    bool of_factory_ = false;
    const std::vector<std::string>* arguments_ = nullptr;
    std::size_t next_ = 0;
    std::optional<std::string> given_;
};

} // namespace

Translated translate(const std::vector<std::string>& arguments)
{
    Translated result;
    Translator(result, 0).run(arguments, false);
    return result;
}

Translated translate_configuration(const std::string& text, const std::string& file)
{
    Translated result;
    for (const Directive& directive : parse_directives(text, file)) {
        if (directive.is_static && is_known_factory(directive.name)) {
            Translator(result, 1).run(directive.arguments, true);
            continue;
        }
        result.ignored.push_back(file + ": " + directive.text);
    }
    return result;
}

} // namespace kairos::compat::tao
