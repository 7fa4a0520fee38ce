// SPDX-License-Identifier: Apache-2.0
//
// The value factories of one ORB by repository id. Every message carries a pointer to it
// (cdr::Environment::value_factories). Any thread.
#pragma once

#include "kairos/cdr/environment.h"
#include "kairos/types/any_access.h"
#include "kairos/values/value_base.h"

#include <map>
#include <mutex>
#include <string>
#include <string_view>

namespace kairos::values {

/// The type of the value box of this repository id; null if the process has none.
[[nodiscard]] const Type* known_box(std::string_view id) noexcept;

class Registry : public types::ValueReader {
  public:
    Registry() = default;
    /// For messages to and from peers that write values in TAO's form (input.h), with the factories
    /// of another registry, which outlives it; null: with its own.
    struct TaoChunks {
        Registry* factories = nullptr;
    };
    explicit Registry(TaoChunks of) : shared_(of.factories), tao_chunks_(true) {}

    /// Whether values in the environment's message are in TAO's form.
    [[nodiscard]] static bool says_tao_chunks(const cdr::Environment& environment) noexcept
    {
        const auto* registry = static_cast<const Registry*>(environment.value_factories);
        return registry != nullptr && registry->tao_chunks_;
    }

    /// Values and boxes; abstract interfaces are the façade's to read.
    [[nodiscard]] bool read_value(cdr::Reader& in, CORBA::TypeCode_ptr type,
                                  CORBA::Any& any) override;

    /// Sets the factory of this id and adds an owner to it. Returns the former one, owned by the
    /// caller, or null.
    [[nodiscard]] CORBA::ValueFactory put(std::string_view id, CORBA::ValueFactory factory);
    /// Forgets the factory of this id. False if there is none.
    bool remove(std::string_view id);
    /// The factory of this id, owned by the caller, or null.
    [[nodiscard]] CORBA::ValueFactory find(std::string_view id) const;

  private:
    /// Returns whether the type's description alone says what such a value is, and nothing in this
    /// process does.
    [[nodiscard]] bool is_described_only(const CORBA::TypeCode& type) const;

    Registry* const shared_ = nullptr; // whose factories they are; null: its own
    const bool tao_chunks_ = false;
    mutable std::mutex mutex_; // guards what follows; no factory is called or deleted under it
    std::map<std::string, CORBA::ValueFactoryBase_var, std::less<>> factories_;
};

} // namespace kairos::values
