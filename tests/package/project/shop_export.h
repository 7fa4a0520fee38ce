// SPDX-License-Identifier: Apache-2.0
//
// What the library of shop.idl shows of itself, where it is a shared one that hides the rest.
#pragma once

#define SHOP_API __attribute__((visibility("default")))
