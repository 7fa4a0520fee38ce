// SPDX-License-Identifier: Apache-2.0
#include "kairos/compat/omniorb/arguments.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <limits>
#include <map>
#include <optional>

namespace kairos::omniorb {
namespace {

constexpr std::size_t configuration_max = 1 << 20;

Error refused(std::string_view name, std::string_view value, std::string_view why)
{
    return Error{ErrorCode::invalid_argument,
                 "-ORB" + std::string(name) + " '" + std::string(value) + "': " + std::string(why)};
}

/// What an option is told, and where what it says goes.
struct Option {
    std::string_view name;
    std::string_view value;
    Settings& settings;

    [[nodiscard]] Error refuse(std::string_view why) const { return refused(name, value, why); }
    void say(std::string_view kairos, std::string said) const
    {
        settings.arguments.emplace_back(kairos);
        settings.arguments.push_back(std::move(said));
    }
    [[nodiscard]] std::optional<std::uint64_t> number() const
    {
        std::uint64_t found = 0;
        const char* end = value.data() + value.size();
        const auto [rest, error] = std::from_chars(value.data(), end, found);
        if (error != std::errc() || rest != end) return std::nullopt;
        return found;
    }
};

using Heed = Result<void> (*)(const Option&);

Result<void> need_number(const Option& option, std::uint64_t max, std::uint64_t& found)
{
    const auto number = option.number();
    if (!number || *number > max)
        return option.refuse("a number from 0 to " + std::to_string(max) + " is wanted");
    found = *number;
    return {};
}

Result<void> need_flag(const Option& option, bool& found)
{
    if (option.value != "0" && option.value != "1") return option.refuse("0 or 1 is wanted");
    found = option.value == "1";
    return {};
}

/// Hands the number over as it is.
template <const char* const& kairos>
Result<void> same_number(const Option& option)
{
    std::uint64_t number = 0;
    if (auto good = need_number(option, std::numeric_limits<std::int32_t>::max(), number); !good)
        return good;
    option.say(kairos, std::to_string(number));
    return {};
}

/// Seconds there, milliseconds here.
template <const char* const& kairos>
Result<void> seconds(const Option& option)
{
    std::uint64_t number = 0;
    if (auto good = need_number(option, 2'000'000, number); !good) return good;
    option.say(kairos, std::to_string(number * 1000));
    return {};
}

/// Hands the text over as it is: Kairos refuses it if it means nothing.
template <const char* const& kairos>
Result<void> same_text(const Option& option)
{
    option.say(kairos, std::string(option.value));
    return {};
}

constexpr const char* client_timeout = "-ORBClientTimeout";
constexpr const char* connect_timeout_option = "-ORBConnectTimeout";
constexpr const char* receive_timeout = "-ORBReceiveTimeout";
constexpr const char* client_idle = "-ORBClientIdle";
constexpr const char* giop_version = "-ORBGIOPVersion";
constexpr const char* init_ref = "-ORBInitRef";
constexpr const char* default_init_ref = "-ORBDefaultInitRef";
constexpr const char* native_char = "-ORBNativeCharCodeSet";
constexpr const char* native_wchar = "-ORBNativeWCharCodeSet";
constexpr const char* exception_id_in_any = "-ORBExceptionIdInAny";

Result<void> end_point(const Option& option)
{
    constexpr std::string_view tcp = "giop:tcp:";
    constexpr std::string_view ssl = "giop:ssl:";
    constexpr std::string_view unix_socket = "giop:unix:";
    if (const bool is_tls = option.value.starts_with(ssl);
        is_tls || option.value.starts_with(tcp)) {
        std::string at(option.value.substr(tcp.size())); // both are as long
        if (at == ":") at.clear();
        if (at.ends_with(':')) at.pop_back();
        option.say("-ORBListenEndpoints", (is_tls ? "ssliop://" : "iiop://") + at);
    } else if (option.value.starts_with(unix_socket)) {
        option.say("-ORBListenEndpoints",
                   "uiop://" + std::string(option.value.substr(unix_socket.size())));
    } else if (option.value.starts_with("giop:http")) {
        return option.refuse("Kairos has no HTTP; giop:ssl: would do");
    } else {
        return option.refuse(
            "giop:tcp:[host]:[port], giop:ssl:[host]:[port] or giop:unix:[path] is wanted");
    }
    return {};
}

/// "addr", "all(addr)", "ipv4", "name", … or an endpoint.
Result<std::string> publish_item(const Option& option, std::string_view item)
{
    constexpr std::string_view all = "all(";
    if (item.starts_with(all) && item.ends_with(')'))
        item = item.substr(all.size(), item.size() - all.size() - 1);
    constexpr std::string_view tcp = "giop:tcp:";
    if (item.starts_with(tcp)) return "host=" + std::string(item.substr(tcp.size()));
    static const std::map<std::string_view, const char*> known{{"addr", "addresses"},
                                                               {"ipv4", "ipv4"},
                                                               {"ipv6", "ipv6"},
                                                               {"name", "hostname"},
                                                               {"hostname", "hostname"}};
    const auto found = known.find(item);
    if (found == known.end())
        return option.refuse("addr, ipv4, ipv6, name, hostname, all(…) of these or "
                             "giop:tcp:host:port are wanted; -ORBPublish has more");
    return std::string(found->second);
}

Result<void> end_point_publish(const Option& option)
{
    std::string said;
    std::string_view rest = option.value;
    while (true) {
        const std::size_t comma = rest.find(',');
        auto item = publish_item(option, rest.substr(0, comma));
        if (!item) return item.error();
        said.append(said.empty() ? "" : ",").append(*item);
        if (comma == std::string_view::npos) break;
        rest.remove_prefix(comma + 1);
    }
    option.say("-ORBPublish", said);
    return {};
}

Result<void> message_size(const Option& option)
{
    std::uint64_t number = 0;
    if (auto good = need_number(option, std::numeric_limits<std::int32_t>::max(), number); !good)
        return good;
    if (number < 8192) return option.refuse("at least 8192 is wanted");
    option.say("-ORBMaxMessageSize", std::to_string(number));
    return {};
}

Result<void> thread_per_connection(const Option& option)
{
    bool each = true;
    if (auto good = need_flag(option, each); !good) return good;
    option.say("-ORBConcurrency", each ? "thread-per-connection" : "worker-pool");
    return {};
}

Result<void> one_call(const Option& option)
{
    bool one = true;
    if (auto good = need_flag(option, one); !good) return good;
    option.say("-ORBConnection", one ? "non-multiplexed" : "leader-followers");
    return {};
}

/// Traces of calls begin at 10 there, of all bytes at 40.
Result<void> trace_level(const Option& option)
{
    std::uint64_t number = 0;
    if (auto good = need_number(option, 1000, number); !good) return good;
    option.settings.trace_level = static_cast<int>(number);
    constexpr std::uint64_t steps[] = {1, 2, 10, 25};
    const auto debug = std::ranges::count_if(steps, [&](auto step) { return number >= step; });
    option.say("-ORBDebug", std::to_string(std::min<std::ptrdiff_t>(debug, 3)));
    return {};
}

Result<void> id(const Option& option)
{
    if (!is_only_orb(option.value)) option.say("-ORBid", std::string(option.value));
    return {};
}

Result<void> transient_on_timeout(const Option& option)
{
    return need_flag(option, option.settings.transient_on_timeout);
}

Result<void> offers_bidirectional(const Option& option)
{
    return need_flag(option, option.settings.offers_bidirectional);
}

Result<void> no_listen(const Option& option)
{
    bool none = false;
    if (auto good = need_flag(option, none); !good) return good;
    if (none) return option.refuse("use -ORBListenEndpoints none");
    return {};
}

/// The file has the key and the certificate, as here.
constexpr const char* tls_certificate = "-ORBTlsCertificate";
constexpr const char* tls_trust = "-ORBTlsTrust";

Result<void> key_password(const Option& option)
{
    return Error{ErrorCode::invalid_argument,
                 "-ORB" + std::string(option.name) +
                     ": keys with a password cannot be read; openssl pkey takes it off"};
}

/// As omniORB does, certificates are checked for who has signed them, not for whose they are.
Result<void> verify_mode(const Option& option)
{
    struct Mode {
        std::string_view name;
        const char* server; ///< what a client checks of it
        const char* client;
    };
    constexpr Mode modes[] = {
        {"none", "no", "no"}, {"peer", "chain", "optional"}, {"peer,fail", "chain", "required"}};
    const auto* const found = std::ranges::find(modes, option.value, &Mode::name);
    if (found == std::end(modes)) return option.refuse("none, peer, fail or peer,fail is wanted");
    option.say("-ORBTlsVerifyServer", found->server);
    option.say("-ORBTlsVerifyClient", found->client);
    return {};
}

struct Known {
    std::string_view name;
    Heed heed;              ///< null: ignored
    std::string_view state; ///< for people: what it becomes, or why it is ignored
};

constexpr std::string_view own_threads = "Kairos's architectures say who serves: -ORBConcurrency";
constexpr std::string_view own_trace = "the log has what -ORBDebug says";
constexpr std::string_view always = "Kairos always does what 1 asks for";
constexpr std::string_view never = "Kairos never does what 1 asks for";
constexpr std::string_view by_policy = "POAs say it by the policy BIDIRECTIONAL_POLICY_TYPE";
constexpr std::string_view by_lists = "-ORBPreferLocal and -ORBPublish choose among addresses";
constexpr std::string_view no_boa = "there is no BOA and no bootstrap agent";
constexpr std::string_view by_system = "-ORBSendQueue, -ORBReceiveQueue and the system say it";

constexpr Known known_options[] = {
    {"endPoint", end_point, "-ORBListenEndpoints"},
    {"endPointPublish", end_point_publish, "-ORBPublish"},
    {"endPointPublishAllIFs", nullptr, "-ORBPublish addresses, the default, says all"},
    {"endPointNoListen", no_listen, "refused: -ORBListenEndpoints none"},
    {"endPointNoPublish", no_listen, "refused: -ORBPublish"},
    {"giopMaxMsgSize", message_size, "-ORBMaxMessageSize"},
    {"maxGIOPVersion", same_text<giop_version>, "-ORBGIOPVersion"},
    {"clientCallTimeOutPeriod", same_number<client_timeout>, "-ORBClientTimeout"},
    {"clientConnectTimeOutPeriod", same_number<connect_timeout_option>, "-ORBConnectTimeout"},
    {"serverCallTimeOutPeriod", same_number<receive_timeout>, "-ORBReceiveTimeout"},
    {"outConScanPeriod", seconds<client_idle>, "-ORBClientIdle"},
    {"inConScanPeriod", nullptr, "servers close no idle connections"},
    {"scanGranularity", nullptr, "nothing is scanned for: connections have deadlines"},
    {"threadPerConnectionPolicy", thread_per_connection, "-ORBConcurrency"},
    {"oneCallPerConnection", one_call, "-ORBConnection"},
    {"maxGIOPConnectionPerServer", nullptr, "-ORBConnection says how threads share connections"},
    {"maxServerThreadPerConnection", nullptr, own_threads},
    {"maxServerThreadPoolSize", nullptr, "-ORBThreads, with -ORBConcurrency worker-pool"},
    {"threadPerConnectionUpperLimit", nullptr, own_threads},
    {"threadPerConnectionLowerLimit", nullptr, own_threads},
    {"threadPoolWatchConnection", nullptr, own_threads},
    {"connectionWatchPeriod", nullptr, own_threads},
    {"connectionWatchImmediate", nullptr, own_threads},
    {"idleThreadTimeout", nullptr, own_threads},
    {"nativeCharCodeSet", same_text<native_char>, "-ORBNativeCharCodeSet"},
    {"nativeWCharCodeSet", same_text<native_wchar>, "-ORBNativeWCharCodeSet"},
    {"InitRef", same_text<init_ref>, "-ORBInitRef"},
    {"DefaultInitRef", same_text<default_init_ref>, "-ORBDefaultInitRef"},
    {"id", id, "-ORBid"},
    {"exceptionIdInAny", same_text<exception_id_in_any>, "-ORBExceptionIdInAny"},
    {"throwTransientOnTimeOut", transient_on_timeout, "heeded by the layer"},
    {"offerBiDirectionalGIOP", offers_bidirectional, "the policy of the ORB's calls"},
    {"acceptBiDirectionalGIOP", nullptr, by_policy},
    {"clientTransportRule", nullptr, by_lists},
    {"serverTransportRule", nullptr, "a firewall says who may connect"},
    {"resolveNamesForTransportRules", nullptr, by_lists},
    {"retainAddressOrder", nullptr, by_lists},
    {"immediateAddressSwitch", nullptr, always},
    {"traceLevel", trace_level, "-ORBDebug"},
    {"traceExceptions", nullptr, own_trace},
    {"traceInvocations", nullptr, own_trace},
    {"traceInvocationReturns", nullptr, own_trace},
    {"traceThreadId", nullptr, own_trace},
    {"traceTime", nullptr, own_trace},
    {"traceLocking", nullptr, own_trace},
    {"traceFile", nullptr, "the log goes to the standard error output"},
    {"dumpConfiguration", nullptr, "-ORBDebug 2 says which options are in force"},
    {"supportCurrent", nullptr, always},
    {"supportPerThreadTimeOut", nullptr, always},
    {"resetTimeOutOnRetries", nullptr, "one deadline holds for a call with all its retries"},
    {"verifyObjectExistsAndType", nullptr, "first calls ask nothing; _narrow asks where it must"},
    {"diiThrowsSysExceptions", nullptr, "Request::env and invoke do as the OMG says"},
    {"strictIIOP", nullptr, always},
    {"lcdMode", nullptr, never},
    {"tcAliasExpand", nullptr, never},
    {"useTypeCodeIndirections", nullptr, always},
    {"acceptMisalignedTcIndirections", nullptr, never},
    {"copyValuesInLocalCalls", nullptr, always},
    {"abortOnInternalError", nullptr, never},
    {"abortOnNativeException", nullptr, never},
    {"validateUTF8", nullptr, always},
    {"giopTargetAddressMode", nullptr, "servers say which they want"},
    {"poaHoldRequestTimeout", nullptr, "-ORBHoldLimit bounds how many requests are held"},
    {"poaUniquePersistentSystemIds", nullptr, always},
    {"objectTableSize", nullptr, "tables grow"},
    {"listenBacklog", nullptr, by_system},
    {"maxSocketSend", nullptr, by_system},
    {"maxSocketRecv", nullptr, by_system},
    {"socketSendBuffer", nullptr, by_system},
    {"unixTransportDirectory", nullptr, "-ORBListenEndpoints uiop://path says where"},
    {"unixTransportPermission", nullptr, "the process's umask says it"},
    {"principal", nullptr, "GIOP 1.2 has no principals"},
    {"bootstrapAgentHostname", nullptr, no_boa},
    {"bootstrapAgentPort", nullptr, no_boa},
    {"supportBootstrapAgent", nullptr, no_boa},
    {"sslCAFile", same_text<tls_trust>, "-ORBTlsTrust"},
    {"sslCAPath", same_text<tls_trust>, "-ORBTlsTrust"},
    {"sslKeyFile", same_text<tls_certificate>, "-ORBTlsCertificate"},
    {"sslKeyPassword", key_password, "refused: openssl pkey takes passwords off"},
    {"sslVerifyMode", verify_mode, "-ORBTlsVerifyServer, -ORBTlsVerifyClient"},
};

const Known* find(std::string_view name)
{
    const auto found = std::ranges::find(known_options, name, &Known::name);
    return found == std::end(known_options) ? nullptr : found;
}

/// Whether the option has to do with TLS.
bool is_of_tls(std::string_view name, std::string_view value)
{
    return name.starts_with("ssl") || (name == "endPoint" && value.starts_with("giop:ssl:"));
}

bool may_be_repeated(std::string_view name) { return name == "endPoint" || name == "InitRef"; }

std::string_view without_blanks(std::string_view text)
{
    constexpr std::string_view blanks = " \t\r";
    const std::size_t first = text.find_first_not_of(blanks);
    if (first == std::string_view::npos) return {};
    return text.substr(first, text.find_last_not_of(blanks) - first + 1);
}

/// Adds what a line says; without a name it is one more value of the option before. Returns whether
/// it means anything.
bool add_line(std::string_view line, Given& given)
{
    const std::string_view text = without_blanks(line);
    if (text.empty()) return true;
    const std::size_t equals = text.find('='); // a value may have one, too: InitRef's do
    if (equals == std::string_view::npos) return false;
    std::string name(without_blanks(text.substr(0, equals)));
    if (name.empty() && given.empty()) return false;
    if (name.empty()) name = given.back().first;
    given.emplace_back(std::move(name), without_blanks(text.substr(equals + 1)));
    return true;
}

} // namespace

Result<Given> parse_configuration(std::string_view text)
{
    if (text.size() > configuration_max)
        return Error{ErrorCode::invalid_argument, "more than 1 MiB of configuration"};
    Given given;
    std::string joined;    // what lines that end with a backslash have said so far
    std::size_t first = 0; // the number of the first of them
    bool is_continued = false;
    for (std::size_t number = 1; !text.empty(); ++number) {
        const std::size_t end = text.find('\n');
        std::string_view line = without_blanks(text.substr(0, end));
        text.remove_prefix(end == std::string_view::npos ? text.size() : end + 1);
        if (!is_continued) {
            if (line.starts_with('#')) continue; // elsewhere it is part of a URL
            joined.clear();
            first = number;
        }
        is_continued = line.ends_with('\\');
        if (is_continued) line.remove_suffix(1);
        joined.append(line);
        if (is_continued && !text.empty()) continue;
        if (!add_line(joined, given))
            return Error{ErrorCode::invalid_argument,
                         "line " + std::to_string(first) + ": 'name = value' is wanted"};
    }
    return given;
}

bool is_only_orb(std::string_view id)
{
    return id == "omniORB2" || id == "omniORB3" || id == "omniORB4";
}

Result<Given> take_arguments(std::vector<std::string>& arguments)
{
    constexpr std::string_view mark = "-ORB";
    Given given;
    std::vector<std::string> others;
    for (std::size_t i = 0; i < arguments.size(); ++i) {
        const std::string& argument = arguments[i];
        if (!argument.starts_with(mark) || find(argument.substr(mark.size())) == nullptr) {
            others.push_back(argument);
            continue;
        }
        if (i + 1 == arguments.size())
            return Error{ErrorCode::invalid_argument, argument + " lacks its value"};
        given.emplace_back(argument.substr(mark.size()), arguments[++i]);
    }
    arguments = std::move(others);
    return given;
}

Given take_environment(const char* const* environment)
{
    constexpr std::string_view mark = "ORB";
    Given given;
    for (; environment != nullptr && *environment != nullptr; ++environment) {
        const std::string_view entry = *environment;
        const std::size_t equals = entry.find('=');
        if (!entry.starts_with(mark) || equals == std::string_view::npos) continue;
        const std::string_view name = entry.substr(mark.size(), equals - mark.size());
        if (find(name) != nullptr) given.emplace_back(name, entry.substr(equals + 1));
    }
    return given;
}

void add_over(Given& all, const Given& stronger)
{
    const auto key = [](const auto& option) {
        const auto& [name, value] = option;
        return name == "InitRef" ? name + value.substr(0, value.find('=')) : name;
    };
    std::erase_if(all, [&](const auto& weaker) {
        return std::ranges::find(stronger, key(weaker), key) != stronger.end();
    });
    all.insert(all.end(), stronger.begin(), stronger.end());
}

Result<Settings> settings_of(const Given& given)
{
    const bool any_tls = std::ranges::any_of(
        given, [](const auto& each) { return is_of_tls(each.first, each.second); });
    const bool any_mode =
        std::ranges::any_of(given, [](const auto& each) { return each.first == "sslVerifyMode"; });
    if (any_tls && !any_mode) { // what omniORB does unless told otherwise
        Given whole = given;
        whole.emplace_back("sslVerifyMode", "peer,fail");
        return settings_of(whole);
    }
    Settings settings;
    for (auto each = given.begin(); each != given.end(); ++each) {
        const auto& [name, value] = *each;
        const Known* known = find(name);
        if (known == nullptr) return refused(name, value, "no option of omniORB's that is known");
        const bool again = std::any_of(each + 1, given.end(),
                                       [&](const auto& later) { return later.first == name; });
        if (again && !may_be_repeated(name)) continue;
        if (known->heed == nullptr) {
            std::string& said = settings.ignored.emplace_back("-ORB");
            said.append(name).append(" ").append(value).append(": ").append(known->state);
        } else if (auto good = known->heed({known->name, value, settings}); !good) {
            return good.error();
        }
    }
    return settings;
}

std::vector<OptionState> option_states()
{
    std::vector<OptionState> states;
    for (const Known& known : known_options)
        states.push_back({known.name, known.state});
    return states;
}

} // namespace kairos::omniorb
