// SPDX-License-Identifier: Apache-2.0
#include "bench/peer.h"

#include <cstddef>
#include <cstdio>
#include <exception>
#include <iostream>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <stdexcept>
#include <string>
#include <sys/socket.h>

namespace kairos::bench {
namespace {

// An order comes once per thousands of calls; standard output is flushed after each answer.
void answer(const char* text)
{
    std::fputs(text, stdout);
    std::fputc('\n', stdout);
    std::fflush(stdout);
}

void answer_error(std::string_view reason)
{
    std::string text = "{\"error\":\"";
    for (const char c : reason) {
        const bool plain = static_cast<unsigned char>(c) >= 0x20 && c != '"' && c != '\\';
        text += plain ? c : ' ';
    }
    answer((text + "\"}").c_str());
}

std::string execute(Client& client, const Order& order)
{
    char text[256];
    switch (order.verb) {
    case Verb::latency: {
        const LatencySummary summary = client.latency(order.exercise);
        std::snprintf(text, sizeof text,
                      "{\"p50_us\":%.3f,\"p99_us\":%.3f,\"p999_us\":%.3f,\"max_us\":%.3f,"
                      "\"mean_us\":%.3f}",
                      summary.p50_us, summary.p99_us, summary.p999_us, summary.max_us,
                      summary.mean_us);
        break;
    }
    case Verb::ttcp:
        std::snprintf(text, sizeof text, "{\"seconds\":%.9f}", client.ttcp_seconds(order.exercise));
        break;
    case Verb::call:
        client.call(order.exercise);
        std::snprintf(text, sizeof text, "{\"calls\":%u}", order.exercise.calls);
        break;
    case Verb::bytes: {
        const MessageBytes bytes = client.message_bytes(order.exercise);
        std::snprintf(text, sizeof text, "{\"request_bytes\":%llu,\"reply_bytes\":%llu}",
                      static_cast<unsigned long long>(bytes.request),
                      static_cast<unsigned long long>(bytes.reply));
        break;
    }
    case Verb::demux:
    case Verb::marshal:
    case Verb::roles:
        throw std::invalid_argument("this program only makes calls");
    case Verb::quit:
        return {};
    }
    return text;
}

} // namespace

int serve_orders(Client& client)
{
    return serve_orders("client", [&](const Order& order) { return execute(client, order); });
}

int serve_orders(std::string_view role,
                 const std::function<std::string(const Order& order)>& execute)
{
    return serve_lines(role, [&](const std::string& line) {
        const auto order = parse_order(line);
        if (!order) throw std::invalid_argument("not an order: " + line);
        return execute(*order);
    });
}

int serve_lines(std::string_view role,
                const std::function<std::string(const std::string& line)>& execute)
{
    announce_ready(role);
    answer_lines(execute);
    return 0;
}

void answer_lines(const std::function<std::string(const std::string& line)>& execute)
{
    std::string line;
    while (std::getline(std::cin, line)) {
        if (line == "quit") return;
        try {
            answer(execute(line).c_str());
        } catch (const std::exception& failure) {
            answer_error(failure.what());
        }
    }
}

void announce_ready(std::string_view references)
{
    answer(("ready " + std::string(references)).c_str());
}

void wait_for_quit()
{
    std::string line;
    while (std::getline(std::cin, line))
        if (line == "quit") return;
}

MessageBytes tcp_bytes_so_far()
{
    // The classic mapping has no way to ask for a connection's descriptor, so all are looked at.
    constexpr int descriptors_max = 256;
    MessageBytes sum;
    for (int descriptor = 0; descriptor < descriptors_max; ++descriptor) {
        tcp_info info{};
        socklen_t size = sizeof info;
        if (getsockopt(descriptor, IPPROTO_TCP, TCP_INFO, &info, &size) != 0) continue;
        if (size < offsetof(tcp_info, tcpi_bytes_sent) + sizeof info.tcpi_bytes_sent) continue;
        sum.request += info.tcpi_bytes_sent;
        sum.reply += info.tcpi_bytes_received;
    }
    return sum;
}

} // namespace kairos::bench
