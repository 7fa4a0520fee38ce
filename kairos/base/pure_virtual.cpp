// SPDX-License-Identifier: Apache-2.0
//
// What stands in the place of pure virtual functions in the tables of abstract classes.
// libkairos.so is linked with --wrap=__cxa_pure_virtual, so that hundreds of places refer to a
// function within the library, which takes a bit each to load, and not 24 octets for a name to look
// up.

extern "C" {

// The linker's names.
// NOLINTBEGIN(bugprone-reserved-identifier)
[[noreturn]] void __real___cxa_pure_virtual();
[[noreturn]] void __wrap___cxa_pure_virtual();

/// Nothing refers to it in archives and in programs, whose linkers wrap nothing.
[[gnu::cold]] void __wrap___cxa_pure_virtual() { __real___cxa_pure_virtual(); }
// NOLINTEND(bugprone-reserved-identifier)

} // extern "C"
