// SPDX-License-Identifier: Apache-2.0
//
// What modern.idl says, for Thrift.
namespace cpp subject

struct BinStruct {
  1: required i16 s,
  2: required i8 c,
  3: required i32 l,
  4: required i8 o,
  5: required double d
}

service Subject {
  void ping(),
  i64 take_octets(1: binary data),
  i64 take_structs(1: list<BinStruct> data),
  binary octets_back(1: binary data),
  list<BinStruct> structs_back(1: list<BinStruct> data)
}
