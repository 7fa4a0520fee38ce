// SPDX-License-Identifier: Apache-2.0
//
// A store over a database that speaks SQL: contexts and bindings are rows (row.h), and what a store
// is asked for is a few statements in one transaction. Which ones, and what their answers mean, is
// here once; a Database has their words, connections and transactions (sqlite_store.cpp,
// postgres_store.cpp).
#pragma once

#include "kairos/nameserver/portion.h"
#include "kairos/nameserver/row.h"
#include "kairos/nameserver/store.h"
#include "kairos/nameserver/store_log.h"
#include "kairos/nameserver/walk.h"

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <variant>

namespace kairos::nameserver {

/// What every database has a statement for; what it has besides is numbered from the end of these.
/// Parameters are, in this order and as far as they are needed: context, id, kind, type, target,
/// reference, checksum. Those that take a row keep others from changing it until the transaction
/// ends, those that share it from destroying it.
enum SqlStatement : std::size_t {
    find_context_row,
    share_context_row,
    take_context_row,
    find_binding, ///< answers with type, target, reference, checksum
    take_binding, ///< answers with type, target, reference, checksum
    any_binding,
    insert_binding,
    replace_binding,
    delete_binding,
    insert_context, ///< answers with its number
    delete_context,
    sql_statements_end,
};

/// A parameter. Octets must live as long as the use of the statement.
using SqlValue = std::variant<std::int64_t, std::string_view>;
using SqlValues = std::initializer_list<SqlValue>;

/// Whether a change needs room in the database or gives some back.
enum class Room { takes, makes };

/// A Database has
///
///   identity(), changes()   as a Store
///   log()                   a StoreLog
///   read(action)            runs action(transaction) in a snapshot
///   write(room, action)     runs it in a transaction that is made durable if it answers `done`;
///                           may run it again
///
/// where a transaction has
///
///   run(statement, values)  the statement's rows
///   list(context, after, bounds)
///                           the rows of at least as many bindings as are within the bounds, in
///                           order: type, target, reference, checksum, id, kind
///   failed(rows)            what it means that they are not ok(); logged
///   begin_change()          another entry than before will be found under a name
///   collision()             the answer where somebody else was faster; the database may try again
///
/// and rows have next(), false at the end and for a failure, ok() behind that, changed(), how many
/// rows a statement has changed, and integer(column), octets(column) and is_binding(), whether the
/// columns are of the types that bindings have.
template <typename Database>
class SqlStore final : public Store {
  public:
    template <typename... Arguments>
    explicit SqlStore(Arguments&&... arguments) : database_(std::forward<Arguments>(arguments)...)
    {
    }

    std::uint64_t identity() const noexcept override { return database_.identity(); }
    std::uint64_t changes() const noexcept override { return database_.changes(); }

    StoreStatus resolve(ContextId start, std::span<const ior::NameComponent> name,
                        Resolution& resolution) override
    {
        return database_.read([&](Transaction& transaction) {
            return walk(start, name, resolution,
                        [&](ContextId context, const ior::NameComponent& component, Entry& entry) {
                            return find(transaction, context, component, entry);
                        });
        });
    }

    StoreStatus bind(ContextId context, const ior::NameComponent& component,
                     const Entry& entry) override
    {
        return database_.write(Room::takes, [&](Transaction& transaction) {
            const StoreStatus unbound = require_unbound(transaction, context, component);
            if (unbound != StoreStatus::done) return unbound;
            return put(transaction, insert_binding, context, component, entry);
        });
    }

    StoreStatus rebind(ContextId context, const ior::NameComponent& component,
                       const Entry& entry) override
    {
        return database_.write(Room::takes, [&](Transaction& transaction) {
            Entry old;
            const StoreStatus found = take(transaction, context, component, old);
            if (found == StoreStatus::not_bound) {
                const StoreStatus status =
                    put(transaction, insert_binding, context, component, entry);
                return status == StoreStatus::already_bound ? transaction.collision() : status;
            }
            if (found != StoreStatus::done) return found;
            if (old.is_context() != entry.is_context()) return StoreStatus::wrong_type;
            transaction.begin_change();
            return put(transaction, replace_binding, context, component, entry);
        });
    }

    StoreStatus unbind(ContextId context, const ior::NameComponent& component) override
    {
        return database_.write(Room::makes, [&](Transaction& transaction) {
            Entry old;
            const StoreStatus found = take(transaction, context, component, old);
            if (found != StoreStatus::done) return found;
            transaction.begin_change();
            return finish(transaction,
                          transaction.run(delete_binding,
                                          {as_column(context), component.id, component.kind}));
        });
    }

    StoreStatus new_context(ContextId& created) override
    {
        return database_.write(Room::takes, [&](Transaction& transaction) {
            return insert_new_context(transaction, created);
        });
    }

    StoreStatus bind_new_context(ContextId context, const ior::NameComponent& component,
                                 ContextId& created) override
    {
        return database_.write(Room::takes, [&](Transaction& transaction) {
            const StoreStatus unbound = require_unbound(transaction, context, component);
            if (unbound != StoreStatus::done) return unbound;
            const StoreStatus made = insert_new_context(transaction, created);
            if (made != StoreStatus::done) return made;
            const Entry entry{.kind = Entry::Kind::context, .context = created, .reference = {}};
            return put(transaction, insert_binding, context, component, entry);
        });
    }

    StoreStatus destroy_context(ContextId context) override
    {
        return database_.write(Room::makes, [&](Transaction& transaction) {
            const StoreStatus there = require_context(transaction, take_context_row, context);
            if (there != StoreStatus::done) return there;
            {
                auto rows = transaction.run(any_binding, {as_column(context)});
                if (rows.next()) return StoreStatus::not_empty;
                if (!rows.ok()) return transaction.failed(rows);
            }
            return finish(transaction, transaction.run(delete_context, {as_column(context)}));
        });
    }

    StoreStatus find_context(ContextId context) override
    {
        return database_.read([&](Transaction& transaction) {
            return require_context(transaction, find_context_row, context);
        });
    }

    StoreStatus list(ContextId context, const ior::NameComponent* after,
                     const PortionBounds& bounds, Portion& portion) override
    {
        return database_.read([&](Transaction& transaction) {
            Portioning portioning(bounds, portion);
            auto rows = transaction.list(context, after, bounds);
            while (rows.next()) {
                const std::string_view id = rows.octets(4);
                const std::string_view kind = rows.octets(5);
                const auto entry = entry_in(rows, context, id, kind);
                if (!entry)
                    database_.log().say_damaged(context, id, kind);
                else if (!portioning.take(id, kind, rows.octets(2).size(), entry->is_context()))
                    return StoreStatus::done;
            }
            return rows.ok() ? StoreStatus::done : transaction.failed(rows);
        });
    }

  private:
    using Transaction = typename Database::Transaction;

    static std::int64_t as_column(ContextId context) { return static_cast<std::int64_t>(context); }

    /// The entry of a row; none for one that nobody wrote like this.
    template <typename Rows>
    static std::optional<Entry> entry_in(const Rows& rows, ContextId context, std::string_view id,
                                         std::string_view kind)
    {
        if (!rows.is_binding()) return std::nullopt;
        return entry_of(context, id, kind,
                        {.type = rows.integer(0),
                         .target = rows.integer(1),
                         .reference = rows.octets(2),
                         .checksum = rows.integer(3)});
    }

    /// Of a statement whose rows nobody asks for.
    template <typename Rows>
    static StoreStatus finish(Transaction& transaction, Rows rows)
    {
        while (rows.next())
            ;
        return rows.ok() ? StoreStatus::done : transaction.failed(rows);
    }

    /// With one of the three statements about a context's row.
    StoreStatus require_context(Transaction& transaction, SqlStatement statement, ContextId context)
    {
        auto rows = transaction.run(statement, {as_column(context)});
        if (rows.next()) return StoreStatus::done;
        return rows.ok() ? StoreStatus::no_context : transaction.failed(rows);
    }

    /// `done`, `not_bound`, or the last ones.
    StoreStatus look_up(Transaction& transaction, SqlStatement statement, ContextId context,
                        const ior::NameComponent& component, Entry& entry)
    {
        auto rows = transaction.run(statement, {as_column(context), component.id, component.kind});
        if (!rows.next()) return rows.ok() ? StoreStatus::not_bound : transaction.failed(rows);
        auto found = entry_in(rows, context, component.id, component.kind);
        if (!found) {
            database_.log().say_damaged(context, component.id, component.kind);
            return StoreStatus::broken;
        }
        entry = std::move(*found);
        return StoreStatus::done;
    }

    StoreStatus find(Transaction& transaction, ContextId context,
                     const ior::NameComponent& component, Entry& entry)
    {
        const StoreStatus found = look_up(transaction, find_binding, context, component, entry);
        if (found != StoreStatus::not_bound) return found;
        const StoreStatus there = require_context(transaction, find_context_row, context);
        return there == StoreStatus::done ? StoreStatus::not_bound : there;
    }

    /// For a change: neither the context nor the binding, if there is one, changes until its end.
    StoreStatus take(Transaction& transaction, ContextId context,
                     const ior::NameComponent& component, Entry& entry)
    {
        const StoreStatus there = require_context(transaction, share_context_row, context);
        if (there != StoreStatus::done) return there;
        return look_up(transaction, take_binding, context, component, entry);
    }

    StoreStatus require_unbound(Transaction& transaction, ContextId context,
                                const ior::NameComponent& component)
    {
        Entry old;
        const StoreStatus found = take(transaction, context, component, old);
        if (found == StoreStatus::done) return StoreStatus::already_bound;
        return found == StoreStatus::not_bound ? StoreStatus::done : found;
    }

    /// `already_bound`: somebody else inserted the row since it was looked for.
    StoreStatus put(Transaction& transaction, SqlStatement statement, ContextId context,
                    const ior::NameComponent& component, const Entry& entry)
    {
        if (entry.kind == Entry::Kind::context) {
            const StoreStatus there =
                require_context(transaction, share_context_row, entry.context);
            if (there != StoreStatus::done) return there;
        }
        const auto columns = columns_of(context, component, entry); // the values borrow from it
        auto rows = transaction.run(statement,
                                    {as_column(context), component.id, component.kind, columns.type,
                                     columns.target, columns.reference, columns.checksum});
        (void)rows.next();
        if (!rows.ok()) return transaction.failed(rows);
        return rows.changed() == 1 ? StoreStatus::done : StoreStatus::already_bound;
    }

    StoreStatus insert_new_context(Transaction& transaction, ContextId& created)
    {
        auto rows = transaction.run(insert_context, {});
        while (rows.next()) // one
            created = static_cast<ContextId>(rows.integer(0));
        return rows.ok() ? StoreStatus::done : transaction.failed(rows);
    }

    Database database_;
};

} // namespace kairos::nameserver
