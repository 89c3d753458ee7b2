//! What the data of an inline image says of itself: its size, or that nothing can be made of it.

use std::fmt;

use base64::{
    Engine,
    alphabet::STANDARD,
    engine::{DecodePaddingMode, GeneralPurpose, GeneralPurposeConfig},
};

/// Padding is what encoders disagree about; everything else of a damaged text is found.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The size of an image, in pixels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_structs, reason = "an image has two sides")]
pub struct ImageSize {
    /// Pixels in a row.
    pub width: u32,
    /// Pixels in a column.
    pub height: u32,
}

impl ImageSize {
    /// The longer side.
    #[must_use]
    pub fn longest(self) -> u32 {
        self.width.max(self.height)
    }

    /// How many squares of `side` pixels cover it.
    #[must_use]
    pub const fn patches(self, side: u32) -> u64 {
        self.width.div_ceil(side) as u64 * self.height.div_ceil(side) as u64
    }
}

impl fmt::Display for ImageSize {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}x{}", self.width, self.height)
    }
}

/// What is known of an image.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Probed {
    /// Its header gives its size.
    Sized(ImageSize),
    /// It is no base64, or its type is known and its header is none of that type.
    Undecodable,
    /// It lies elsewhere, or is of a type that is not read here.
    Unknown,
}

/// Reads the header of the image behind `url`, if that is a data URL.
pub(crate) fn probe(url: &str) -> Probed {
    let Some((media_type, data)) = data_url(url) else { return Probed::Unknown };
    // A percent sign would have to be resolved first; nobody writes base64 so.
    if data.contains('%') {
        return Probed::Unknown;
    }
    let Ok(bytes) = BASE64.decode(data) else { return Probed::Undecodable };
    let is_read = ["image/png", "image/jpeg", "image/jpg", "image/gif", "image/webp"];
    match size_of(&bytes) {
        Some(size) => Probed::Sized(size),
        None if is_read.iter().any(|name| media_type.eq_ignore_ascii_case(name)) => Probed::Undecodable,
        None => Probed::Unknown,
    }
}

/// The media type and the base64 text of a data URL; none for another URL.
pub(crate) fn data_url(url: &str) -> Option<(&str, &str)> {
    let scheme = url.get(..5)?;
    if !scheme.eq_ignore_ascii_case("data:") {
        return None;
    }
    let (head, data) = url.get(5..)?.split_once(',')?;
    let (head, encoding) = head.rsplit_once(';')?;
    let media_type = head.split(';').next().unwrap_or_default().trim();
    encoding.trim().eq_ignore_ascii_case("base64").then_some((media_type, data))
}

/// The bytes of a data URL in base64.
pub(crate) fn decoded(url: &str) -> Option<Vec<u8>> {
    let (_, data) = data_url(url)?;
    BASE64.decode(data).ok()
}

/// The size that a PNG, GIF, WebP or JPEG header gives; none for other bytes, and for a side of no pixels.
fn size_of(bytes: &[u8]) -> Option<ImageSize> {
    let size = png(bytes).or_else(|| gif(bytes)).or_else(|| webp(bytes)).or_else(|| jpeg(bytes))?;
    (size.width > 0 && size.height > 0).then_some(size)
}

fn png(bytes: &[u8]) -> Option<ImageSize> {
    let rest = bytes.strip_prefix(b"\x89PNG\r\n\x1a\n")?;
    (rest.get(4..8)? == b"IHDR").then_some(())?;
    Some(ImageSize { width: be_u32(rest, 8)?, height: be_u32(rest, 12)? })
}

fn gif(bytes: &[u8]) -> Option<ImageSize> {
    let rest = bytes.strip_prefix(b"GIF87a").or_else(|| bytes.strip_prefix(b"GIF89a"))?;
    Some(ImageSize { width: le_u16(rest, 0)?, height: le_u16(rest, 2)? })
}

fn webp(bytes: &[u8]) -> Option<ImageSize> {
    bytes.strip_prefix(b"RIFF")?;
    (bytes.get(8..12)? == b"WEBP").then_some(())?;
    let chunk = bytes.get(20..)?;
    match bytes.get(12..16)? {
        b"VP8 " => {
            (chunk.get(3..6)? == [0x9d, 0x01, 0x2a]).then_some(())?;
            Some(ImageSize { width: le_u16(chunk, 6)? & 0x3FFF, height: le_u16(chunk, 8)? & 0x3FFF })
        }
        b"VP8L" => {
            (*chunk.first()? == 0x2f).then_some(())?;
            let bits = le_u16(chunk, 1)? | le_u16(chunk, 3)? << 16;
            Some(ImageSize { width: (bits & 0x3FFF) + 1, height: (bits >> 14 & 0x3FFF) + 1 })
        }
        b"VP8X" => Some(ImageSize { width: le_u24(chunk, 4)? + 1, height: le_u24(chunk, 7)? + 1 }),
        _ => None,
    }
}

/// Goes from segment to segment to the start of a frame, behind whatever a camera wrote before it.
fn jpeg(bytes: &[u8]) -> Option<ImageSize> {
    let mut rest = bytes.strip_prefix(&[0xFF, 0xD8])?;
    loop {
        rest = rest.strip_prefix(&[0xFF])?;
        let (&marker, behind) = rest.split_first()?;
        match marker {
            // Filling.
            0xFF => {}
            // Markers that stand alone.
            0x01 | 0xD0..=0xD7 => rest = behind,
            // The start of a frame, of whatever sort.
            0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF => {
                return Some(ImageSize { width: be_u16(behind, 5)?, height: be_u16(behind, 3)? });
            }
            _ => rest = behind.get(usize::try_from(be_u16(behind, 0)?).ok()?.max(2)..)?,
        }
    }
}

fn be_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_be_bytes)
}

fn be_u16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_be_bytes).map(u32::from)
}

pub(crate) fn le_u16(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u16::from_le_bytes).map(u32::from)
}

fn le_u24(bytes: &[u8], at: usize) -> Option<u32> {
    let [low, middle, high] = *bytes.get(at..)?.first_chunk()?;
    Some(u32::from_le_bytes([low, middle, high, 0]))
}
