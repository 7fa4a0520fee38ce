// SPDX-License-Identifier: Apache-2.0
//
// What a name server keeps: contexts and what is bound in them, behind an interface without CORBA's
// calls, so that the same service runs over one file or over a database that several servers share.
// Any thread. A change that was answered with `done` survives the end of the process and of the
// machine's power.
#pragma once

#include "kairos/base/export.h"
#include "kairos/ior/ior.h"
#include "kairos/ior/name.h"

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace kairos::nameserver {

/// The number of a context in its store. Never used twice: references to a destroyed context must
/// not find another.
using ContextId = std::uint64_t;
inline constexpr ContextId root_context = 1;

/// What a name is bound to.
struct KAIROS_API Entry {
    enum class Kind : std::uint8_t {
        object = 0,
        context = 1,         ///< of this store: `context`
        foreign_context = 2, ///< of another server: `reference`
    };
    Kind kind = Kind::object;
    ContextId context = 0;
    ior::Ior reference; ///< of objects it may be nil
    [[nodiscard]] bool is_context() const noexcept { return kind != Kind::object; }
    friend bool operator==(const Entry&, const Entry&) = default;
};

struct KAIROS_API Listed {
    ior::NameComponent component;
    bool is_context = false;
    friend bool operator==(const Listed&, const Listed&) = default;
};

/// What a part of a listing may hold.
struct KAIROS_API PortionBounds {
    std::size_t count = 0;
    /// Octets of the rows that the part is made of, references included; one binding may exceed it.
    std::size_t octets = std::size_t{1} << 20;
};
struct KAIROS_API Portion {
    std::vector<Listed> bindings; ///< in order of id and kind
    bool more = false;            ///< there are others behind them
};

enum class StoreStatus : std::uint8_t {
    done,
    not_bound,
    already_bound,
    wrong_type, ///< an object where a context is needed, or the reverse
    no_context, ///< the context does not exist, or no more
    not_empty,
    foreign,     ///< the rest of the name is another server's
    full,        ///< no room for the change: nothing happened
    broken,      ///< the store cannot be read or written, or holds what cannot be: nothing happened
    uncertain,   ///< it failed while the change was made durable: it may or may not be there
    unreachable, ///< nobody is there who has the store, perhaps for a moment only: nothing happened
};

/// How far a name led.
struct KAIROS_API Resolution {
    std::size_t resolved = 0;         ///< components that were found
    ContextId context = root_context; ///< where the next one was looked for
    Entry entry;                      ///< what the last one found is bound to
};

class KAIROS_API Store {
  public:
    Store() = default;
    Store(const Store&) = delete;
    Store& operator=(const Store&) = delete;
    virtual ~Store() = default;

    /// A number that only this store and its copies have: tells its contexts from those of others.
    [[nodiscard]] virtual std::uint64_t identity() const noexcept = 0;

    /// Counts, twice each, the changes after which `resolve` may answer otherwise than `done` with
    /// the same entry: before one can be seen, and before it is acknowledged. So it is odd while
    /// one is under way; always where others change the store as well.
    [[nodiscard]] virtual std::uint64_t changes() const noexcept = 0;

    /// Follows `name`, of at least one component, through contexts of this store. `done`; or
    /// `not_bound` and `no_context` for the component after `resolved`; `wrong_type` if the last
    /// one found is an object but not the last of the name; `foreign` if it is a foreign context
    /// but not the last; `broken`.
    [[nodiscard]] virtual StoreStatus
    resolve(ContextId start, std::span<const ior::NameComponent> name, Resolution& resolution) = 0;

    /// Binds a name: `done`; `already_bound`; `no_context`, also for the entry's context; `full`,
    /// `broken`, `uncertain` or `unreachable`.
    [[nodiscard]] virtual StoreStatus bind(ContextId context, const ior::NameComponent& component,
                                           const Entry& entry) = 0;
    /// Binds a name, bound before or not: `done`; `wrong_type` for an object in place of a context
    /// or the reverse; `no_context`, also for the entry's context; `full`, `broken`, `uncertain` or
    /// `unreachable`.
    [[nodiscard]] virtual StoreStatus rebind(ContextId context, const ior::NameComponent& component,
                                             const Entry& entry) = 0;
    /// Removes a binding: `done`, `not_bound`, `no_context`, `full`, `broken`, `uncertain` or
    /// `unreachable`.
    [[nodiscard]] virtual StoreStatus unbind(ContextId context,
                                             const ior::NameComponent& component) = 0;
    /// Makes a context that nothing is bound to: `done`, `full`, `broken`, `uncertain` or
    /// `unreachable`.
    [[nodiscard]] virtual StoreStatus new_context(ContextId& created) = 0;
    /// Makes a context and binds it, both or none. The statuses are those of bind().
    [[nodiscard]] virtual StoreStatus bind_new_context(ContextId context,
                                                       const ior::NameComponent& component,
                                                       ContextId& created) = 0;
    /// Destroys a context: `not_empty` if there are bindings in it. Names elsewhere that are bound
    /// to it stay bound, to nothing.
    [[nodiscard]] virtual StoreStatus destroy_context(ContextId context) = 0;

    /// Whether the context exists: `done` or `no_context`; `broken` or `unreachable` where the
    /// store cannot tell.
    [[nodiscard]] virtual StoreStatus find_context(ContextId context) = 0;
    /// The bindings that come behind `after`, or the first ones for null, as far as they are within
    /// the bounds. Rows that nobody wrote like this are left out, and the log names them. An empty
    /// portion also for a context that does not exist.
    [[nodiscard]] virtual StoreStatus list(ContextId context, const ior::NameComponent* after,
                                           const PortionBounds& bounds, Portion& portion) = 0;
};

} // namespace kairos::nameserver
