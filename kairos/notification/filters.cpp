// SPDX-License-Identifier: Apache-2.0
#include "kairos/notification/filters.h"

#include "kairos/base/assert_held.h"
#include "kairos/constraints/evaluator.h"
#include "kairos/corba/CORBA.h"
#include "kairos/corba/TimeBase.h"

#include <algorithm>
#include <utility>

namespace kairos::notification {
namespace {

using constraints::Constraint;
using constraints::Language;
using CosNotifyFilter::ConstraintExp;
using CosNotifyFilter::ConstraintID;
using CosNotifyFilter::ConstraintInfoSeq;

/// Of a constraint, beside its text: about what its program may have.
constexpr std::size_t octets_of_text_octet = 130;

std::string quoted(std::string_view text)
{
    std::string made = "'";
    for (const char character : text) {
        if (character == '\'' || character == '\\') made += '\\';
        made += character;
    }
    return made + "'";
}

/// Where the constraint is about one type alone, that is part of it, so that an index knows it.
Constraint filed_constraint(const Constraint& constraint, const EventTypes& types)
{
    if (types.patterns().size() != 1) return constraint;
    const auto& [domain, type] = types.patterns().front();
    if (type.find('*') != std::string::npos || type.starts_with('%')) return constraint;
    std::string text = "$type_name == " + quoted(type);
    if (!constraint.text().empty()) text += " and (" + std::string(constraint.text()) + ")";
    auto both = Constraint::parse(text, Language::extended);
    return both ? *both : constraint;
}

Filter::List::const_iterator find(const Filter::List& list, ConstraintID id)
{
    const auto found = std::ranges::lower_bound(
        list, id, {}, [](const ConstraintPtr& one) { return one->info.constraint_id; });
    if (found != list.end() && (*found)->info.constraint_id == id) return found;
    throw CosNotifyFilter::ConstraintNotFound(id);
}

/// Threads keep what evaluating takes.
constraints::Evaluator& evaluator(std::size_t steps_max)
{
    thread_local std::size_t made_for = 0;
    thread_local std::unique_ptr<constraints::Evaluator> made;
    if (made_for != steps_max) made = std::make_unique<constraints::Evaluator>(steps_max);
    made_for = steps_max;
    return *made;
}

} // namespace

constraints::Term FilteredEvent::find(std::string_view name) const
{
    if (name != "curtime") return {};
    const auto since_epoch = std::chrono::system_clock::now().time_since_epoch();
    TimeBase::UtcT now{};
    now.time =
        static_cast<TimeBase::TimeT>(
            std::chrono::duration_cast<std::chrono::nanoseconds>(since_epoch).count() / 100) +
        12'219'292'800ULL * 10'000'000;
    time_ <<= now;
    return constraints::Term(time_);
}

// --- One -----------------------------------------------------------------------------------------

Filter::Filter(std::shared_ptr<FilterBudget> budget)
    : budget_(std::move(budget)), place_(budget_->filters, 1), list_(std::make_shared<const List>())
{
    if (!place_)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "there are as many filters as may be");
}

ConstraintPtr Filter::make(const ConstraintExp& expression, ConstraintID id) const
{
    require_types(expression.event_types, budget_->limits.types_max);
    const std::string_view text = expression.constraint_expr.in();
    std::size_t octets = 512 + text.size() * octets_of_text_octet;
    for (CORBA::ULong i = 0; i < expression.event_types.length(); ++i)
        octets += 128 + 3 * (std::string_view(expression.event_types[i].domain_name.in()).size() +
                             std::string_view(expression.event_types[i].type_name.in()).size());
    events::Portion place(budget_->constraints, 1);
    events::Portion memory(budget_->octets, octets);
    if (!place || !memory)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "the service has as many constraints as it may have");
    auto parsed = Constraint::parse(text, Language::extended);
    if (!parsed) throw CosNotifyFilter::InvalidConstraint(expression);
    EventTypes types(expression.event_types);
    Constraint filed = filed_constraint(*parsed, types);
    CosNotifyFilter::ConstraintInfo info;
    info.constraint_expression = expression;
    info.constraint_id = id;
    return std::make_shared<FilterConstraint>(FilterConstraint{.info = std::move(info),
                                                               .key = ++budget_->last_key,
                                                               .types = std::move(types),
                                                               .constraint = std::move(*parsed),
                                                               .filed = std::move(filed),
                                                               .place = std::move(place),
                                                               .octets = std::move(memory)});
}

void Filter::put(List changed)
{
    assert_held(changing_);
    const std::lock_guard lock(mutex_);
    list_ = std::make_shared<const List>(std::move(changed));
    ++budget_->changes;
}

ConstraintInfoSeq* Filter::add(const CosNotifyFilter::ConstraintExpSeq& added)
{
    CosNotifyFilter::ConstraintInfoSeq_var infos = new ConstraintInfoSeq(added.length());
    infos->length(added.length());
    const std::lock_guard lock(changing_);
    List changed = *list();
    for (CORBA::ULong i = 0; i < added.length(); ++i) {
        changed.push_back(make(added[i], last_ + 1 + static_cast<ConstraintID>(i)));
        infos[i] = changed.back()->info;
    }
    if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    last_ += static_cast<ConstraintID>(added.length());
    put(std::move(changed));
    return infos._retn();
}

void Filter::modify(const CosNotifyFilter::ConstraintIDSeq& removed,
                    const ConstraintInfoSeq& modified)
{
    const std::lock_guard lock(changing_);
    List changed = *list();
    for (CORBA::ULong i = 0; i < modified.length(); ++i) {
        const auto found = find(changed, modified[i].constraint_id);
        changed[static_cast<std::size_t>(found - changed.cbegin())] =
            make(modified[i].constraint_expression, modified[i].constraint_id);
    }
    for (CORBA::ULong i = 0; i < removed.length(); ++i)
        changed.erase(find(changed, removed[i]));
    put(std::move(changed));
}

ConstraintInfoSeq* Filter::infos(const CosNotifyFilter::ConstraintIDSeq& ids) const
{
    const std::shared_ptr<const List> all = list();
    if (ids.length() > all->size()) throw CosNotifyFilter::ConstraintNotFound(ids[0]);
    CosNotifyFilter::ConstraintInfoSeq_var infos = new ConstraintInfoSeq(ids.length());
    infos->length(ids.length());
    for (CORBA::ULong i = 0; i < ids.length(); ++i)
        infos[i] = (*find(*all, ids[i]))->info;
    return infos._retn();
}

ConstraintInfoSeq* Filter::infos() const
{
    const std::shared_ptr<const List> all = list();
    CosNotifyFilter::ConstraintInfoSeq_var infos = new ConstraintInfoSeq;
    infos->length(static_cast<CORBA::ULong>(all->size()));
    for (CORBA::ULong i = 0; i < infos->length(); ++i)
        infos[i] = (*all)[i]->info;
    return infos._retn();
}

void Filter::clear()
{
    const std::lock_guard lock(changing_);
    put({});
}

void Filter::end()
{
    const std::lock_guard lock(changing_);
    has_ended_ = true;
    put({});
}

std::shared_ptr<const Filter::List> Filter::list() const
{
    const std::lock_guard lock(mutex_);
    return list_;
}

bool Filter::passes(const Notification& event) const
{
    const std::shared_ptr<const List> all = list();
    const FilteredEvent subject(event);
    constraints::Evaluator& evaluates = evaluator(budget_->limits.constraint_steps_max);
    evaluates.look_at(subject);
    return std::ranges::any_of(*all, [&](const ConstraintPtr& one) {
        return one->is_about(event) && evaluates.evaluate(one->constraint);
    });
}

// --- All of a channel ----------------------------------------------------------------------------

void Matcher::attach(const FilterPtr& filter)
{
    ++budget_->changes; // so that who matches waits for this, rather than this for all of them
    const std::unique_lock lock(mutex_);
    Attached& attached = attached_[filter.get()];
    if (attached.times++ != 0) return;
    attached.filter = filter;
    try {
        file(attached, filter->list());
    } catch (...) {
        file(attached, nullptr);
        attached_.erase(filter.get());
        throw;
    }
    count_ = attached_.size();
}

void Matcher::detach(const Filter& filter) noexcept
{
    ++budget_->changes; // as above
    const std::unique_lock lock(mutex_);
    const auto found = attached_.find(&filter);
    if (found == attached_.end() || --found->second.times != 0) return;
    file(found->second, nullptr);
    attached_.erase(found);
    count_ = attached_.size();
}

void Matcher::file(Attached& attached, std::shared_ptr<const Filter::List> list)
{
    if (attached.filed)
        for (const ConstraintPtr& one : *attached.filed) {
            index_.remove(one->key);
            filed_.erase(one->key);
        }
    attached.filed = std::move(list);
    if (!attached.filed) return;
    for (const ConstraintPtr& one : *attached.filed) {
        filed_[one->key] = {.filter = attached.filter.get(), .constraint = one};
        (void)index_.add(one->key, one->filed);
    }
}

void Matcher::look_again()
{
    const std::unique_lock lock(mutex_);
    seen_ = budget_->changes;
    for (auto& [filter, attached] : attached_) {
        std::shared_ptr<const Filter::List> list = filter->list();
        if (list != attached.filed) file(attached, std::move(list));
    }
}

Passed Matcher::match(const Notification& event)
{
    Passed passed;
    if (count_ == 0) return passed;
    const FilteredEvent subject(event);
    constraints::Evaluator& evaluates = evaluator(budget_->limits.constraint_steps_max);
    evaluates.look_at(subject);
    std::vector<constraints::ConstraintIndex::Id> found;
    std::shared_lock lock(mutex_);
    if (seen_ != budget_->changes) {
        lock.unlock();
        look_again();
        lock.lock();
    }
    index_.match(evaluates, found);
    for (const auto id : found) {
        const Filed& filed = filed_.find(id)->second;
        if (filed.constraint->is_about(event)) passed.push_back(filed.filter);
    }
    std::ranges::sort(passed);
    passed.erase(std::ranges::unique(passed).begin(), passed.end());
    return passed;
}

// --- Of one admin or proxy -----------------------------------------------------------------------

CosNotifyFilter::FilterID FilterSet::add(const FilterPtr& filter,
                                         CosNotifyFilter::Filter_ptr object)
{
    events::Portion place(matcher_->budget().attachments, 1);
    if (!place)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "filters are attached as often as they may be");
    matcher_->attach(filter);
    const std::lock_guard lock(mutex_);
    members_[++last_] = {.filter = filter,
                         .object = CosNotifyFilter::Filter::_duplicate(object),
                         .place = std::move(place)};
    filters_.insert(filter.get());
    is_empty_ = false;
    return last_;
}

void FilterSet::remove(CosNotifyFilter::FilterID id)
{
    FilterPtr filter;
    {
        const std::lock_guard lock(mutex_);
        const auto found = members_.find(id);
        if (found == members_.end()) throw CosNotifyFilter::FilterNotFound();
        filter = found->second.filter;
        members_.erase(found);
        filters_.erase(filters_.find(filter.get()));
        is_empty_ = members_.empty();
    }
    matcher_->detach(*filter);
}

CosNotifyFilter::Filter_ptr FilterSet::find(CosNotifyFilter::FilterID id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(id);
    if (found == members_.end()) throw CosNotifyFilter::FilterNotFound();
    return CosNotifyFilter::Filter::_duplicate(found->second.object.in());
}

CosNotifyFilter::FilterIDSeq* FilterSet::ids() const
{
    CosNotifyFilter::FilterIDSeq_var ids = new CosNotifyFilter::FilterIDSeq;
    const std::lock_guard lock(mutex_);
    ids->length(static_cast<CORBA::ULong>(members_.size()));
    CORBA::ULong at = 0;
    for (const auto& [id, member] : members_)
        ids[at++] = id;
    return ids._retn();
}

void FilterSet::clear() noexcept
{
    std::map<CosNotifyFilter::FilterID, Member> members;
    {
        const std::lock_guard lock(mutex_);
        members.swap(members_);
        filters_.clear();
        is_empty_ = true;
    }
    for (const auto& [id, member] : members)
        matcher_->detach(*member.filter);
}

FilterSet::Verdict FilterSet::judge(const Passed& passed) const
{
    if (is_empty_) return Verdict::none;
    if (passed.empty()) return Verdict::stays;
    const std::lock_guard lock(mutex_);
    if (members_.empty()) return Verdict::none;
    const auto is_passed = [&passed](const Filter* one) {
        return std::ranges::binary_search(passed, one);
    };
    const auto is_ours = [this](const Filter* one) { return filters_.contains(one); };
    const bool passes = passed.size() < filters_.size() ? std::ranges::any_of(passed, is_ours)
                                                        : std::ranges::any_of(filters_, is_passed);
    return passes ? Verdict::passes : Verdict::stays;
}

bool goes_on(FilterSet::Verdict admin, FilterSet::Verdict proxy, bool both) noexcept
{
    using Verdict = FilterSet::Verdict;
    if (admin == Verdict::none || proxy == Verdict::none || both)
        return admin != Verdict::stays && proxy != Verdict::stays;
    return admin == Verdict::passes || proxy == Verdict::passes;
}

} // namespace kairos::notification
