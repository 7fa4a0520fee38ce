// SPDX-License-Identifier: Apache-2.0
//
// What programs see of the shared libraries: these hide everything that is not marked.
#pragma once

/// In front of the name of a class, or of the declaration of a function or variable, that programs
/// or other libraries of ours use. A class of a header that generated code includes has it in any
/// case: a visible class with members of hidden types gets warnings from g++.
#define KAIROS_API __attribute__((visibility("default")))
/// KAIROS_API for a class that has [[…]] or alignas in its head: behind these g++ takes no other
/// form.
#define KAIROS_API_TYPE [[gnu::visibility("default")]]
