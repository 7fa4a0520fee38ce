// SPDX-License-Identifier: Apache-2.0
#include "kairos/ior/describe.h"

#include "kairos/ior/object_key.h"
#include "kairos/ior/profile.h"
#include "kairos/ior/text.h"

#include <algorithm>
#include <array>

namespace kairos::ior {

namespace {

struct TagName {
    std::uint32_t tag;
    std::string_view name;
};

constexpr std::uint32_t tag_tao_diop = 0x54414F04; // a body as that of TAG_INTERNET_IOP

// The names that the OMG and vendors registered; a few have contents that are shown decoded below.
constexpr std::array profile_names = {
    TagName{tag_internet_iop, "TAG_INTERNET_IOP"},
    TagName{tag_multiple_components, "TAG_MULTIPLE_COMPONENTS"},
    TagName{2, "TAG_SCCP_IOP"},
    TagName{3, "TAG_UIPMC"},
    TagName{0x54414F00, "TAO UIOP"},
    TagName{0x54414F02, "TAO SHMIOP"},
    TagName{tag_tao_diop, "TAO DIOP"},
};

constexpr std::uint32_t tag_omniorb_unix = 0x41545402;

constexpr std::array component_names = {
    TagName{tag_orb_type, "TAG_ORB_TYPE"},
    TagName{tag_code_sets, "TAG_CODE_SETS"},
    TagName{tag_policies, "TAG_POLICIES"},
    TagName{tag_alternate_iiop_address, "TAG_ALTERNATE_IIOP_ADDRESS"},
    TagName{5, "TAG_COMPLETE_OBJECT_KEY"},
    TagName{6, "TAG_ENDPOINT_ID_POSITION"},
    TagName{12, "TAG_LOCATION_POLICY"},
    TagName{13, "TAG_ASSOCIATION_OPTIONS"},
    TagName{14, "TAG_SEC_NAME"},
    TagName{15, "TAG_SPKM_1_SEC_MECH"},
    TagName{16, "TAG_SPKM_2_SEC_MECH"},
    TagName{17, "TAG_KERBEROSV5_SEC_MECH"},
    TagName{18, "TAG_CSI_ECMA_SECRET_SEC_MECH"},
    TagName{19, "TAG_CSI_ECMA_HYBRID_SEC_MECH"},
    TagName{tag_ssl_sec_trans, "TAG_SSL_SEC_TRANS"},
    TagName{21, "TAG_CSI_ECMA_PUBLIC_SEC_MECH"},
    TagName{22, "TAG_GENERIC_SEC_MECH"},
    TagName{23, "TAG_FIREWALL_TRANS"},
    TagName{24, "TAG_SCCP_CONTACT_INFO"},
    TagName{25, "TAG_JAVA_CODEBASE"},
    TagName{26, "TAG_TRANSACTION_POLICY"},
    TagName{27, "TAG_FT_GROUP"},
    TagName{28, "TAG_FT_PRIMARY"},
    TagName{29, "TAG_FT_HEARTBEAT_ENABLED"},
    TagName{30, "TAG_MESSAGE_ROUTERS"},
    TagName{31, "TAG_OTS_POLICY"},
    TagName{32, "TAG_INV_POLICY"},
    TagName{tag_csi_sec_mech_list, "TAG_CSI_SEC_MECH_LIST"},
    TagName{34, "TAG_NULL_TAG"},
    TagName{35, "TAG_SECIOP_SEC_TRANS"},
    TagName{tag_tls_sec_trans, "TAG_TLS_SEC_TRANS"},
    TagName{37, "TAG_ACTIVITY_POLICY"},
    TagName{38, "TAG_RMI_CUSTOM_MAX_STREAM_FORMAT"},
    TagName{39, "TAG_GROUP"},
    TagName{40, "TAG_GROUP_IIOP"},
    TagName{100, "TAG_DCE_STRING_BINDING"},
    TagName{101, "TAG_DCE_BINDING_NAME"},
    TagName{102, "TAG_DCE_NO_PIPES"},
    TagName{103, "TAG_DCE_SEC_MECH"},
    TagName{123, "TAG_INET_SEC_TRANS"},
    TagName{tag_omniorb_unix, "omniORB Unix socket"},
    TagName{0x54414F00, "TAO priority (of old versions)"},
    TagName{0x54414F01, "TAO SSL endpoints"},
    TagName{tag_tao_endpoints, "TAO endpoints"},
};

// Types of the policies that servers put into references: messaging and real-time.
constexpr std::uint32_t policy_priority_model = 40;
constexpr std::array policy_names = {
    TagName{23, "rebind"},
    TagName{24, "sync scope"},
    TagName{25, "request priority"},
    TagName{26, "reply priority"},
    TagName{27, "request start time"},
    TagName{28, "request end time"},
    TagName{29, "reply start time"},
    TagName{30, "reply end time"},
    TagName{31, "relative request timeout"},
    TagName{32, "relative round-trip timeout"},
    TagName{33, "routing"},
    TagName{34, "maximum hops"},
    TagName{35, "queue order"},
    TagName{37, "bidirectional GIOP"},
    TagName{policy_priority_model, "priority model"},
    TagName{41, "thread pool"},
    TagName{42, "server protocols"},
    TagName{43, "client protocols"},
    TagName{44, "private connection"},
    TagName{45, "priority bands"},
};

constexpr std::array orb_names = {
    TagName{orb_type::kairos, "Kairos"}, TagName{orb_type::omniorb, "omniORB"},
    TagName{orb_type::tao, "TAO"},       TagName{orb_type::jacorb, "JacORB"},
    TagName{0x42454100, "BEA"},          TagName{0x45524900, "Ericsson"},
    TagName{0x48500000, "HP"},           TagName{0x49424D00, "IBM"},
    TagName{0x4F4F4300, "Orbacus"},      TagName{0x50544300, "PrismTech"},
    TagName{0x53554E00, "Sun"},          TagName{0x56495300, "VisiBroker"},
};

template <std::size_t N>
std::string_view name_of(const std::array<TagName, N>& names, std::uint32_t tag)
{
    const auto* const found = std::find_if(
        names.begin(), names.end(), [tag](const TagName& entry) { return entry.tag == tag; });
    return found == names.end() ? std::string_view() : found->name;
}

/// "0x" and all digits of the value's type, which CDR and keys give in varying byte orders.
template <typename T>
std::string hex_number(T value)
{
    const T big_endian = native_little_endian ? byteswap(value) : value;
    return "0x" + hex(std::as_bytes(std::span(&big_endian, 1)));
}

std::string quoted(std::string_view text) { return '"' + printable(text) + '"'; }

/// Collects indented lines.
class Page {
  public:
    void line(int depth, std::string_view text)
    {
        text_.append(2 * static_cast<std::size_t>(depth), ' ').append(text) += '\n';
    }

    /// Sixteen octets a line, in hexadecimal and as text.
    void dump(int depth, Bytes octets)
    {
        for (std::size_t at = 0; at < octets.size(); at += 16) {
            const Bytes row = octets.subspan(at, std::min<std::size_t>(16, octets.size() - at));
            std::string columns;
            for (std::size_t i = 0; i < 16; ++i) {
                if (i < row.size())
                    append_hex(columns, row.subspan(i, 1));
                else
                    columns += "  ";
                if (i % 4 == 3) columns += "  ";
            }
            for (const char c : as_text(row))
                columns += is_printable(c) ? c : '.';
            line(depth, columns);
        }
    }

    [[nodiscard]] std::string take() && { return std::move(text_); }

  private:
    std::string text_;
};

std::string describe_code_set(std::uint32_t id)
{
    const std::string_view name = code_set::name(id);
    return name.empty() ? hex_number(id) : std::string(name);
}

std::string describe_code_sets(const CodeSetComponent& component)
{
    std::string text = "native " + (component.native == 0 ? std::string("not given")
                                                          : describe_code_set(component.native));
    if (component.conversions.empty()) return text + ", no conversions";
    text += ", conversions";
    for (std::size_t i = 0; i < component.conversions.size(); ++i)
        text += (i == 0 ? " " : ", ") + describe_code_set(component.conversions[i]);
    return text;
}

/// RTCORBA::PriorityModelPolicy as a server puts it into a reference: model and server priority.
std::string describe_priority_model(Bytes value)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(value);
    const auto model = reader.read<std::uint32_t>();
    const auto priority = reader.read<std::int16_t>();
    if (!reader.ok() || model > 1) return hex(value);
    return (model == 0 ? "client propagated, server priority " : "server declared, priority ") +
           std::to_string(priority);
}

bool describe_policies(Page& page, int depth, Bytes data)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    const std::uint32_t count = reader.read_length(8);
    std::vector<std::string> lines;
    for (std::uint32_t i = 0; i < count && reader.ok(); ++i) {
        const auto type = reader.read<std::uint32_t>();
        const Bytes value = reader.read_octets();
        const std::string_view name = name_of(policy_names, type);
        lines.push_back(
            (name.empty() ? "policy " + std::to_string(type) : std::string(name)) + ": " +
            (type == policy_priority_model ? describe_priority_model(value) : hex(value)));
    }
    if (!reader.ok()) return false;
    page.line(depth, "TAG_POLICIES");
    for (const std::string& line : lines)
        page.line(depth + 1, line);
    return true;
}

bool describe_omniorb_unix(Page& page, int depth, Bytes data)
{
    cdr::Reader reader = cdr::Reader::of_encapsulation(data);
    const std::string_view host = reader.read_string();
    const std::string_view path = reader.read_string();
    if (!reader.ok()) return false;
    page.line(depth, "omniORB Unix socket: " + quoted(path) + " on host " + quoted(host));
    return true;
}

bool describe_tao_endpoints(Page& page, int depth, const TaggedComponent& component)
{
    const auto endpoints = decode_tao_endpoints(component);
    if (!endpoints) return false;
    page.line(depth, "TAO's addresses by priority");
    for (const TaoEndpoint& each : *endpoints) {
        const bool any = each.priority == TaoEndpoint::any_priority;
        page.line(depth + 1, (any ? std::string("any") : std::to_string(each.priority)) + ": " +
                                 printable(to_string(each.address)));
    }
    return true;
}

void describe_priority_addresses(Page& page, int depth,
                                 const std::vector<PriorityAddress>& addresses)
{
    for (const PriorityAddress& each : addresses)
        page.line(depth + 1,
                  std::to_string(each.priority) + ": " + printable(to_string(each.address)));
}

/// The names of association options, as SSLIOP.idl has them.
std::string associations(std::uint16_t options)
{
    static constexpr std::array names = {
        TagName{association::no_protection, "no protection"},
        TagName{association::integrity, "integrity"},
        TagName{association::confidentiality, "confidentiality"},
        TagName{association::detect_replay, "detection of replay"},
        TagName{association::detect_misordering, "detection of misordering"},
        TagName{association::trust_in_target, "trust in the server"},
        TagName{association::trust_in_client, "trust in the client"},
    };
    std::string text;
    for (const TagName& each : names) {
        if ((options & each.tag) == 0) continue;
        text.append(text.empty() ? "" : ", ").append(each.name);
        options = static_cast<std::uint16_t>(options & ~each.tag);
    }
    if (options != 0) text.append(text.empty() ? "" : ", ").append(hex_number(options));
    return text.empty() ? "nothing" : text;
}

bool describe_secure_address(Page& page, int depth, const TaggedComponent& component)
{
    const auto address = decode_secure_address(component);
    if (!address) return false;
    page.line(depth, "TLS at port " + std::to_string(address->port));
    page.line(depth + 1, "supports " + associations(address->supports));
    page.line(depth + 1, "requires " + associations(address->requires_));
    return true;
}

bool describe_secure_priorities(Page& page, int depth, const TaggedComponent& component)
{
    const auto addresses = decode_priority_addresses(component);
    if (!addresses) return false;
    page.line(depth, "Kairos' addresses by priority, by TLS");
    describe_priority_addresses(page, depth, *addresses);
    return true;
}

bool describe_local_addresses(Page& page, int depth, const TaggedComponent& component)
{
    const auto local = decode_local_addresses(component);
    if (!local) return false;
    page.line(depth, "Kairos' addresses within host " + hex_number(local->host[0]) +
                         hex_number(local->host[1]).substr(2));
    for (const LocalAddress& each : local->addresses) {
        page.line(depth + 1, printable(to_string(each)) +
                                 (each.priority == LocalAddress::any_priority
                                      ? ""
                                      : " for priority " + std::to_string(each.priority)));
    }
    return true;
}

/// Writes what is in a component of a kind known here; false if it is malformed or another.
bool describe_known(Page& page, int depth, const TaggedComponent& component)
{
    switch (component.tag) {
    case tag_orb_type: {
        const auto type = decode_orb_type(component);
        if (!type) return false;
        const std::string_view name = name_of(orb_names, *type);
        page.line(depth, "TAG_ORB_TYPE: " +
                             (name.empty() ? hex_number(*type)
                                           : std::string(name) + " (" + hex_number(*type) + ")"));
        return true;
    }
    case tag_code_sets: {
        const auto sets = decode_code_sets(component);
        if (!sets) return false;
        page.line(depth, "TAG_CODE_SETS");
        page.line(depth + 1, "char: " + describe_code_sets(sets->characters));
        page.line(depth + 1, "wchar: " + describe_code_sets(sets->wide_characters));
        return true;
    }
    case tag_policies:
        return describe_policies(page, depth, component.data);
    case tag_alternate_iiop_address: {
        const auto address = decode_alternate_address(component);
        if (!address) return false;
        page.line(depth, "TAG_ALTERNATE_IIOP_ADDRESS: " + printable(to_string(*address)));
        return true;
    }
    case tag_priority_addresses: {
        const auto addresses = decode_priority_addresses(component);
        if (!addresses) return false;
        page.line(depth, "Kairos' addresses by priority");
        describe_priority_addresses(page, depth, *addresses);
        return true;
    }
    case tag_tao_endpoints:
        return describe_tao_endpoints(page, depth, component);
    case tag_ssl_sec_trans:
        return describe_secure_address(page, depth, component);
    case tag_secure_priority_addresses:
        return describe_secure_priorities(page, depth, component);
    case tag_local_addresses:
        return describe_local_addresses(page, depth, component);
    case tag_omniorb_unix:
        return describe_omniorb_unix(page, depth, component.data);
    default:
        return false;
    }
}

void describe_component(Page& page, int depth, const TaggedComponent& component)
{
    if (describe_known(page, depth, component)) return;
    const std::string_view name = name_of(component_names, component.tag);
    page.line(depth, (name.empty() ? "component " + hex_number(component.tag) : std::string(name)) +
                         ": " + std::to_string(component.data.size()) + " octets");
    page.dump(depth + 1, component.data);
}

/// False if the profile's data is not what its tag says.
bool describe_iiop(Page& page, const TaggedProfile& tagged, const std::string& heading)
{
    const auto decoded = decode_iiop(tagged.data);
    if (!decoded) {
        page.line(0, heading + ": " + decoded.error().reason);
        return false;
    }
    const IiopProfile& profile = decoded.value();
    page.line(0, heading + ": IIOP 1." + std::to_string(profile.version.minor));
    page.line(1, "address: " + printable(to_string(Address{profile.host, profile.port})) +
                     (profile.port != 0                                        ? ""
                      : find(profile.components, tag_ssl_sec_trans) != nullptr ? " (by TLS only)"
                      : find(profile.components, tag_local_addresses) != nullptr
                          ? " (within the host only)"
                          : " (not to be used without TLS)"));
    page.line(1, "object key: " + describe_object_key(profile.object_key));
    for (const TaggedComponent& component : profile.components)
        describe_component(page, 1, component);
    return true;
}

bool describe_multiple_components(Page& page, const TaggedProfile& tagged,
                                  const std::string& heading)
{
    const auto components = decode_multiple_components(tagged.data);
    page.line(0, heading + (components ? "" : ": " + components.error().reason));
    if (!components) return false;
    for (const TaggedComponent& component : *components)
        describe_component(page, 1, component);
    return true;
}

} // namespace

std::string describe_object_key(Bytes key)
{
    if (const auto ours = ObjectKey::parse(key))
        return "Kairos adapter " + std::to_string(ours->adapter) + ", slot " +
               std::to_string(ours->slot) + ", generation " + std::to_string(ours->generation) +
               ", incarnation " + hex_number(ours->incarnation);
    const std::string_view text = as_text(key);
    const std::string size = " (" + std::to_string(key.size()) + " octets)";
    if (std::any_of(text.begin(), text.end(), [](char c) { return is_printable(c); }) ||
        text.empty())
        return quoted(text) + size;
    return "0x" + hex(key) + size;
}

std::string describe(const Ior& reference)
{
    Page page;
    page.line(0, "type id: " + quoted(reference.type_id));
    if (reference.is_nil()) page.line(0, "nil reference: no profiles");
    for (std::size_t i = 0; i < reference.profiles.size(); ++i) {
        const TaggedProfile& profile = reference.profiles[i];
        const std::string_view name = name_of(profile_names, profile.tag);
        const std::string heading = "profile " + std::to_string(i + 1) + ": " +
                                    (name.empty() ? hex_number(profile.tag) : std::string(name));
        bool understood = false;
        if (profile.tag == tag_internet_iop || profile.tag == tag_tao_diop)
            understood = describe_iiop(page, profile, heading);
        else if (profile.tag == tag_multiple_components)
            understood = describe_multiple_components(page, profile, heading);
        else
            page.line(0, heading + ": " + std::to_string(profile.data.size()) + " octets");
        if (!understood) page.dump(1, profile.data);
    }
    return std::move(page).take();
}

} // namespace kairos::ior
