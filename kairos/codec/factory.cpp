// SPDX-License-Identifier: Apache-2.0
//
// IOP::CodecFactory (CORBA 3.3 part 1, 21.8.3).
#include "kairos/cdr/codeset_conversion.h"
#include "kairos/codec/codec.h"
#include "kairos/codec/linked.h"

namespace kairos::codec {

namespace {

class Factory final : public IOP::CodecFactory {
  public:
    explicit Factory(orb::Orb& core) : core_(&core) {}

    /// Text as this ORB offers it: chars as the program has them, wide ones as UTF-16.
    IOP::Codec_ptr create_codec(const IOP::Encoding& enc) override
    {
        const ior::CodeSets& offered = core_->code_sets().offered();
        return made({enc.format, enc.major_version, enc.minor_version, offered.characters.native,
                     cdr::code_set::utf_16});
    }
    IOP::Codec_ptr create_codec_with_codesets(const IOP::Encoding_1_2& enc) override
    {
        return made(enc);
    }

  private:
    [[nodiscard]] IOP::Codec_ptr made(const IOP::Encoding_1_2& enc);

    const IntrusivePtr<orb::Orb> core_;
};

IOP::Codec_ptr Factory::made(const IOP::Encoding_1_2& enc)
{
    constexpr CORBA::Octet minor_max = 2;
    if (enc.format != IOP::ENCODING_CDR_ENCAPS || enc.major_version != 1 ||
        enc.minor_version > minor_max)
        throw UnknownEncoding();
    const auto native = core_->code_sets().offered().characters.native;
    const cdr::CodeSet* characters = cdr::find_code_set(enc.char_codeset);
    if (characters == nullptr || !characters->carries_characters ||
        !cdr::is_convertible(*characters))
        throw UnsupportedCodeset(enc.char_codeset);
    cdr::TextForm form{.giop_minor = enc.minor_version,
                       .native = cdr::find_code_set(native),
                       .characters = characters};
    if (enc.minor_version == 0) {
        form.wide_refused = cdr::TextError::wide_in_giop_1_0;
    } else {
        form.wide = cdr::find_code_set(enc.wchar_codeset);
        // Before GIOP 1.2 all wide characters have the same size.
        if (form.wide == nullptr || !form.wide->carries_wide ||
            (enc.minor_version == 1 && form.wide->encoding == cdr::Encoding::utf_8))
            throw UnsupportedCodeset(enc.wchar_codeset);
    }
    return new Codec(*core_, form);
}

} // namespace

} // namespace kairos::codec

namespace kairos::corba {

CORBA::Object_ptr codec_service(CORBA::ORB& orb) { return new codec::Factory(orb._kairos_core()); }

} // namespace kairos::corba
