// SPDX-License-Identifier: Apache-2.0
//
// What a server calls back, the checks of bidirectional_peer.cpp.
package interop;

import Both.Callback;
import Both.CallbackHelper;
import Both.Hub;
import Both.HubHelper;
import java.io.PrintStream;
import org.omg.CORBA.ORB;
import org.omg.PortableServer.POA;

/** Used by one thread. */
final class BothChecks extends Checks {
    private final BothServant.CallbackServant servant;
    private final Callback callback;
    private final Hub hub;

    BothChecks(ORB orb, String reference, PrintStream out) throws Exception {
        super(out);
        POA poa = BothServant.makePoa(orb);
        servant = new BothServant.CallbackServant(poa);
        callback = CallbackHelper.narrow(poa.servant_to_reference(servant));
        hub = HubHelper.narrow(orb.string_to_object(reference));
    }

    @Override void run() {
        check("within the call", () -> expect(hub.twice(callback, 21) == 42, "twice"));
        check("nested", () -> expect(hub.bounce(callback, 4) == 5, "bounce"));
        check("large", () -> {
            byte[] octets = new byte[1 << 20];
            octets[77] = 7;
            byte[] back = hub.mirror(callback, octets);
            expect(back.length == octets.length && back[77] == 7, "mirror");
        });
        check("later", () -> {
            hub.attach(callback);
            expect(servant.waitForNote(8), "a note in time");
        });
    }
}
