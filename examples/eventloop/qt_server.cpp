// SPDX-License-Identifier: Apache-2.0
//
// A server in Qt's event loop, as in programs with windows, beside a timer; SIGTERM ends it.
#include "ticking_server.h"

#include <QCoreApplication>
#include <QSocketNotifier>
#include <QTimer>

#include <csignal>
#include <sys/signalfd.h>

namespace {

/// Readable after SIGTERM.
int end_descriptor()
{
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGTERM);
    sigprocmask(SIG_BLOCK, &signals, nullptr);
    return signalfd(-1, &signals, SFD_CLOEXEC);
}

} // namespace

int main(int argc, char** argv)
try {
    const int end = end_descriptor(); // before there are other threads
    QCoreApplication application(argc, argv);
    TickingServer server(argc, argv);

    QSocketNotifier requests(server.descriptor(), QSocketNotifier::Read);
    QObject::connect(&requests, &QSocketNotifier::activated, [&server] { server.serve(); });
    QTimer timer;
    QObject::connect(&timer, &QTimer::timeout, [&server] { server.tick(); });
    timer.start(10);
    QSocketNotifier ended(end, QSocketNotifier::Read);
    QObject::connect(&ended, &QSocketNotifier::activated, &application, &QCoreApplication::quit);
    return QCoreApplication::exec();
} catch (const CORBA::Exception& exception) {
    std::cerr << "qt_server: " << exception.what() << '\n';
    return 1;
}
