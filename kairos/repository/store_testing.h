// SPDX-License-Identifier: Apache-2.0
//
// What the tests of stores share: definitions, and what a store has.
#pragma once

#include "kairos/repository/store.h"

#include <algorithm>
#include <gtest/gtest.h>
#include <string>
#include <utility>
#include <vector>

namespace kairos::repository {

inline Definition module_of(Key key, std::string name)
{
    Definition definition;
    definition.key = key;
    definition.kind = Kind::module;
    definition.container = root;
    definition.id = "IDL:" + name + ":1.0";
    definition.name = std::move(name);
    definition.version = "1.0";
    return definition;
}

/// What the store has, in the order of keys; nothing if it cannot be read.
inline std::vector<Definition> definitions_in(Store& store)
{
    auto kept = store.read();
    EXPECT_TRUE(kept) << kept.error().reason;
    if (!kept) return {};
    std::ranges::sort(kept->definitions, {}, &Definition::key);
    return std::move(kept->definitions);
}

} // namespace kairos::repository
