# SPDX-License-Identifier: Apache-2.0
#
# What modern.idl says, for Cap'n Proto.
@0xd3a1c0f7b2945e68;

using Cxx = import "/capnp/c++.capnp";
$Cxx.namespace("subject");

struct BinStruct {
  s @0 :Int16;
  c @1 :Int8;
  l @2 :Int32;
  o @3 :UInt8;
  d @4 :Float64;
}

interface Subject {
  ping @0 () -> ();
  takeOctets @1 (data :Data) -> (mark :UInt64);
  takeStructs @2 (data :List(BinStruct)) -> (mark :UInt64);
  octetsBack @3 (data :Data) -> (data :Data);
  structsBack @4 (data :List(BinStruct)) -> (data :List(BinStruct));
}
