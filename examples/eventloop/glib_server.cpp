// SPDX-License-Identifier: Apache-2.0
//
// A server in GLib's main loop, as in programs with GTK, beside a timer; SIGTERM ends it.
#include "ticking_server.h"

#include <glib-unix.h>

int main(int argc, char** argv)
try {
    TickingServer server(argc, argv);
    GMainLoop* const loop = g_main_loop_new(nullptr, FALSE);
    g_unix_fd_add(
        server.descriptor(), G_IO_IN,
        [](gint, GIOCondition, gpointer data) -> gboolean {
            static_cast<TickingServer*>(data)->serve();
            return G_SOURCE_CONTINUE;
        },
        &server);
    g_timeout_add(
        10,
        [](gpointer data) -> gboolean {
            static_cast<TickingServer*>(data)->tick();
            return G_SOURCE_CONTINUE;
        },
        &server);
    g_unix_signal_add(
        SIGTERM,
        [](gpointer data) -> gboolean {
            g_main_loop_quit(static_cast<GMainLoop*>(data));
            return G_SOURCE_REMOVE;
        },
        loop);
    g_main_loop_run(loop);
    g_main_loop_unref(loop);
} catch (const CORBA::Exception& exception) {
    std::cerr << "glib_server: " << exception.what() << '\n';
    return 1;
}
