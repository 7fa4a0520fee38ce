// SPDX-License-Identifier: Apache-2.0
//
// JacORB asks javax.rmi.CORBA.Util for codebase, class and repository id of values, and Java has had
// no implementation of that since RMI-IIOP was taken out of it. What values of IDL need of it is here.
package interop;

import java.io.Serializable;
import javax.rmi.CORBA.Stub;
import javax.rmi.CORBA.Tie;
import javax.rmi.CORBA.UtilDelegate;
import javax.rmi.CORBA.ValueHandler;
import org.omg.CORBA.NO_IMPLEMENT;
import org.omg.CORBA.ORB;
import org.omg.CORBA.SystemException;
import org.omg.CORBA.portable.InputStream;
import org.omg.CORBA.portable.OutputStream;
import org.omg.SendingContext.RunTime;

/** Made by javax.rmi.CORBA.Util, whom a system property tells the name. Any thread. */
public final class RmiUtil implements UtilDelegate, ValueHandler {
    @Override
    public String getCodebase(Class<?> type) {
        return null;
    }
    @Override
    public Class<?> loadClass(String name, String codebase, ClassLoader loader)
            throws ClassNotFoundException {
        return Class.forName(name, true, loader != null ? loader : RmiUtil.class.getClassLoader());
    }

    @Override
    public java.rmi.RemoteException mapSystemException(SystemException exception) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public void writeAny(OutputStream out, Object any) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public Object readAny(InputStream in) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public void writeRemoteObject(OutputStream out, Object object) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public void writeAbstractObject(OutputStream out, Object object) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public void registerTarget(Tie tie, java.rmi.Remote target) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public void unexportObject(java.rmi.Remote target) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public Tie getTie(java.rmi.Remote target) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public ValueHandler createValueHandler() {
        return this;
    }
    /** That of the generated class which the class of a value extends. */
    @Override
    public String getRMIRepositoryID(Class<?> type) {
        Class<?> generated = type;
        while (generated.getPackage() == RmiUtil.class.getPackage())
            generated = generated.getSuperclass();
        return "IDL:kairos.test/" + generated.getName().replace('.', '/') + ":1.0";
    }
    @Override
    public boolean isCustomMarshaled(Class<?> type) {
        return false; // as Java knows it
    }
    @Override
    public Serializable writeReplace(Serializable value) {
        return value;
    }
    @Override
    public RunTime getRunTimeCodeBase() {
        return null;
    }
    @Override
    public void writeValue(OutputStream out, Serializable value) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public Serializable readValue(InputStream in, int offset, Class<?> type, String id,
            RunTime sender) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public boolean isLocal(Stub stub) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public java.rmi.RemoteException wrapException(Throwable exception) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public Object copyObject(Object object, ORB orb) {
        throw new NO_IMPLEMENT();
    }
    @Override
    public Object[] copyObjects(Object[] objects, ORB orb) {
        throw new NO_IMPLEMENT();
    }
}
