// SPDX-License-Identifier: Apache-2.0
//
// An ORB's program that connects: one connection after the other, or many that idle. The server
// says how much memory it has, and how much of that is OpenSSL's, whose allocations it counts.
#include "bench.h"
#include "bench_skel.h"

#include "bench/connecting.h"
#include "bench/latency_servant.h"
#include "bench/orb_program.h"
#include "kairos/tls/tls.h"

#include <atomic>
#include <condition_variable>
#include <cstdlib>
#include <malloc.h>
#include <memory>
#include <mutex>
#include <openssl/crypto.h>
#include <vector>

namespace {

using kairos::bench::ConnectingOrder;

// --- whose memory it is --------------------------------------------------------------------------

std::atomic<std::int64_t> openssl_octets{0}; // as malloc counts them; any thread

/// What a block takes of the heap.
std::int64_t size_of(void* block)
{
    constexpr std::size_t header = sizeof(std::size_t);
    return block == nullptr ? 0 : static_cast<std::int64_t>(malloc_usable_size(block) + header);
}

void* allocate(std::size_t size, const char*, int)
{
    void* const block = std::malloc(size);
    openssl_octets += size_of(block);
    return block;
}

void* reallocate(void* block, std::size_t size, const char*, int)
{
    const std::int64_t before = size_of(block);
    void* const moved = std::realloc(block, size);
    if (moved != nullptr || size == 0) openssl_octets += size_of(moved) - before;
    return moved;
}

void release(void* block, const char*, int)
{
    openssl_octets -= size_of(block);
    std::free(block);
}

std::string memory()
{
    const struct mallinfo2 all = mallinfo2();
    return R"({"heap":)" + std::to_string(all.uordblks + all.hblkhd) + R"(,"openssl":)" +
           std::to_string(openssl_octets.load()) + "}";
}

int serve(CORBA::ORB_ptr orb)
{
    kairos::bench::LatencyServant servant;
    Bench::Latency_var latency = servant._this();
    return kairos::bench::serve(orb, {latency.in()}, [] {
        kairos::bench::answer_lines([](const std::string&) { return memory(); });
    });
}

// --- connecting ----------------------------------------------------------------------------------

/// Connections that idle, each of a thread that waits. Of the main thread.
class IdleThreads {
  public:
    IdleThreads(Bench::Latency_ptr latency, std::uint32_t count)
    {
        threads_.reserve(count);
        for (std::uint32_t i = 0; i < count; ++i) {
            threads_.emplace_back([this, latency] { call_and_wait(latency); });
            std::unique_lock lock(mutex_);
            call_.wait(lock, [this, i] { return called_ > i; });
        }
    }
    IdleThreads(const IdleThreads&) = delete;
    IdleThreads& operator=(const IdleThreads&) = delete;
    ~IdleThreads()
    {
        {
            const std::lock_guard lock(mutex_);
            has_ended_ = true;
        }
        end_.notify_all();
        for (std::thread& each : threads_)
            each.join();
    }
    [[nodiscard]] bool have_failed() const { return failed_; }

  private:
    void call_and_wait(Bench::Latency_ptr latency)
    {
        try {
            latency->ping();
        } catch (const CORBA::Exception&) {
            failed_ = true;
        }
        std::unique_lock lock(mutex_);
        ++called_;
        call_.notify_one();
        end_.wait(lock, [this] { return has_ended_; });
    }

    std::mutex mutex_;             // guards what follows
    std::condition_variable call_; // for which the main thread waits
    std::condition_variable end_;  // for which all others do
    std::uint32_t called_ = 0;
    bool has_ended_ = false;
    std::atomic<bool> failed_{false};
    std::vector<std::thread> threads_; // of the main thread
};

int make_connections(CORBA::ORB_ptr orb, const std::string& reference)
{
    CORBA::Object_var object = orb->string_to_object(reference.c_str());
    Bench::Latency_var latency = Bench::Latency::_narrow(object);
    if (CORBA::is_nil(latency)) throw std::invalid_argument("no reference to Bench::Latency");
    std::vector<std::unique_ptr<IdleThreads>> idle;
    const int status = kairos::bench::serve_lines("client", [&](const std::string& line) {
        const ConnectingOrder order = kairos::bench::parse_connecting(line);
        if (order.idle) {
            idle.push_back(std::make_unique<IdleThreads>(latency.in(), order.count));
            if (idle.back()->have_failed()) throw std::runtime_error("a call has failed");
            return std::string("{}");
        }
        const double seconds = kairos::bench::seconds_of_threads(
            order.count, [&] { kairos::bench::reporting([&] { latency->ping(); }); });
        return kairos::bench::answer_of_connecting(seconds, 0);
    });
    idle.clear();
    return status;
}

int run(CORBA::ORB_ptr orb, const std::vector<std::string>& arguments)
{
    if (arguments.size() == 1 && arguments[0] == "server") return serve(orb);
    if (arguments.size() == 2 && arguments[0] == "client") {
        const int status = make_connections(orb, arguments[1]);
        orb->destroy();
        return status;
    }
    std::cerr << "usage: kairos-bench-tls server [-ORB…]\n"
              << "       kairos-bench-tls client REFERENCE [-ORB…]\n";
    return 2;
}

} // namespace

int main(int argc, char** argv)
{
    // Before OpenSSL allocates anything.
    if (CRYPTO_set_mem_functions(&allocate, &reallocate, &release) != 1) return 1;
    return kairos::bench::orb_main(argc, argv, run);
}
