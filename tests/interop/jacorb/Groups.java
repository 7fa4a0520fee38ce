// SPDX-License-Identifier: Apache-2.0
//
// JacORB in a group of objects (MIOP). Its argument is the URL of the group. It prints "ready" when it
// is a member, and does what the lines of its input say until that ends:
//
//     say TEXT      says it to the group; prints "said"
//     measure N     tells the group of a measurement of N octets; prints "measured"
//     heard LINE    waits until it has heard that; prints how often
package interop;

import Sensors.Listener;
import Sensors.ListenerHelper;
import Sensors.ListenerPOA;
import java.io.BufferedReader;
import java.io.InputStreamReader;
import java.io.PrintStream;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Properties;
import org.omg.CORBA.ORB;
import org.omg.PortableGroup.GOA;
import org.omg.PortableGroup.GOAHelper;

public final class Groups {
    private Groups() {}

    private static final class Heard extends ListenerPOA {
        private final List<String> lines = new ArrayList<>();

        private synchronized void note(String line) {
            lines.add(line);
            notifyAll();
        }
        synchronized int count(String line) throws InterruptedException {
            long last = System.nanoTime() + 30_000_000_000L;
            while (!lines.contains(line) && System.nanoTime() < last)
                wait(1000);
            return Collections.frequency(lines, line);
        }
        @Override public void measured(int number, byte[] data) {
            note("measured " + number + " of " + data.length);
        }
        @Override public void said(String text) {
            note("said " + text);
        }
        @Override public synchronized int heard() {
            return lines.size();
        }
    }

    public static void main(String[] arguments) throws Exception {
        PrintStream out = new PrintStream(System.out, true);
        Properties more = new Properties();
        more.setProperty("jacorb.transport.factories",
                "org.jacorb.orb.iiop.IIOPFactories,org.jacorb.orb.miop.MIOPFactories");
        more.setProperty("jacorb.transport.client.selector",
                "org.jacorb.orb.miop.MIOPProfileSelector");
        ORB orb = Peer.makeOrb(2, more);
        GOA goa = GOAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        org.omg.CORBA.Object group = orb.string_to_object(arguments[0]);
        Heard servant = new Heard();
        goa.activate_object_with_id(goa.create_id_for_reference(group), servant);
        goa.the_POAManager().activate();
        Listener all = ListenerHelper.unchecked_narrow(group);
        out.println("ready");
        BufferedReader in = new BufferedReader(new InputStreamReader(System.in));
        for (String line = in.readLine(); line != null; line = in.readLine()) {
            String rest = line.substring(line.indexOf(' ') + 1);
            if (line.startsWith("say ")) {
                all.said(rest);
                out.println("said");
            } else if (line.startsWith("measure ")) {
                all.measured(1, new byte[Integer.parseInt(rest)]);
                out.println("measured");
            } else {
                out.println(servant.count(rest));
            }
        }
        System.exit(0); // its threads of the group have no other end
    }
}
