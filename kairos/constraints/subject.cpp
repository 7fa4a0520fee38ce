// SPDX-License-Identifier: Apache-2.0
//
// Where nothing is there.
#include "kairos/constraints/subject.h"

namespace kairos::constraints {

Term Structure::member(std::string_view /*name*/) const { return {}; }

Term Structure::member_at(std::size_t /*position*/) const { return {}; }

std::optional<std::size_t> Structure::length() const { return std::nullopt; }

Term Structure::element(std::size_t /*index*/) const { return {}; }

Term Structure::named(std::string_view /*name*/) const { return {}; }

std::string_view Structure::type_name() const { return {}; }

std::string_view Structure::repository_id() const { return {}; }

Term Subject::find(std::string_view /*name*/) const { return {}; }

Term Subject::event() const { return {}; }

} // namespace kairos::constraints
