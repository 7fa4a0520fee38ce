// SPDX-License-Identifier: Apache-2.0
#include "kairos/types/typecode_graph.h"

#include "kairos/base/bytes.h"

#include <algorithm>
#include <cstring>
#include <new>

namespace kairos::types {

void TypeCodeGraph::release(TypeCodeGraph* graph) noexcept
{
    TypeCodeGraph* doomed = nullptr;
    drop(graph, doomed);
    while (doomed != nullptr) {
        TypeCodeGraph* const dead = doomed;
        doomed = dead->next_doomed_;
        for (TypeCodeGraph* referred : dead->referred_)
            drop(referred, doomed);
        if (const CORBA::TypeCode* type = dead->bound()) drop(type->_kairos_raw().graph, doomed);
        delete dead;
    }
}

void TypeCodeGraph::drop(TypeCodeGraph* graph, TypeCodeGraph*& doomed) noexcept
{
    if (graph->count_.fetch_sub(1, std::memory_order_acq_rel) != 1) return;
    graph->next_doomed_ = doomed;
    doomed = graph;
}

void* TypeCodeGraph::allocate(std::size_t size)
{
    size = align_up(size, alignof(std::max_align_t));
    if (size > left_) {
        const std::size_t block = std::max(
            size, first_size << std::min<std::size_t>(blocks_.size() + 1, 10)); // 1 KiB … 512 KiB
        blocks_.push_back(std::make_unique_for_overwrite<std::byte[]>(block));
        next_ = blocks_.back().get();
        left_ = block;
    }
    left_ -= size;
    return std::exchange(next_, next_ + size);
}

CORBA::TypeCode* TypeCodeGraph::reserve() { return array<CORBA::TypeCode>(1); }

void TypeCodeGraph::make(CORBA::TypeCode* place, TypeCodeData data)
{
    data.graph = this;
    new (place) CORBA::TypeCode(data);
}

const CORBA::TypeCode* TypeCodeGraph::make(const TypeCodeData& data)
{
    CORBA::TypeCode* const place = reserve();
    make(place, data);
    return place;
}

const char* TypeCodeGraph::text(std::string_view text)
{
    if (text.empty()) return "";
    char* copy = array<char>(text.size() + 1);
    text.copy(copy, text.size());
    copy[text.size()] = '\0';
    return copy;
}

const CORBA::TypeCode* TypeCodeGraph::refer(const CORBA::TypeCode* type)
{
    TypeCodeGraph* const graph = type->_kairos_raw().graph;
    if (graph == nullptr || graph == this) return type;
    if (graph->open_ && graph->bound() == nullptr) open_ = true;
    if (std::ranges::find(referred_, graph) == referred_.end()) {
        referred_.push_back(graph);
        graph->retain();
    }
    return type;
}

void TypeCodeGraph::bind(const CORBA::TypeCode& type) noexcept
{
    TypeCodeGraph* const graph = type._kairos_raw().graph;
    graph->retain();
    const CORBA::TypeCode* nothing = nullptr;
    if (!bound_.compare_exchange_strong(nothing, &type, std::memory_order_acq_rel)) release(graph);
}

// --- Types that contain themselves -------------------------------------------------------------

namespace {

/// The types whose values lie in every value of this one, by index; null behind the last.
const CORBA::TypeCode* direct_part(const CORBA::TypeCode& type, CORBA::ULong index)
{
    const TypeCodeData& data = type._kairos_raw();
    if (type._kairos_is_recursive()) return index == 0 ? data.graph->bound() : nullptr;
    switch (data.kind) {
    case CORBA::tk_struct:
    case CORBA::tk_union:
    case CORBA::tk_except:
        return index < data.count ? data.members[index].type : nullptr;
    case CORBA::tk_array:
    case CORBA::tk_alias:
        return index == 0 ? data.content : nullptr;
    default:
        return nullptr;
    }
}

} // namespace

bool any_contains_itself(const std::vector<const CORBA::TypeCode*>& types)
{
    struct Visit {
        const CORBA::TypeCode* type;
        CORBA::ULong next_part;
    };
    std::unordered_map<const CORBA::TypeCode*, bool> left; // of types that were entered
    std::vector<Visit> way;
    for (const CORBA::TypeCode* type : types) {
        if (left.try_emplace(type, false).second) way.push_back({type, 0});
        while (!way.empty()) {
            Visit& visit = way.back();
            const CORBA::TypeCode* const part = direct_part(*visit.type, visit.next_part++);
            if (part == nullptr) {
                left[visit.type] = true;
                way.pop_back();
                continue;
            }
            const auto [known, is_new] = left.try_emplace(part, false);
            if (is_new) {
                way.push_back({part, 0});
            } else if (!known->second) {
                return true;
            }
        }
    }
    return false;
}

// --- Copies ------------------------------------------------------------------------------------

const CORBA::TypeCode* GraphCopy::operator()(const CORBA::TypeCode* type)
{
    if (type->_kairos_is_recursive()) {
        const CORBA::TypeCode* const meant = place_holder(type);
        if (mode_ == Mode::enclose) return meant;
        type = meant;
    }
    if (is_shared(type->_kairos_raw())) return graph_.refer(type);
    CORBA::TypeCode*& place = copies_[type];
    if (place == nullptr) {
        place = graph_.reserve();
        waiting_.push_back({type, place});
    }
    return place;
}

/// What takes the place of a place holder.
const CORBA::TypeCode* GraphCopy::place_holder(const CORBA::TypeCode* type)
{
    if (mode_ == Mode::compact) return &type->_kairos_bound();
    const TypeCodeData& data = type->_kairos_raw();
    if (const CORBA::TypeCode* bound = data.graph->bound()) return graph_.refer(bound);
    if (data.id != id_) return graph_.refer(type);
    replaced_.push_back(type);
    return enclosing_;
}

bool GraphCopy::is_shared(const TypeCodeData& data) const
{
    if (mode_ == Mode::enclose)
        return id_.empty() || data.graph == nullptr || !data.graph->may_be_open();
    return data.content == nullptr && data.members == nullptr && *data.name == '\0';
}

void GraphCopy::finish()
{
    while (!waiting_.empty()) {
        const Copy next = waiting_.back();
        waiting_.pop_back();
        copy(next);
    }
}

void GraphCopy::copy(const Copy& copy)
{
    TypeCodeData data = copy.from->_kairos_raw();
    const bool named = mode_ != Mode::compact;
    data.id = graph_.text(data.id);
    data.name = named ? graph_.text(data.name) : "";
    if (data.content != nullptr) data.content = (*this)(data.content);
    if (data.members != nullptr) {
        auto* members = graph_.array<TypeCodeMember>(data.count);
        for (CORBA::ULong i = 0; i < data.count; ++i) {
            const TypeCodeMember& member = data.members[i];
            members[i] = {named ? graph_.text(member.name) : "",
                          member.type == nullptr ? nullptr : (*this)(member.type)};
        }
        data.members = members;
    }
    if (data.numbers != nullptr) {
        auto* numbers = graph_.array<std::int64_t>(data.count);
        std::copy_n(data.numbers, data.count, numbers);
        data.numbers = numbers;
    }
    graph_.make(copy.to, data);
}

} // namespace kairos::types
