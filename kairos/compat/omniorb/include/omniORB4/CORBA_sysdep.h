// SPDX-License-Identifier: Apache-2.0
//
// What omniORB's header of this name says of the compiler: all of them have what it asks for.
// Included in front of Kairos's headers, as it says to those of the mapping how texts convert.
#pragma once

// One function converts a text that is not const to char* and to const char*, as omniORB's do:
// programs have functions for both, of which the one for char* is the better one.
#define KAIROS_TEXTS_AS_OMNIORB 1 // NOLINT(modernize-macro-to-enum): asked for by #ifdef

// NOLINTBEGIN(modernize-macro-to-enum): programs ask for them by #ifdef.
#define HAVE_STD 1
#define HAS_Cplusplus_Bool 1
#define HAS_Cplusplus_Namespace 1
#define HAS_Std_Namespace 1
#define HAVE_NAMESPACES 1
#define HAS_Cplusplus_catch_exception_by_base 1
#define HAS_LongLong 1
#define SIZEOF_LONG __SIZEOF_LONG__
#define SIZEOF_INT __SIZEOF_INT__
#define SIZEOF_PTR __SIZEOF_POINTER__
// NOLINTEND(modernize-macro-to-enum)
#define OMNI_NAMESPACE_BEGIN(name) namespace name {
#define OMNI_NAMESPACE_END(name) }
#define OMNI_USING_NAMESPACE(name) using namespace name;
#define _OMNI_NS(name) omni::name
#define OMNI_OVERRIDE override
#define OMNI_FINAL final
