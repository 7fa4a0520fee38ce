// SPDX-License-Identifier: Apache-2.0
//
// Types, offers and what Admin sets as rows of a journal: what a row says comes from a disk or a
// database, and is not believed. Any thread.
#pragma once

#include "kairos/corba/CORBA.h"
#include "kairos/corba/kept_rows.h"
#include "kairos/trading/catalog.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace kairos::trading {

// How keys begin: types are in front of those below them, and of their offers.
inline constexpr const char* attributes_row = "1 attributes";
inline constexpr const char* type_rows = "2 type ";
inline constexpr const char* offer_rows = "3 offer ";
inline constexpr const char* link_rows = "4 link "; // and its name
inline constexpr const char* proxy_rows = "5 proxy ";

struct Attributes; // trader_state.h

struct KeptType {
    std::string name;
    Repository::TypeStruct type{}; ///< without its incarnation, which the key has
};
struct KeptOffer {
    CORBA::ULongLong type = 0; ///< its incarnation
    CORBA::Object_var reference{};
    CosTrading::PropertySeq properties{};
};

[[nodiscard]] std::string type_key(std::uint64_t incarnation);
[[nodiscard]] std::string offer_key(std::uint64_t number);
[[nodiscard]] std::string link_key(std::string_view name);
[[nodiscard]] std::string proxy_key(std::uint64_t number);

// `orb` is what references and valuetypes belong to; without one there are none.
[[nodiscard]] std::string row_of(const ServiceType& type, bool masked, CORBA::ORB_ptr orb);
[[nodiscard]] std::string row_of(const Offer& offer, CORBA::ORB_ptr orb);
[[nodiscard]] std::string row_of(const CosTrading::Link::LinkInfo& link, CORBA::ORB_ptr orb);
[[nodiscard]] std::string row_of(const CosTrading::Proxy::ProxyInfo& proxy, CORBA::ORB_ptr orb);
[[nodiscard]] std::string row_of(const Attributes& attributes);
/// None for a row that nobody wrote like this.
[[nodiscard]] std::optional<KeptType> kept_type(std::string_view row, CORBA::ORB_ptr orb);
[[nodiscard]] std::optional<KeptOffer> kept_offer(std::string_view row, CORBA::ORB_ptr orb);
[[nodiscard]] std::optional<CosTrading::Link::LinkInfo> kept_link(std::string_view row,
                                                                  CORBA::ORB_ptr orb);
[[nodiscard]] std::optional<CosTrading::Proxy::ProxyInfo> kept_proxy(std::string_view row,
                                                                     CORBA::ORB_ptr orb);
[[nodiscard]] std::optional<Attributes> kept_attributes(std::string_view row);

} // namespace kairos::trading
