// SPDX-License-Identifier: Apache-2.0
//
// The minor codes that programs for omniORB compare with. Those of omniORB's own are what a call
// through the layer ends with where Kairos has a code of its own for the same
// (kairos/orb/failure.h).
#pragma once

#include "omniORB4/CORBA_sysdep.h"

#include "kairos/corba/CORBA.h"

namespace omni {

inline constexpr CORBA::ULong omniORB_vendor = 0x41540000;
#define KAIROS_OMG(name, code) inline constexpr CORBA::ULong name = 0x4f4d0000 | (code);
#define KAIROS_OMNI(name, code) inline constexpr CORBA::ULong name = omniORB_vendor | (code);

KAIROS_OMG(UNKNOWN_UserException, 1)
KAIROS_OMG(UNKNOWN_SystemException, 2)
KAIROS_OMG(BAD_PARAM_BadSchemeName, 7)
KAIROS_OMG(BAD_PARAM_BadAddress, 8)
KAIROS_OMG(BAD_PARAM_BadSchemeSpecificPart, 9)
KAIROS_OMG(BAD_PARAM_BadURIOther, 10)
KAIROS_OMNI(COMM_FAILURE_MarshalArguments, 3)
KAIROS_OMNI(COMM_FAILURE_UnMarshalArguments, 4)
KAIROS_OMNI(COMM_FAILURE_MarshalResults, 5)
KAIROS_OMNI(COMM_FAILURE_UnMarshalResults, 6)
KAIROS_OMNI(COMM_FAILURE_WaitingForReply, 7)
KAIROS_OMNI(INITIALIZE_TransportError, 13)
KAIROS_OMNI(INITIALIZE_InvalidORBInitArgs, 30)
KAIROS_OMNI(INITIALIZE_ConfigFileError, 50)
KAIROS_OMG(BAD_INV_ORDER_WouldDeadLock, 3)
KAIROS_OMG(BAD_INV_ORDER_ORBHasShutdown, 4)
KAIROS_OMG(BAD_INV_ORDER_RequestUsedMoreThanOnce, 5)
KAIROS_OMG(BAD_INV_ORDER_ServantManagerAlreadySet, 6)
KAIROS_OMG(BAD_INV_ORDER_ArgumentsCalledOutOfOrder, 7)
KAIROS_OMG(BAD_INV_ORDER_RequestAlreadySent, 10)
KAIROS_OMG(BAD_INV_ORDER_RequestNotSentYet, 11)
KAIROS_OMG(BAD_INV_ORDER_ResultAlreadyReceived, 12)
KAIROS_OMG(BAD_INV_ORDER_RequestIsSynchronous, 13)
KAIROS_OMG(TRANSIENT_POANoResource, 1)
KAIROS_OMG(TRANSIENT_NoUsableProfile, 2)
KAIROS_OMG(TRANSIENT_RequestCancelled, 3)
KAIROS_OMG(TRANSIENT_POADestroyed, 4)
KAIROS_OMNI(TRANSIENT_FailedOnForwarded, 1)
KAIROS_OMNI(TRANSIENT_ConnectFailed, 2)
KAIROS_OMNI(TRANSIENT_CallTimedout, 8)
KAIROS_OMNI(TRANSIENT_ConnectionClosed, 17)
KAIROS_OMG(OBJ_ADAPTER_POAUnknownAdapter, 1)
KAIROS_OMG(OBJECT_NOT_EXIST_NoMatch, 1)
KAIROS_OMG(TIMEOUT_NoPollerResponseInTime, 1)
KAIROS_OMNI(TIMEOUT_CallTimedOutOnClient, 8)
KAIROS_OMNI(TIMEOUT_CallTimedOutOnServer, 124)

#undef KAIROS_OMG
#undef KAIROS_OMNI

} // namespace omni
