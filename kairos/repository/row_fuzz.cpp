// SPDX-License-Identifier: Apache-2.0
//
// What a database gives: octets that may be no definition, and definitions that break the rules of
// a model. A model that takes them answers everything that clients ask.
#include "kairos/repository/model.h"
#include "kairos/repository/row.h"

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string_view>
#include <vector>

namespace kairos::repository {
namespace {

void ask_everything(const Model& model, const std::vector<Key>& keys)
{
    for (const Key key : keys) {
        const std::string name = model.absolute_name(key);
        static_cast<void>(model.find_name(key, name));
        static_cast<void>(model.ancestors(key));
        static_cast<void>(model.resolved(key));
        static_cast<void>(model.contents(key, Kind::all, true));
        static_cast<void>(model.find_all(key, "a", -1, Kind::any_typedef, true));
    }
}

} // namespace
} // namespace kairos::repository

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size)
{
    using namespace kairos::repository;
    std::string_view left(reinterpret_cast<const char*>(data), size);
    std::vector<Definition> kept;
    std::vector<Key> keys;
    // Rows behind their sizes.
    while (!left.empty()) {
        const std::size_t wanted = static_cast<unsigned char>(left.front());
        left.remove_prefix(1);
        const std::string_view row = left.substr(0, wanted);
        left.remove_prefix(row.size());
        const auto definition = decode(row);
        if (!definition) continue;
        if (encode(*definition) != row) std::abort(); // one form of each definition
        keys.push_back(definition->key);
        kept.push_back(*definition);
    }
    Model model({.definitions_max = 1000});
    if (!model.restore(kept, Key{1} << 32)) return 0;
    ask_everything(model, keys);
    for (const Key key : keys)
        static_cast<void>(model.destroy(key));
    return 0;
}
