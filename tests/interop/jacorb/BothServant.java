// SPDX-License-Identifier: Apache-2.0
//
// tests/bidirectional's Hub and Callback, and an ORB whose connections carry requests in both
// directions.
package interop;

import Both.Callback;
import Both.CallbackHelper;
import Both.CallbackPOA;
import Both.Hub;
import Both.HubHelper;
import Both.HubPOA;
import org.omg.BiDirPolicy.BIDIRECTIONAL_POLICY_TYPE;
import org.omg.BiDirPolicy.BOTH;
import org.omg.BiDirPolicy.BidirectionalPolicyValueHelper;
import org.omg.CORBA.Any;
import org.omg.CORBA.ORB;
import org.omg.CORBA.Policy;
import org.omg.PortableServer.ImplicitActivationPolicyValue;
import org.omg.PortableServer.POA;
import org.omg.PortableServer.POAHelper;

final class BothServant {
    private BothServant() {}

    /** Objects of this POA are called over the connections that this ORB has made. */
    static POA makePoa(ORB orb) throws Exception {
        POA root = POAHelper.narrow(orb.resolve_initial_references("RootPOA"));
        Any both = orb.create_any();
        BidirectionalPolicyValueHelper.insert(both, BOTH.value);
        Policy[] policies = {
            root.create_implicit_activation_policy(
                    ImplicitActivationPolicyValue.IMPLICIT_ACTIVATION),
            orb.create_policy(BIDIRECTIONAL_POLICY_TYPE.value, both),
        };
        POA poa = root.create_POA("both", root.the_POAManager(), policies);
        root.the_POAManager().activate();
        return poa;
    }

    /** Any thread. */
    static final class HubServant extends HubPOA {
        private final POA poa;

        HubServant(POA poa) { this.poa = poa; }

        @Override public void attach(Callback target) {
            // Later, by a thread that has nothing to do with the call.
            new Thread(() -> target.note(target.twice(4))).start();
        }
        @Override public int twice(Callback target, int value) { return target.twice(value); }
        @Override public byte[] mirror(Callback target, byte[] content) {
            return target.mirror(content);
        }
        @Override public int bounce(Callback target, int depth) {
            try {
                return target.bounce(HubHelper.narrow(poa.servant_to_reference(this)), depth);
            } catch (org.omg.CORBA.UserException failure) {
                throw new org.omg.CORBA.INTERNAL(failure.toString());
            }
        }
        @Override public void linger(Callback target) { target.linger(); }
        @Override public void note(Callback target, int value) { target.note(value); }
        @Override public void ping() {}
    }

    /** Any thread. */
    static final class CallbackServant extends CallbackPOA {
        private static final long PATIENCE_MS = 20_000;
        private final POA poa;
        private int noted; // guarded by this

        CallbackServant(POA poa) { this.poa = poa; }

        @Override public int twice(int value) { return 2 * value; }
        @Override public synchronized void note(int value) {
            noted = value;
            notifyAll();
        }
        @Override public byte[] mirror(byte[] content) { return content; }
        @Override public int bounce(Hub hub, int depth) {
            if (depth == 0) return 1;
            try {
                return 1 + hub.bounce(CallbackHelper.narrow(poa.servant_to_reference(this)),
                        depth - 1);
            } catch (org.omg.CORBA.UserException failure) {
                throw new org.omg.CORBA.INTERNAL(failure.toString());
            }
        }
        @Override public void linger() {}

        synchronized boolean waitForNote(int value) throws InterruptedException {
            long end = System.nanoTime() + PATIENCE_MS * 1_000_000;
            while (noted != value && System.nanoTime() < end)
                wait(100);
            return noted == value;
        }
    }
}
