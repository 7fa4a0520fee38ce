// SPDX-License-Identifier: Apache-2.0
//
// Drives the object URL parser with arbitrary text and, behind a first octet that is not text, the
// CDR form of references with arbitrary bytes. What is accepted must survive being written and
// read again, and must be describable in printable characters.
#include "kairos/base/check.h"
#include "kairos/base/shown.h"
#include "kairos/ior/describe.h"
#include "kairos/ior/object_url.h"
#include "kairos/ior/policies.h"
#include "kairos/ior/reference_file.h"

using namespace kairos;
using namespace kairos::ior;

namespace {

void check_profiles(const Ior& reference)
{
    for (const TaggedProfile& tagged : reference.profiles) {
        const auto profile = decode_iiop(tagged.data);
        if (!profile) continue;
        const auto again = decode_iiop(encode_iiop(*profile).data);
        KAIROS_CHECK(again.ok() && again.value() == profile.value());
        for (const PriorityAddress& each : priority_addresses(profile.value()))
            KAIROS_CHECK(each.priority >= 0 && each.address.port != 0 &&
                         !each.address.host.empty());
        for (const TaggedComponent& component : profile.value().components) {
            if (const auto sets = decode_code_sets(component))
                KAIROS_CHECK(decode_code_sets(make_code_sets(*sets)) == sets);
            if (const auto address = decode_alternate_address(component))
                KAIROS_CHECK(decode_alternate_address(make_alternate_address(*address)) == address);
            if (const auto policies = decode_policies(component))
                KAIROS_CHECK(decode_policies(make_policies(*policies)) == policies);
            if (const auto addresses = decode_priority_addresses(component))
                KAIROS_CHECK(decode_priority_addresses(make_priority_addresses(*addresses)) ==
                             addresses);
            if (const auto endpoints = decode_tao_endpoints(component))
                KAIROS_CHECK(decode_tao_endpoints(make_tao_endpoints(*endpoints)) == endpoints);
            if (const auto local = decode_local_addresses(component))
                KAIROS_CHECK(decode_local_addresses(make_local_addresses(*local)) == local);
        }
    }
}

/// The addresses and the key of a reference survive as a URL, hosts beyond the syntax aside.
void check_corbaloc(const Ior& reference)
{
    const auto url = to_corbaloc(reference);
    if (!url) return;
    const auto parsed = parse_object_url(*url);
    KAIROS_CHECK(parsed.ok());
    const auto before = targets(reference);
    const auto after = targets(parsed.value().reference);
    KAIROS_CHECK(!after.empty() && after.size() <= before.size());
    std::size_t at = 0;
    for (const Target& target : after) {
        while (at < before.size() &&
               (before[at].address != target.address || before[at].version() != target.version() ||
                before[at].profile->object_key != target.profile->object_key))
            ++at;
        KAIROS_CHECK(at++ < before.size());
    }
    const auto url_again = to_corbaloc(parsed.value().reference);
    KAIROS_CHECK(url_again.ok() && url_again.value() == url.value());
}

void check_reference(const Ior& reference)
{
    const auto again = from_string(to_string(reference));
    KAIROS_CHECK(again.ok() && again.value() == reference);
    for (const char c : describe(reference))
        KAIROS_CHECK(c == '\n' || (c >= ' ' && c <= '~'));
    for (const Target& target : targets(reference)) {
        KAIROS_CHECK(target.address.port != 0 && !target.address.host.empty());
        KAIROS_CHECK(target.profile_index < reference.profiles.size());
    }
    for (const Target& target : targets_by_any_way(reference))
        KAIROS_CHECK(!target.address.host.empty() &&
                     target.profile_index < reference.profiles.size());
    check_profiles(reference);
    check_corbaloc(reference);
}

/// What a file holds is the same however it is wrapped, and what is said of one is safe to show.
void check_file(std::string_view text)
{
    const auto held = url_in(text, "it");
    if (!held) return KAIROS_CHECK(is_shown_as_it_is(held.error().reason));
    const auto again = url_in("\xef\xbb\xbf\r\n " + *held + "\r\n", "it");
    KAIROS_CHECK(again.ok() && *again == *held);
    KAIROS_CHECK(shown(shown(text)) == shown(text) && is_shown_as_it_is(shown(text)));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    const Bytes input = std::as_bytes(std::span(data, size));
    if (size != 0 && data[0] <= 1) {
        cdr::Reader reader = cdr::Reader::of_encapsulation(input);
        Ior reference;
        if (ior::decode(reader, reference)) check_reference(reference);
        return 0;
    }
    check_file(as_text(input));
    const auto url = parse_object_url(as_text(input));
    if (url)
        check_reference(url.value().reference);
    else
        KAIROS_CHECK(!url.error().reason.empty());
    return 0;
}
