// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/mapping_filters.h"

#include "kairos/base/assert_held.h"
#include "kairos/constraints/evaluator.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/TimeBase.h"
#include "kairos/events/event.h"

#include <algorithm>
#include <chrono>
#include <limits>
#include <utility>

namespace kairos::notification {
namespace {

using CosNotifyFilter::ConstraintID;
using CosNotifyFilter::ConstraintIDSeq;
using CosNotifyFilter::MappingConstraintInfoSeq;

/// Of a value, beside its octets: its Any, its TypeCode.
constexpr std::size_t value_octets = 512;

std::optional<std::int64_t> number_of_value(const CORBA::Any& value)
{
    CORBA::Short priority = 0;
    if (value >>= priority) return priority;
    TimeBase::TimeT lifetime = 0;
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
    if (value >>= lifetime)
        return static_cast<std::int64_t>(std::min(lifetime, static_cast<TimeBase::TimeT>(most)));
    return std::nullopt;
}

/// A lifetime of 0 has no end.
std::int64_t rank_of(const MappingValue& value)
{
    TimeBase::TimeT lifetime = 0;
    if ((value.any >>= lifetime) && lifetime == 0) return std::numeric_limits<std::int64_t>::max();
    return value.number.value_or(0);
}

void say(CosNotifyFilter::MappingConstraintInfo& info, const MappingConstraint& one)
{
    info.constraint_expression = one.constraint->info.constraint_expression;
    info.constraint_id = one.constraint->info.constraint_id;
    info.value = one.value.any;
}

} // namespace

MappingFilter::MappingFilter(std::shared_ptr<FilterBudget> budget, const CORBA::Any& default_value)
    : budget_(std::move(budget)), place_(budget_->filters, 1), number_(++budget_->last_number),
      default_(made_value(default_value)), list_(std::make_shared<const List>())
{
    if (!place_)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "there are as many filters as may be");
}

bool MappingFilter::is_for(MappedProperty property) const noexcept
{
    const CORBA::TypeCode_var type = default_.any.type();
    const CORBA::TypeCode_ptr wanted =
        property == MappedProperty::priority ? CORBA::_tc_short : CORBA::_tc_ulonglong;
    return type->equivalent(wanted);
}

MappingValue MappingFilter::made_value(const CORBA::Any& any) const
{
    const std::size_t octets = value_octets + 2 * events::EncodedArgument(any).size();
    MappingValue made{
        .any = any, .number = number_of_value(any), .octets = {budget_->octets, octets}};
    made.rank = rank_of(made);
    if (!made.octets)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the service has as many constraints as it may have");
    return made;
}

MappingFilter::One MappingFilter::make(const CosNotifyFilter::ConstraintExp& expression,
                                       const CORBA::Any& value, ConstraintID id) const
{
    const CORBA::TypeCode_var type = value.type();
    const CORBA::TypeCode_var ours = default_.any.type();
    if (!type->equivalent(ours.in())) throw CosNotifyFilter::InvalidValue(expression, value);
    ConstraintPtr constraint = make_constraint(*budget_, expression, id);
    const std::size_t octets = constraint->info_octets + events::EncodedArgument(value).size();
    return std::make_shared<MappingConstraint>(MappingConstraint{
        .constraint = std::move(constraint), .value = made_value(value), .info_octets = octets});
}

void MappingFilter::put(Table changed)
{
    assert_held(changing_);
    auto list = std::make_shared<List>();
    for (const auto& [id, one] : changed)
        list->by_value.push_back(one);
    std::ranges::stable_sort(list->by_value, std::ranges::greater{},
                             [](const One& one) { return one->value.rank; });
    list->by_id = std::move(changed);
    std::shared_ptr<const List> gone = std::move(list);
    const std::lock_guard lock(mutex_);
    list_.swap(gone);
}

MappingConstraintInfoSeq* MappingFilter::add(const CosNotifyFilter::MappingConstraintPairSeq& added)
{
    CosNotifyFilter::MappingConstraintInfoSeq_var infos =
        new MappingConstraintInfoSeq(added.length());
    infos->length(added.length());
    const std::lock_guard lock(changing_);
    Table changed = list()->by_id;
    for (CORBA::ULong i = 0; i < added.length(); ++i) {
        const ConstraintID id = last_ + 1 + static_cast<ConstraintID>(i);
        const One one = make(added[i].constraint_expression, added[i].result_to_set, id);
        changed[id] = one;
        say(infos[i], *one);
    }
    if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    if (added.length() == 0) return infos._retn();
    put(std::move(changed));
    last_ += static_cast<ConstraintID>(added.length());
    return infos._retn();
}

void MappingFilter::modify(const ConstraintIDSeq& removed, const MappingConstraintInfoSeq& modified)
{
    const std::lock_guard lock(changing_);
    Table changed = list()->by_id;
    for (CORBA::ULong i = 0; i < modified.length(); ++i) {
        const ConstraintID id = modified[i].constraint_id;
        const auto found = changed.find(id);
        if (found == changed.end()) throw CosNotifyFilter::ConstraintNotFound(id);
        found->second = make(modified[i].constraint_expression, modified[i].value, id);
    }
    for (CORBA::ULong i = 0; i < removed.length(); ++i)
        if (changed.erase(removed[i]) == 0) throw CosNotifyFilter::ConstraintNotFound(removed[i]);
    if (modified.length() != 0 || removed.length() != 0) put(std::move(changed));
}

MappingConstraintInfoSeq* MappingFilter::infos(const ConstraintIDSeq& ids) const
{
    const std::shared_ptr<const List> all = list();
    Table asked; // each once
    std::size_t octets = 0;
    for (CORBA::ULong i = 0; i < ids.length(); ++i) {
        const auto found = all->by_id.find(ids[i]);
        if (found == all->by_id.end() || !asked.insert(*found).second)
            throw CosNotifyFilter::ConstraintNotFound(ids[i]);
        octets += found->second->info_octets;
    }
    require_answer(octets);
    CosNotifyFilter::MappingConstraintInfoSeq_var infos =
        new MappingConstraintInfoSeq(ids.length());
    infos->length(ids.length());
    for (CORBA::ULong i = 0; i < ids.length(); ++i)
        say(infos[i], *asked[ids[i]]);
    return infos._retn();
}

MappingConstraintInfoSeq* MappingFilter::infos(bool is_answer) const
{
    const std::shared_ptr<const List> all = list();
    std::size_t octets = 0;
    for (const auto& [id, one] : all->by_id)
        octets += one->info_octets;
    if (is_answer) require_answer(octets);
    CosNotifyFilter::MappingConstraintInfoSeq_var infos = new MappingConstraintInfoSeq;
    infos->length(static_cast<CORBA::ULong>(all->by_id.size()));
    CORBA::ULong at = 0;
    for (const auto& [id, one] : all->by_id)
        say(infos[at++], *one);
    return infos._retn();
}

void MappingFilter::restore(const MappingConstraintInfoSeq& infos, ConstraintID last)
{
    const std::lock_guard lock(changing_);
    Table all;
    for (CORBA::ULong i = 0; i < infos.length(); ++i) {
        const ConstraintID id = infos[i].constraint_id;
        all[id] = make(infos[i].constraint_expression, infos[i].value, id);
        last = std::max(last, id);
    }
    last_ = last;
    put(std::move(all));
}

ConstraintID MappingFilter::last() const
{
    const std::lock_guard lock(changing_);
    return last_;
}

void MappingFilter::clear()
{
    const std::lock_guard lock(changing_);
    put({});
}

void MappingFilter::end()
{
    const std::lock_guard lock(changing_);
    has_ended_ = true;
    put({});
}

std::shared_ptr<const MappingFilter::List> MappingFilter::list() const
{
    const std::lock_guard lock(mutex_);
    return list_;
}

MappingFilter::One MappingFilter::find(const Notification& event) const
{
    return find(event, Passed());
}

MappingFilter::One MappingFilter::find(const Notification& event, const Passed& passed) const
{
    using Clock = std::chrono::steady_clock;
    const bool has_end = passed.mapping_end != Clock::time_point::max();
    const std::shared_ptr<const List> all = list();
    if (all->by_value.empty()) return nullptr;
    const FilteredEvent subject(event);
    constraints::Evaluator& evaluates = thread_evaluator(budget_->limits.constraint_steps_max);
    evaluates.look_at(subject);
    for (const One& one : all->by_value) {
        passed.was_cut = has_end && Clock::now() >= passed.mapping_end;
        if (passed.was_cut) return nullptr;
        if (one->constraint->is_about(event) && evaluates.evaluate(one->constraint->constraint))
            return one;
    }
    return nullptr;
}

std::optional<std::int64_t> MappingFilter::map(const Notification& event, bool is_said,
                                               const Passed& passed) const
{
    if (has_ended_) return std::nullopt;
    auto found = passed.mappings.find(number_);
    if (found == passed.mappings.end() && !passed.was_cut) {
        One one = find(event, passed);
        if (!passed.was_cut) found = passed.mappings.emplace(number_, std::move(one)).first;
    }
    if (found == passed.mappings.end()) return std::nullopt;
    if (found->second) return found->second->value.number;
    return is_said ? std::nullopt : default_.number;
}

} // namespace kairos::notification
