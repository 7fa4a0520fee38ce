// SPDX-License-Identifier: Apache-2.0
//
// Services that are killed while clients change something: whatever was acknowledged is there
// afterwards, and at most what was under way beside it. Processes are forked while this one has no
// threads.
#pragma once

#include "tests/kept/kept_testing.h"

#include <csignal>
#include <cstdint>
#include <cstdlib>
#include <set>
#include <sys/wait.h>
#include <unistd.h>

namespace kairos::kept {

using Numbers = std::set<CORBA::Long>;

/// A trader that has numbers, as offers.
template <typename Backend>
struct NumberedOffers : ServedTrader<Backend> {
    explicit NumberedOffers(const Backend& backend) : ServedTrader<Backend>(backend)
    {
        try {
            this->add_type("T", {{"n", CORBA::_tc_long}});
        } catch (const trading::Repository::ServiceTypeExists&) { // by one of before, or another
        }
    }
    void add(CORBA::Long number) { (void)this->offer("T", {{"n", trading::any_of(number)}}); }
    void remove(CORBA::Long number)
    {
        this->offers->withdraw_using_constraint("T", ("n == " + std::to_string(number)).c_str());
    }
    Numbers all()
    {
        Numbers numbers;
        CosTrading::OfferIdSeq_var list;
        CosTrading::OfferIdIterator_var rest;
        this->admin->list_offers(100'000, list.out(), rest.out());
        EXPECT_TRUE(CORBA::is_nil(rest.in()));
        for (CORBA::ULong i = 0; i < list->length(); ++i) {
            const CosTrading::Register::OfferInfo_var info = this->offers->describe(list[i].in());
            CORBA::Long number = 0;
            EXPECT_TRUE(info->properties[0U].value >>= number);
            EXPECT_TRUE(numbers.insert(number).second) << number << " is there twice";
        }
        return numbers;
    }
};

/// A set of properties that has numbers.
template <typename Backend>
struct NumberedProperties : ServedProperties<Backend> {
    explicit NumberedProperties(const Backend& backend)
        : ServedProperties<Backend>(backend), set(this->service.create_set("Plant"))
    {
    }
    void add(CORBA::Long number)
    {
        set->define_property(std::to_string(number).c_str(), long_any(number));
    }
    void remove(CORBA::Long number) { set->delete_property(std::to_string(number).c_str()); }
    Numbers all()
    {
        Numbers numbers;
        CosPropertyService::PropertyNames_var names;
        CosPropertyService::PropertyNamesIterator_var rest;
        set->get_all_property_names(100'000, names.out(), rest.out());
        for (CORBA::ULong i = 0; i < names->length(); ++i) {
            const CORBA::Long number = std::stoi(names[i].in());
            EXPECT_EQ(number, long_in(set.in(), names[i].in()));
            numbers.insert(number);
        }
        return numbers;
    }
    CosPropertyService::PropertySetDef_var set;
};

/// A process that serves when it is told to, adds numbers from `first` on, and takes out every
/// other one; it says what was acknowledged, of what it took out as a negative number.
template <template <typename> typename Service, typename Backend>
class Victim {
  public:
    Victim(const Backend& backend, CORBA::Long first)
    {
        int said[2];
        int told[2];
        if (pipe(said) != 0 || pipe(told) != 0) throw std::runtime_error("no pipe");
        process_ = fork();
        if (process_ == 0) {
            close(said[0]);
            close(told[1]);
            char go = 0;
            if (read(told[0], &go, 1) != 1) _exit(1);
            work(backend, first, said[1]);
        }
        close(said[1]);
        close(told[0]);
        said_ = said[0];
        told_ = told[1];
    }
    Victim(const Victim&) = delete;
    Victim& operator=(const Victim&) = delete;
    ~Victim()
    {
        close(said_);
        close(told_);
        kill(process_, SIGKILL);
        waitpid(process_, nullptr, 0);
    }

    /// Has it begin, and kills it when it has said so much. Adds what it has said to the two.
    void run_and_kill(unsigned enough, Numbers& there, Numbers& gone)
    {
        ASSERT_EQ(1, write(told_, "g", 1));
        unsigned count = 0;
        CORBA::Long what = 0;
        while (read(said_, &what, sizeof what) == static_cast<ssize_t>(sizeof what)) {
            if (what > 0) {
                there.insert(what);
            } else {
                there.erase(-what);
                gone.insert(-what);
            }
            if (++count == enough) ASSERT_EQ(0, kill(process_, SIGKILL));
        }
        ASSERT_GE(count, enough) << "it has ended by itself";
    }

  private:
    [[noreturn]] static void work(const Backend& backend, CORBA::Long first, int output)
    {
        const auto say = [output](CORBA::Long what) {
            if (write(output, &what, sizeof what) != sizeof what) _exit(1);
        };
        try {
            Service<Backend> service(backend);
            for (CORBA::Long number = first;; ++number) {
                service.add(number);
                say(number);
                if (number % 2 == 0) continue;
                service.remove(number);
                say(-number);
            }
        } catch (const std::exception&) {
            _exit(1);
        }
    }

    pid_t process_ = 0;
    int said_ = -1;
    int told_ = -1;
};

/// What is there is what was said, and at most one that was not said yet, of each run.
inline void expect_kept(const Numbers& all, const Numbers& there, const Numbers& gone,
                        std::size_t runs)
{
    std::size_t unsaid = 0;
    for (const CORBA::Long number : there)
        if (!all.contains(number)) {
            // It was being taken out when the process was killed.
            EXPECT_EQ(1, number % 2) << number << " is missing";
            ++unsaid;
        }
    for (const CORBA::Long number : all) {
        EXPECT_FALSE(gone.contains(number)) << number << " was taken out";
        if (!there.contains(number)) ++unsaid;
    }
    EXPECT_LE(unsaid, runs);
}

template <template <typename> typename Service, typename Backend>
void keep_what_was_acknowledged(const Backend& backend, unsigned seed)
{
    std::mt19937 chance(seed); // the same points of the run each time, about
    constexpr std::size_t runs = 6;
    Numbers there;
    Numbers gone;
    for (std::size_t run = 0; run < runs; ++run)
        Victim<Service, Backend>(backend, static_cast<CORBA::Long>(1000 * run + 1))
            .run_and_kill(1 + static_cast<unsigned>(chance() % 40), there, gone);
    Service<Backend> service(backend);
    EXPECT_FALSE(there.empty());
    expect_kept(service.all(), there, gone, runs);
}

} // namespace kairos::kept
