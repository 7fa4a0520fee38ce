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

/// Of one answer that says constraints; who has more asks for some at a time.
constexpr std::size_t answer_octets_max = std::size_t{16} << 20;

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

/// Where it is in the list.
std::size_t find(const Filter::List& list, ConstraintID id)
{
    const auto found = std::ranges::lower_bound(
        list, id, {}, [](const ConstraintPtr& one) { return one->info.constraint_id; });
    if (found != list.end() && (*found)->info.constraint_id == id)
        return static_cast<std::size_t>(found - list.begin());
    throw CosNotifyFilter::ConstraintNotFound(id);
}

/// Where they all are, each said once.
std::vector<bool> find_each(const Filter::List& list, const CosNotifyFilter::ConstraintIDSeq& ids)
{
    std::vector<bool> are_found(list.size());
    for (CORBA::ULong i = 0; i < ids.length(); ++i) {
        const std::size_t at = find(list, ids[i]);
        if (are_found[at]) throw CosNotifyFilter::ConstraintNotFound(ids[i]);
        are_found[at] = true;
    }
    return are_found;
}

} // namespace

void require_answer(std::size_t octets)
{
    if (octets > answer_octets_max)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO,
                               "so many constraints are not said at once: ask for fewer");
}

constraints::Evaluator& thread_evaluator(std::size_t steps_max)
{
    thread_local std::size_t made_for = 0;
    thread_local std::unique_ptr<constraints::Evaluator> made;
    if (made_for != steps_max) made = std::make_unique<constraints::Evaluator>(steps_max);
    made_for = steps_max;
    return *made;
}

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
    : budget_(std::move(budget)), place_(budget_->filters, 1), number_(++budget_->last_number),
      list_(std::make_shared<const List>())
{
    if (!place_)
        throw CORBA::IMP_LIMIT(0, CORBA::COMPLETED_NO, "there are as many filters as may be");
}

ConstraintPtr make_constraint(FilterBudget& budget, const ConstraintExp& expression,
                              ConstraintID id)
{
    require_types(expression.event_types, budget.limits.types_max);
    const std::string_view text = expression.constraint_expr.in();
    std::size_t octets = 512 + text.size() * octets_of_text_octet;
    std::size_t info_octets = 64 + text.size();
    for (CORBA::ULong i = 0; i < expression.event_types.length(); ++i) {
        const std::size_t names =
            std::string_view(expression.event_types[i].domain_name.in()).size() +
            std::string_view(expression.event_types[i].type_name.in()).size();
        octets += 128 + 3 * names;
        info_octets += 64 + names;
    }
    events::Portion place(budget.constraints, 1);
    events::Portion memory(budget.octets, octets);
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
                                                               .key = ++budget.last_number,
                                                               .info_octets = info_octets,
                                                               .types = std::move(types),
                                                               .constraint = std::move(*parsed),
                                                               .filed = std::move(filed),
                                                               .place = std::move(place),
                                                               .octets = std::move(memory)});
}

void Filter::put(List changed)
{
    assert_held(changing_);
    auto list = std::make_shared<const List>(std::move(changed));
    const std::lock_guard lock(mutex_); // who is told asks for the list when it is left
    for (const std::shared_ptr<FilterChanges>& one : told_)
        one->note(number_);
    list_.swap(list);
}

void Filter::tell(const std::shared_ptr<FilterChanges>& changes)
{
    const std::lock_guard lock(mutex_);
    told_.insert(changes);
}

void Filter::forget(const std::shared_ptr<FilterChanges>& changes) noexcept
{
    const std::lock_guard lock(mutex_);
    told_.erase(changes);
}

ConstraintInfoSeq* Filter::add(const CosNotifyFilter::ConstraintExpSeq& added)
{
    CosNotifyFilter::ConstraintInfoSeq_var infos = new ConstraintInfoSeq(added.length());
    infos->length(added.length());
    const std::lock_guard lock(changing_);
    List changed = *list();
    for (CORBA::ULong i = 0; i < added.length(); ++i) {
        changed.push_back(
            make_constraint(*budget_, added[i], last_ + 1 + static_cast<ConstraintID>(i)));
        infos[i] = changed.back()->info;
    }
    if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
    if (added.length() == 0) return infos._retn();
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
        const std::size_t at = find(changed, modified[i].constraint_id);
        changed[at] =
            make_constraint(*budget_, modified[i].constraint_expression, modified[i].constraint_id);
    }
    const std::vector<bool> are_removed = find_each(changed, removed);
    if (modified.length() == 0 && removed.length() == 0) return;
    std::size_t left = 0;
    for (std::size_t i = 0; i < changed.size(); ++i)
        if (!are_removed[i]) std::swap(changed[left++], changed[i]);
    changed.resize(left);
    put(std::move(changed));
}

ConstraintInfoSeq* Filter::infos(const CosNotifyFilter::ConstraintIDSeq& ids) const
{
    const std::shared_ptr<const List> all = list();
    if (ids.length() > all->size()) throw CosNotifyFilter::ConstraintNotFound(ids[0]);
    const std::vector<bool> are_asked = find_each(*all, ids);
    std::size_t octets = 0;
    for (std::size_t i = 0; i < all->size(); ++i)
        if (are_asked[i]) octets += (*all)[i]->info_octets;
    require_answer(octets);
    CosNotifyFilter::ConstraintInfoSeq_var infos = new ConstraintInfoSeq(ids.length());
    infos->length(ids.length());
    for (CORBA::ULong i = 0; i < ids.length(); ++i)
        infos[i] = (*all)[find(*all, ids[i])]->info;
    return infos._retn();
}

ConstraintInfoSeq* Filter::infos() const
{
    const std::shared_ptr<const List> all = list();
    std::size_t octets = 0;
    for (const ConstraintPtr& one : *all)
        octets += one->info_octets;
    require_answer(octets);
    CosNotifyFilter::ConstraintInfoSeq_var infos = new ConstraintInfoSeq;
    infos->length(static_cast<CORBA::ULong>(all->size()));
    for (CORBA::ULong i = 0; i < infos->length(); ++i)
        infos[i] = (*all)[i]->info;
    return infos._retn();
}

void Filter::restore(const ConstraintInfoSeq& infos, ConstraintID last)
{
    const std::lock_guard lock(changing_);
    List list;
    for (CORBA::ULong i = 0; i < infos.length(); ++i) {
        list.push_back(
            make_constraint(*budget_, infos[i].constraint_expression, infos[i].constraint_id));
        last = std::max(last, infos[i].constraint_id);
    }
    std::ranges::sort(list, {}, [](const ConstraintPtr& one) { return one->info.constraint_id; });
    last_ = last;
    put(std::move(list));
}

ConstraintID Filter::last()
{
    const std::lock_guard lock(changing_);
    return last_;
}

void Filter::clear()
{
    const std::lock_guard lock(changing_);
    if (!list()->empty()) put({});
}

void Filter::end()
{
    const std::lock_guard lock(changing_);
    has_ended_ = true;
    if (!list()->empty()) put({});
}

bool Filter::has_ended()
{
    const std::lock_guard lock(changing_);
    return has_ended_;
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
    constraints::Evaluator& evaluates = thread_evaluator(budget_->limits.constraint_steps_max);
    evaluates.look_at(subject);
    return std::ranges::any_of(*all, [&](const ConstraintPtr& one) {
        return one->is_about(event) && evaluates.evaluate(one->constraint);
    });
}

// --- All of a channel ----------------------------------------------------------------------------

std::uint64_t Matcher::attach(const FilterPtr& filter)
{
    ++changes_->count; // so that who matches waits for this, rather than this for all of them
    const std::unique_lock lock(mutex_);
    Attached& attached = attached_[filter->number()];
    if (attached.times++ == 0) {
        attached.filter = filter;
        try {
            filter->tell(changes_);
            file(attached, filter->list());
        } catch (...) {
            filter->forget(changes_);
            attached_.erase(filter->number());
            throw;
        }
    }
    count_ = attached_.size();
    return ++last_attachment_;
}

void Matcher::detach(const Filter& filter) noexcept
{
    ++changes_->count; // as above
    const std::unique_lock lock(mutex_);
    const auto found = attached_.find(filter.number());
    if (found == attached_.end() || --found->second.times != 0) return;
    found->second.filter->forget(changes_);
    if (found->second.filed)
        for (const ConstraintPtr& one : *found->second.filed)
            unfile(*one);
    attached_.erase(found);
    count_ = attached_.size();
}

void Matcher::file(std::uint64_t filter, const ConstraintPtr& constraint)
{
    filed_[constraint->key] = {.filter = filter, .constraint = constraint};
    try {
        (void)index_.add(constraint->key, constraint->filed);
    } catch (...) {
        filed_.erase(constraint->key);
        throw;
    }
}

void Matcher::unfile(const FilterConstraint& constraint) noexcept
{
    index_.remove(constraint.key);
    filed_.erase(constraint.key);
}

/// Costs as much as what has changed, and a look at the rest: what is the same stays filed.
void Matcher::file(Attached& attached, std::shared_ptr<const Filter::List> list)
{
    static const Filter::List none;
    const Filter::List& before = attached.filed ? *attached.filed : none;
    std::vector<const ConstraintPtr*> added;
    std::vector<const ConstraintPtr*> removed;
    const auto id_of = [](const ConstraintPtr& one) { return one->info.constraint_id; };
    auto old = before.begin();
    auto now = list->begin();
    while (old != before.end() || now != list->end()) {
        if (old != before.end() && now != list->end() && *old == *now) {
            ++old;
            ++now;
        } else if (now == list->end() || (old != before.end() && id_of(*old) <= id_of(*now))) {
            removed.push_back(&*old++);
        } else {
            added.push_back(&*now++);
        }
    }
    std::size_t done = 0;
    try {
        for (; done < added.size(); ++done)
            file(attached.filter->number(), *added[done]);
    } catch (...) {
        while (done != 0)
            unfile(**added[--done]);
        throw;
    }
    for (const ConstraintPtr* const one : removed)
        unfile(**one);
    attached.filed = std::move(list);
}

void Matcher::look_again()
{
    const std::unique_lock lock(mutex_);
    const std::uint64_t seen = changes_->count;
    std::set<std::uint64_t> changed;
    {
        const std::lock_guard changes(changes_->mutex);
        changed.swap(changes_->filters);
    }
    try {
        for (; !changed.empty(); changed.erase(changed.begin()))
            if (const auto found = attached_.find(*changed.begin()); found != attached_.end())
                file(found->second, found->second.filter->list());
    } catch (...) {
        const std::lock_guard changes(changes_->mutex);
        changes_->filters.merge(changed);
        throw;
    }
    seen_ = seen;
}

Passed Matcher::match(const Notification& event)
{
    Passed passed;
    if (count_ == 0) return passed;
    const FilteredEvent subject(event);
    constraints::Evaluator& evaluates = thread_evaluator(budget_->limits.constraint_steps_max);
    evaluates.look_at(subject);
    std::vector<constraints::ConstraintIndex::Id> found;
    std::vector<Filed> fulfilled;
    {
        std::shared_lock lock(mutex_);
        if (seen_ != changes_->count) {
            lock.unlock();
            look_again();
            lock.lock();
        }
        index_.match(evaluates, found);
        fulfilled.reserve(found.size());
        for (const auto id : found)
            fulfilled.push_back(filed_.find(id)->second);
        passed.attached = last_attachment_;
    }
    for (const Filed& one : fulfilled)
        if (one.constraint->is_about(event)) passed.filters.push_back(one.filter);
    std::ranges::sort(passed.filters);
    passed.filters.erase(std::ranges::unique(passed.filters).begin(), passed.filters.end());
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
    const std::uint64_t attachment = matcher_->attach(filter);
    try {
        const std::lock_guard lock(mutex_);
        if (has_ended_) throw CORBA::OBJECT_NOT_EXIST(mapping::omg_minor(1), CORBA::COMPLETED_NO);
        enter({.filter = filter,
               .object = CosNotifyFilter::Filter::_duplicate(object),
               .attachment = attachment,
               .place = std::move(place)});
        return last_;
    } catch (...) {
        matcher_->detach(*filter);
        throw;
    }
}

void FilterSet::enter(Member member)
{
    assert_held(mutex_);
    const std::uint64_t attachment = member.attachment;
    const std::pair key(member.filter->number(), attachment);
    filters_.insert(key);
    try {
        attachments_.insert(attachment);
        members_.emplace(last_ + 1, std::move(member));
    } catch (...) {
        filters_.erase(key);
        attachments_.erase(attachment);
        throw;
    }
    ++last_;
    note_oldest();
}

void FilterSet::remove(CosNotifyFilter::FilterID id)
{
    Member member;
    {
        const std::lock_guard lock(mutex_);
        const auto found = members_.find(id);
        if (found == members_.end()) throw CosNotifyFilter::FilterNotFound();
        member = std::move(found->second);
        members_.erase(found);
        filters_.erase({member.filter->number(), member.attachment});
        attachments_.erase(member.attachment);
        note_oldest();
    }
    matcher_->detach(*member.filter);
}

void FilterSet::set_leaving(CosNotifyFilter::FilterID id, bool leaves)
{
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(id);
    if (found == members_.end() || found->second.is_leaving == leaves)
        throw CosNotifyFilter::FilterNotFound();
    found->second.is_leaving = leaves;
}

CosNotifyFilter::Filter_ptr FilterSet::find(CosNotifyFilter::FilterID id) const
{
    const std::lock_guard lock(mutex_);
    const auto found = members_.find(id);
    if (found == members_.end()) throw CosNotifyFilter::FilterNotFound();
    return CosNotifyFilter::Filter::_duplicate(found->second.object.in());
}

std::vector<FilterSet::Attachment> FilterSet::attachments(CosNotifyFilter::FilterID& last) const
{
    std::vector<Attachment> all;
    const std::lock_guard lock(mutex_);
    for (const auto& [id, member] : members_)
        if (!member.is_leaving) all.push_back({.id = id, .filter = member.filter});
    last = last_;
    return all;
}

bool FilterSet::are_kept() const
{
    const std::lock_guard lock(mutex_);
    return std::ranges::all_of(members_, [](const auto& one) {
        return one.second.filter->kept() != 0 || one.second.filter->has_ended();
    });
}

void FilterSet::restore(const Attachment& attachment, CosNotifyFilter::Filter_ptr object)
{
    restore_last(attachment.id - 1);
    (void)add(attachment.filter, object);
}

void FilterSet::restore_last(CosNotifyFilter::FilterID last)
{
    const std::lock_guard lock(mutex_);
    last_ = std::max(last_, last);
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

FilterSet::Members FilterSet::take_all() noexcept
{
    assert_held(mutex_);
    filters_.clear();
    attachments_.clear();
    return std::exchange(members_, {});
}

void FilterSet::detach(const Members& members) noexcept
{
    for (const auto& [id, member] : members)
        matcher_->detach(*member.filter);
}

void FilterSet::clear() noexcept
{
    Members members;
    {
        const std::lock_guard lock(mutex_);
        members = take_all();
        if (!has_ended_) note_oldest();
    }
    detach(members);
}

void FilterSet::end() noexcept
{
    Members members;
    {
        const std::lock_guard lock(mutex_);
        if (std::exchange(has_ended_, true)) return;
        if (!members_.empty()) oldest_ = 0;
        members = take_all();
    }
    detach(members);
}

FilterSet::Verdict FilterSet::judge(const Passed& passed) const
{
    if (oldest_ > passed.attached) return Verdict::none;
    if (passed.filters.empty()) return Verdict::stays;
    const std::lock_guard lock(mutex_);
    if (oldest_ > passed.attached) return Verdict::none; // they have been removed meanwhile
    const auto is_passed = [&passed](const auto& one) {
        return one.second <= passed.attached &&
               std::ranges::binary_search(passed.filters, one.first);
    };
    const auto is_ours = [&](std::uint64_t filter) {
        const auto first = filters_.lower_bound({filter, 0});
        return first != filters_.end() && first->first == filter &&
               first->second <= passed.attached;
    };
    const bool passes = passed.filters.size() < filters_.size()
                            ? std::ranges::any_of(passed.filters, is_ours)
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
