//! How long inline audio lasts.

use crate::image;

/// How many tokens a second of PCM audio counts.
const TOKENS_A_SECOND: u64 = 10;

/// The tokens of PCM audio in a WAV container behind a data URL, one for each 100 ms that is begun; none for all else.
pub(crate) fn wav_tokens(url: &str) -> Option<u64> {
    let (media_type, _) = image::data_url(url)?;
    let is_wav = ["audio/wav", "audio/wave", "audio/x-wav", "audio/vnd.wave"];
    if !is_wav.iter().any(|name| media_type.eq_ignore_ascii_case(name)) {
        return None;
    }
    let bytes = image::decoded(url)?;
    let wav = Wav::read(&bytes)?;
    let frames = wav.data_bytes / wav.frame_bytes;
    Some(frames.saturating_mul(TOKENS_A_SECOND).div_ceil(wav.frames_a_second))
}

struct Wav {
    frames_a_second: u64,
    frame_bytes: u64,
    data_bytes: u64,
}

impl Wav {
    fn read(bytes: &[u8]) -> Option<Self> {
        let (riff, wave) = (bytes.get(..4)?, bytes.get(8..12)?);
        if riff != b"RIFF" || wave != b"WAVE" {
            return None;
        }
        let mut format = None;
        let mut rest = bytes.get(12..)?;
        loop {
            let (name, size, body) = (rest.get(..4)?, le_u32(rest, 4)?, rest.get(8..)?);
            match name {
                b"fmt " => {
                    const PCM: u32 = 1;
                    let is_pcm = image::le_u16(body, 0)? == PCM;
                    let (frames, frame) = (le_u32(body, 4)?, image::le_u16(body, 12)?);
                    format = (is_pcm && frames > 0 && frame > 0).then_some((frames, frame));
                }
                b"data" => {
                    let (frames_a_second, frame_bytes) = format?;
                    // A stream may name more than there is.
                    let data_bytes = u64::from(size).min(u64::try_from(body.len()).unwrap_or(u64::MAX));
                    return Some(Self {
                        frames_a_second: frames_a_second.into(),
                        frame_bytes: frame_bytes.into(),
                        data_bytes,
                    });
                }
                _ => {}
            }
            // Chunks begin at even places.
            let size = usize::try_from(size).ok()?;
            rest = body.get(size.checked_add(size % 2)?..)?;
        }
    }
}

fn le_u32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().copied().map(u32::from_le_bytes)
}
