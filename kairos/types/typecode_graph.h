// SPDX-License-Identifier: Apache-2.0
//
// TypeCodes made at run time. A graph owns the memory of its TypeCodes, which may refer to each
// other in cycles, and holds a count on every other graph that they refer to: counts never form a
// cycle. One thread builds a graph; then it is immutable and only its count changes.
#pragma once

#include "kairos/types/typecode.h"

#include <atomic>
#include <cstddef>
#include <memory>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace kairos::types {

class TypeCodeGraph {
  public:
    TypeCodeGraph() = default;
    TypeCodeGraph(const TypeCodeGraph&) = delete;
    TypeCodeGraph& operator=(const TypeCodeGraph&) = delete;

    /// Adds an owner, of any of the graph's TypeCodes.
    void retain() noexcept { count_.fetch_add(1, std::memory_order_relaxed); }
    /// Takes an owner away. Iterative, however long the chain of graphs that end with it.
    static void release(TypeCodeGraph* graph) noexcept;

    // Building. Nothing is freed before the graph.

    /// Where a TypeCode will be, so that others can refer to it already.
    [[nodiscard]] CORBA::TypeCode* reserve();
    /// Makes a TypeCode in a place that was reserved.
    void make(CORBA::TypeCode* place, TypeCodeData data);
    [[nodiscard]] const CORBA::TypeCode* make(const TypeCodeData& data);
    [[nodiscard]] const char* text(std::string_view text);
    /// Uninitialised.
    template <typename T>
    [[nodiscard]] T* array(std::size_t count)
    {
        return static_cast<T*>(allocate(count * sizeof(T)));
    }
    /// Keeps a TypeCode of another graph for as long as this one lives.
    const CORBA::TypeCode* refer(const CORBA::TypeCode* type);

    /// Whether a place holder that stood for nothing may be reachable from its TypeCodes.
    [[nodiscard]] bool may_be_open() const noexcept { return open_; }

    // A graph of one place holder.

    /// The TypeCode that this place holder stands for; null for none yet.
    [[nodiscard]] const CORBA::TypeCode* bound() const noexcept
    {
        return bound_.load(std::memory_order_acquire);
    }
    /// Lets this place holder stand for `type` from now on, unless it stands for something already.
    void bind(const CORBA::TypeCode& type) noexcept;
    void mark_open() noexcept { open_ = true; }

  private:
    static constexpr std::size_t first_size = 512;

    ~TypeCodeGraph() = default;
    [[nodiscard]] void* allocate(std::size_t size);
    /// Puts the graph on the list of those to delete if that was its last count.
    static void drop(TypeCodeGraph* graph, TypeCodeGraph*& doomed) noexcept;

    std::atomic<std::uint32_t> count_{1};
    bool open_ = false;
    std::atomic<const CORBA::TypeCode*> bound_{nullptr};
    TypeCodeGraph* next_doomed_ = nullptr;
    std::vector<TypeCodeGraph*> referred_; // one count each
    std::vector<std::unique_ptr<std::byte[]>> blocks_;
    std::size_t left_ = first_size; // in the block that `next_` is in
    std::byte* next_ = first_;
    alignas(std::max_align_t) std::byte first_[first_size]; // spares most graphs a second block
};

/// Owns one count.
struct GraphRelease {
    void operator()(TypeCodeGraph* graph) const noexcept { TypeCodeGraph::release(graph); }
};
using GraphPtr = std::unique_ptr<TypeCodeGraph, GraphRelease>;

/// Whether values of one of the types, or of a type that is directly in one, would contain others
/// of the same type, not behind a sequence or value: there can be none. Iterative.
[[nodiscard]] bool any_contains_itself(const std::vector<const CORBA::TypeCode*>& types);

/// Copies everything reachable from a TypeCode into a graph, cycles included.
class GraphCopy {
  public:
    /// What is copied and what is shared.
    enum class Mode {
        compact, ///< everything with a name in it; without the names
        enclose, ///< what may reach a place holder of the id, which becomes `enclosing`
    };
    GraphCopy(TypeCodeGraph& graph, Mode mode) : graph_(graph), mode_(mode) {}
    /// Encloses nothing where `id` is empty.
    GraphCopy(TypeCodeGraph& graph, std::string_view id, const CORBA::TypeCode& enclosing)
        : graph_(graph), mode_(Mode::enclose), id_(id), enclosing_(&enclosing)
    {
    }

    /// What the new graph shall use for the TypeCode. Complete after `finish`.
    [[nodiscard]] const CORBA::TypeCode* operator()(const CORBA::TypeCode* type);
    void finish();
    /// The place holders that were replaced: they may stand for the enclosing type from now on.
    [[nodiscard]] const std::vector<const CORBA::TypeCode*>& replaced() const { return replaced_; }

  private:
    struct Copy {
        const CORBA::TypeCode* from;
        CORBA::TypeCode* to;
    };
    [[nodiscard]] const CORBA::TypeCode* place_holder(const CORBA::TypeCode* type);
    [[nodiscard]] bool is_shared(const TypeCodeData& data) const;
    void copy(const Copy& copy);

    TypeCodeGraph& graph_;
    Mode mode_;
    std::string_view id_{};
    const CORBA::TypeCode* enclosing_ = nullptr;
    std::unordered_map<const CORBA::TypeCode*, CORBA::TypeCode*> copies_;
    std::vector<Copy> waiting_; // for their contents: no recursion, however deep the type
    std::vector<const CORBA::TypeCode*> replaced_;
};

} // namespace kairos::types
