// SPDX-License-Identifier: Apache-2.0
#include "kairos/datagrams/assembly.h"

#include <algorithm>
#include <utility>

namespace kairos::datagrams {

namespace {

// What a part, and a message, take beside their octets: nodes of maps, and what the allocator adds.
constexpr std::size_t part_charge = 112;
constexpr std::size_t message_charge = 512;

using What = Assembly::Taken::What;

} // namespace

Assembly::Taken Assembly::take(std::string_view sender, std::uint64_t host, const Packet& packet,
                               Time now)
{
    expire(now);
    const bool is_alone = packet.number == 0 && packet.is_last;
    if (packet.id.empty()) {
        // Of a message that has no name nothing tells whether it has come before.
        if (is_alone) return {.what = What::message, .message = packet.data};
        return {.what = What::dropped, .why = "one of several packets, without a name"};
    }
    std::string key(sender);
    key.append(reinterpret_cast<const char*>(packet.id.data()), packet.id.size());
    if (const auto known = known_.find(key); known != known_.end()) {
        if (known->second) return {.what = What::repeated};
        return {.what = What::dropped, .why = "of a message that was given up"};
    }
    if (!is_alone) return begin_or_add(std::move(key), host, packet, now);
    if (begun_.contains(key))
        return {.what = What::dropped, .why = "it contradicts others of its message"};
    remember(std::move(key), true, now);
    return {.what = What::message, .message = packet.data};
}

Assembly::Taken Assembly::begin_or_add(std::string key, std::uint64_t host, const Packet& packet,
                                       Time now)
{
    auto message = begun_.find(key);
    if (message == begun_.end()) {
        make_room_to_begin(host, now);
        message = begun_.try_emplace(std::move(key)).first;
        message->second.host = host;
        message->second.since = now;
        Host& of = hosts_[host];
        ++of.messages;
        of.charge += message_charge;
        message->second.charge = message_charge;
        octets_ += message_charge;
    }
    return add(message, packet, now);
}

Assembly::Taken Assembly::add(Messages::iterator message, const Packet& packet, Time now)
{
    Begun& begun = message->second;
    const std::uint32_t said = packet.is_last ? packet.number + 1 : packet.count;
    const std::uint32_t count = begun.count != 0 ? begun.count : said;
    const std::uint32_t highest = begun.parts.empty() ? 0 : begun.parts.rbegin()->first;
    if ((said != 0 && said != count) || (count != 0 && std::max(packet.number, highest) >= count))
        return {.what = What::dropped, .why = "it contradicts others of its message"};
    if (const auto known = begun.parts.find(packet.number); known != begun.parts.end()) {
        if (std::ranges::equal(known->second, packet.data)) return {.what = What::repeated};
        return {.what = What::dropped, .why = "it contradicts others of its message"};
    }
    const std::size_t charge = packet.data.size() + part_charge;
    if (begun.size + packet.data.size() > limits_.message_octets) {
        give_up(message, now);
        return {.what = What::dropped, .why = "of a message that is too large"};
    }
    if (!make_room_for(charge, message, now))
        return {.what = What::dropped, .why = "more is begun than is kept"};
    begun.parts.emplace(packet.number,
                        std::vector<std::byte>(packet.data.begin(), packet.data.end()));
    begun.count = count;
    begun.size += packet.data.size();
    begun.charge += charge;
    hosts_[begun.host].charge += charge;
    octets_ += charge;
    if (begun.parts.size() != begun.count) return {.what = What::kept};
    return finish(message, now);
}

Assembly::Taken Assembly::finish(Messages::iterator message, Time now)
{
    std::vector<std::byte> whole;
    whole.reserve(message->second.size);
    for (auto& [number, part] : message->second.parts) {
        whole.insert(whole.end(), part.begin(), part.end());
        part = {};
    }
    std::string key = message->first;
    forget(message);
    remember(std::move(key), true, now);
    whole_ = std::move(whole);
    return {.what = What::message, .message = whole_};
}

void Assembly::expire(Time now)
{
    while (!remembered_.empty() && now - remembered_.front().since >= limits_.memory) {
        known_.erase(remembered_.front().place);
        remembered_.pop_front();
    }
    const auto first = next_expiry();
    if (!first || now < *first) return;
    for (auto each = begun_.begin(); each != begun_.end();) {
        const auto message = each++;
        if (now - message->second.since >= limits_.patience) give_up(message, now);
    }
}

std::optional<Assembly::Time> Assembly::next_expiry() const noexcept
{
    if (begun_.empty()) return std::nullopt;
    const auto oldest =
        std::ranges::min_element(begun_, {}, [](const auto& each) { return each.second.since; });
    return oldest->second.since + limits_.patience;
}

/// A host's own messages make room for those that it begins later, so that no other host's do.
void Assembly::make_room_to_begin(std::uint64_t host, Time now)
{
    const auto of = hosts_.find(host);
    if (of != hosts_.end() && of->second.messages >= limits_.messages_of_host)
        give_up(oldest_of(host), now);
    if (begun_.size() >= limits_.messages) give_up(oldest_of(largest_host()), now);
}

/// Returns false if `keeping` itself had to be given up.
bool Assembly::make_room_for(std::size_t charge, Messages::iterator keeping, Time now)
{
    const std::uint64_t host = keeping->second.host;
    while (true) {
        std::uint64_t whose = host;
        if (hosts_[host].charge + charge <= limits_.octets_of_host) {
            if (octets_ + charge <= limits_.octets) return true;
            whose = largest_host();
        }
        const auto oldest = oldest_of(whose);
        const bool is_itself = oldest == keeping;
        give_up(oldest, now);
        if (is_itself) return false;
    }
}

/// Of those that have begun some, whoever takes most.
std::uint64_t Assembly::largest_host() const noexcept
{
    return std::ranges::max_element(hosts_, {}, [](const auto& each) { return each.second.charge; })
        ->first;
}

Assembly::Messages::iterator Assembly::oldest_of(std::uint64_t host) noexcept
{
    auto oldest = begun_.end();
    for (auto each = begun_.begin(); each != begun_.end(); ++each)
        if (each->second.host == host &&
            (oldest == begun_.end() || each->second.since < oldest->second.since))
            oldest = each;
    return oldest;
}

void Assembly::give_up(Messages::iterator message, Time now)
{
    ++given_up_;
    std::string key = message->first;
    forget(message);
    remember(std::move(key), false, now);
}

void Assembly::remember(std::string key, bool has_come, Time now)
{
    if (remembered_.size() >= limits_.remembered) {
        known_.erase(remembered_.front().place);
        remembered_.pop_front();
    }
    const auto [place, is_new] = known_.try_emplace(std::move(key), has_come);
    if (is_new) remembered_.push_back({now, place});
}

void Assembly::forget(Messages::iterator message)
{
    const auto of = hosts_.find(message->second.host);
    of->second.charge -= message->second.charge;
    octets_ -= message->second.charge;
    if (--of->second.messages == 0) hosts_.erase(of);
    begun_.erase(message);
}

} // namespace kairos::datagrams
