// SPDX-License-Identifier: Apache-2.0
//
// Interceptors that exchange marks, texts in service contexts. The server's answers a mark T with
// the mark "heard T", throws NO_PERMISSION for "refuse", and forwards the request of "to IOR:…" to
// there.
package interop;

import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import org.jacorb.orb.portableInterceptor.ORBInitInfoImpl;
import org.omg.CORBA.BAD_PARAM;
import org.omg.CORBA.CompletionStatus;
import org.omg.CORBA.LocalObject;
import org.omg.CORBA.NO_PERMISSION;
import org.omg.CORBA.ORB;
import org.omg.IOP.ServiceContext;
import org.omg.PortableInterceptor.ClientRequestInfo;
import org.omg.PortableInterceptor.ClientRequestInterceptor;
import org.omg.PortableInterceptor.ForwardRequest;
import org.omg.PortableInterceptor.LOCATION_FORWARD;
import org.omg.PortableInterceptor.ORBInitInfo;
import org.omg.PortableInterceptor.ORBInitializer;
import org.omg.PortableInterceptor.ServerRequestInfo;
import org.omg.PortableInterceptor.ServerRequestInterceptor;

public final class Marks {
    static final int REQUEST = 0x4B414D01;
    static final int REPLY = 0x4B414D02;

    private Marks() {}

    private static ServiceContext context(int id, String text) {
        return new ServiceContext(id, text.getBytes(StandardCharsets.ISO_8859_1));
    }
    private static String text(ServiceContext context) {
        return new String(context.context_data, StandardCharsets.ISO_8859_1);
    }

    /** Marks calls, and writes down how they end. Used by the thread that calls. */
    static final class Caller extends LocalObject implements ClientRequestInterceptor {
        final Queue<String> marks = new ArrayDeque<>(); // of the next calls, one each
        final List<String> told = new ArrayList<>();

        @Override public String name() { return "caller"; }
        @Override public void destroy() {}
        @Override public void send_poll(ClientRequestInfo info) {}
        @Override public void send_request(ClientRequestInfo info) {
            String mark = marks.poll();
            if (mark != null) info.add_request_service_context(context(REQUEST, mark), false);
        }
        @Override public void receive_reply(ClientRequestInfo info) {
            told.add(info.operation() + " " + answer(info));
        }
        @Override public void receive_exception(ClientRequestInfo info) {
            told.add(info.operation() + " " + info.received_exception_id() + " " + answer(info));
        }
        @Override public void receive_other(ClientRequestInfo info) {
            told.add(info.operation() + (info.reply_status() == LOCATION_FORWARD.value
                    ? " forwarded" : " other"));
        }
        private static String answer(ClientRequestInfo info) {
            try {
                return text(info.get_reply_service_context(REPLY));
            } catch (BAD_PARAM none) {
                return "unmarked";
            }
        }
    }

    /** Any thread. */
    private static final class Server extends LocalObject implements ServerRequestInterceptor {
        private final ORB orb;

        Server(ORB orb) { this.orb = orb; }

        @Override public String name() { return "server"; }
        @Override public void destroy() {}
        @Override public void receive_request_service_contexts(ServerRequestInfo info)
                throws ForwardRequest {
            String mark = mark(info);
            if (mark == null) return;
            if (mark.equals("refuse"))
                throw new NO_PERMISSION(23, CompletionStatus.COMPLETED_NO);
            if (mark.startsWith("to "))
                throw new ForwardRequest(orb.string_to_object(mark.substring(3)));
        }
        @Override public void receive_request(ServerRequestInfo info) {}
        @Override public void send_reply(ServerRequestInfo info) { answer(info); }
        @Override public void send_exception(ServerRequestInfo info) { answer(info); }
        @Override public void send_other(ServerRequestInfo info) {}

        private static String mark(ServerRequestInfo info) {
            try {
                return text(info.get_request_service_context(REQUEST));
            } catch (BAD_PARAM none) {
                return null;
            }
        }
        private static void answer(ServerRequestInfo info) {
            String mark = mark(info);
            if (mark != null)
                info.add_reply_service_context(context(REPLY, "heard " + mark), false);
        }
    }

    /** What an ORB of clients is told by the property. */
    public static final class OfClients extends LocalObject implements ORBInitializer {
        static Caller latest; // of the ORB that was made last, by the one thread that makes ORBs

        @Override public void pre_init(ORBInitInfo info) {}
        @Override public void post_init(ORBInitInfo info) {
            latest = new Caller();
            try {
                info.add_client_request_interceptor(latest);
            } catch (org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName impossible) {
                throw new org.omg.CORBA.INTERNAL(impossible.toString());
            }
        }
    }

    /** The same for servers. */
    public static final class OfServers extends LocalObject implements ORBInitializer {
        @Override public void pre_init(ORBInitInfo info) {}
        @Override public void post_init(ORBInitInfo info) {
            try {
                info.add_server_request_interceptor(new Server(((ORBInitInfoImpl) info).getORB()));
            } catch (org.omg.PortableInterceptor.ORBInitInfoPackage.DuplicateName impossible) {
                throw new org.omg.CORBA.INTERNAL(impossible.toString());
            }
        }
    }
}
