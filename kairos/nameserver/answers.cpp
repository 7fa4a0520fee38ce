// SPDX-License-Identifier: Apache-2.0
#include "kairos/nameserver/answers.h"

#include "kairos/base/operation_hash.h"

#include <cstring>
#include <mutex>
#include <utility>

namespace kairos::nameserver {
namespace {

/// A store whose answers change just now, or at any time.
bool is_changing(std::uint64_t changes) { return changes % 2 == 1; }

} // namespace

std::size_t Answers::Question::hash() const noexcept
{
    std::uint64_t hash = operation_digest(as_text(name)) ^ context * 0x9E3779B97F4A7C15u;
    hash = (hash ^ hash >> 32) * 0xD6E8FEB86659FD93u; // low bits choose: all others into them
    return static_cast<std::size_t>(hash ^ hash >> 32);
}

std::optional<Answers::Question> Answers::question_of(ContextId context,
                                                      const cdr::Reader& in) noexcept
{
    const std::size_t begin = align_up(in.offset(), sizeof(std::uint32_t));
    if (!in.is_whole() || begin > in.bytes().size()) return std::nullopt;
    return Question{.context = context,
                    .text = cdr::text_form(in),
                    .swapped = in.swap(),
                    .name = in.bytes().subspan(begin)};
}

Answers::Answers(std::size_t answers_max)
    : kept_per_shard_((answers_max + shards_count - 1) / shards_count)
{
    for (Shard& shard : shards_)
        shard.kept.resize(kept_per_shard_);
}

bool Answers::Kept::answers(const Question& other, std::uint64_t changes_now) const noexcept
{
    return changes == changes_now && question.context == other.context &&
           question.text == other.text && question.swapped == other.swapped &&
           name_size == other.name.size() && !octets.empty() &&
           std::memcmp(octets.data(), other.name.data(), name_size) == 0;
}

bool Answers::write(const Question& question, std::uint64_t changes, cdr::Writer& out) const
{
    if (kept_per_shard_ == 0 || is_changing(changes)) return false;
    const std::size_t hash = question.hash();
    const Shard& shard = shards_[hash % shards_count];
    const std::shared_lock lock(shard.mutex);
    const Kept& kept = shard.kept[hash / shards_count % kept_per_shard_];
    if (!kept.answers(question, changes)) return false;
    out.write_bytes(Bytes(kept.octets).subspan(kept.name_size));
    return true;
}

void Answers::keep(const Question& question, std::uint64_t changes, Bytes answer)
{
    if (kept_per_shard_ == 0 || is_changing(changes)) return;
    if (question.name.size() > name_octets_max || answer.size() > answer_octets_max) return;
    Kept kept{.question = question,
              .changes = changes,
              .name_size = question.name.size(),
              .octets = {question.name.begin(), question.name.end()}};
    kept.question.name = {};
    kept.octets.insert(kept.octets.end(), answer.begin(), answer.end());
    const std::size_t hash = question.hash();
    Shard& shard = shards_[hash % shards_count];
    const std::lock_guard lock(shard.mutex);
    std::swap(shard.kept[hash / shards_count % kept_per_shard_], kept);
}

} // namespace kairos::nameserver
