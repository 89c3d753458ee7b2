//! Reading metadata as this crate writes it.

use std::ops::Range;

use context_fragments::{Kind, Limit};

use super::{KindsSource, LoggedOrigin, Metadata, MustUnderstand, repeated::Repeated};

/// Reads metadata that stand as [`Metadata`] is written: the members in their order, each at most once, no white space, no
/// escapes, no `null`. Nothing for any other text, well-formed or not, and for `provenance` and `foreign`, which few
/// records have: who asked reads those member by member, and comes to the same.
pub(super) fn plain_metadata(text: &str, repeated: &mut Repeated) -> Option<Metadata> {
    let mut plain = Plain { text, at: 0 };
    let mut metadata = Metadata::new();
    let mut before = None;
    if !plain.take("{") {
        return None;
    }
    loop {
        let key = plain.string()?;
        let place = Some(place_of(key)?);
        if place <= before || !plain.take(":") {
            return None;
        }
        before = place;
        match key {
            "must_understand" => metadata.must_understand = plain.take("true").then_some(Some(MustUnderstand))?,
            "position" => metadata.position = Some(plain.number()?),
            "turn_id" => metadata.turn_id = Some(repeated.turn_id(plain.string()?)),
            "moved_from" => metadata.moved_from = Some(plain.number()?),
            "kinds" => metadata.kinds = plain.kinds()?,
            "kinds_source" if plain.string()? == "recognised" => metadata.kinds_source = KindsSource::Recognised,
            "kinds_source" => {}
            "origin" => metadata.origin = Some(LoggedOrigin::from_word(plain.string()?)),
            "model" => metadata.model = Some(repeated.model(plain.string()?)),
            "truncation_limit" => metadata.truncation_limit = Some(plain.limit()?),
            "acceptance_order" => metadata.acceptance_order = Some(plain.number()?),
            "success" => metadata.success = Some(plain.flag()?),
            _ => return None,
        }
        if plain.take("}") {
            break;
        }
        if !plain.take(",") {
            return None;
        }
    }
    if plain.at == text.len() { Some(metadata) } else { None }
}

/// Where a key stands in the order in which metadata are written; none for those that are not read here.
fn place_of(key: &str) -> Option<u8> {
    Some(match key {
        "must_understand" => 0,
        "position" => 1,
        "turn_id" => 2,
        "moved_from" => 3,
        "kinds" => 4,
        "kinds_source" => 5,
        "origin" => 6,
        "model" => 7,
        "truncation_limit" => 8,
        "acceptance_order" => 9,
        "success" => 10,
        _ => return None,
    })
}

/// A position in a text.
struct Plain<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Plain<'a> {
    fn rest(&self) -> &'a [u8] {
        self.text.as_bytes().get(self.at..).unwrap_or_default()
    }

    /// Passes `expected`, if it is what stands here.
    fn take(&mut self, expected: &str) -> bool {
        let is_here = self.rest().starts_with(expected.as_bytes());
        if is_here {
            self.at += expected.len();
        }
        is_here
    }

    /// The inside of a string in which nothing is escaped.
    fn string(&mut self) -> Option<&'a str> {
        if !self.take("\"") {
            return None;
        }
        let len = self.rest().iter().position(|byte| matches!(byte, b'"' | b'\\' | 0..=0x1f))?;
        let inside: Range<usize> = self.at..self.at + len;
        self.at = inside.end;
        self.take("\"").then_some(())?;
        self.text.get(inside)
    }

    /// A whole number as JSON spells it.
    fn number(&mut self) -> Option<u64> {
        let start = self.at;
        let mut number = 0_u64;
        while let Some(digit @ b'0'..=b'9') = self.rest().first() {
            number = number.checked_mul(10)?.checked_add(u64::from(digit - b'0'))?;
            self.at += 1;
        }
        let digits = &self.text.as_bytes()[start..self.at];
        (digits == b"0" || digits.first().is_some_and(|first| *first != b'0')).then_some(number)
    }

    fn flag(&mut self) -> Option<bool> {
        let is_true = self.take("true");
        (is_true || self.take("false")).then_some(is_true)
    }

    fn kinds(&mut self) -> Option<Vec<Kind>> {
        if !self.take("[") {
            return None;
        }
        let mut kinds = Vec::with_capacity(1);
        loop {
            kinds.push(Kind::from_label(self.string()?));
            if self.take("]") {
                return Some(kinds);
            }
            if !self.take(",") {
                return None;
            }
        }
    }

    fn limit(&mut self) -> Option<Limit> {
        let in_bytes = self.take("{\"bytes\":");
        if !in_bytes && !self.take("{\"tokens\":") {
            return None;
        }
        let size = usize::try_from(self.number()?).ok()?;
        self.take("}").then_some(if in_bytes { Limit::Bytes(size) } else { Limit::Tokens(size) })
    }
}

#[cfg(test)]
mod tests {
    use context_fragments::json::Json;
    use proptest::prelude::*;

    use super::*;
    use crate::rollout::RawJson;

    /// Where the short way gives anything, it is what the long way gives.
    fn agree(text: &str) -> Result<Option<Metadata>, TestCaseError> {
        let mut repeated = Repeated::default();
        let short = plain_metadata(text, &mut repeated);
        if let Some(found) = &short {
            let json = Json::parse(text);
            prop_assert!(json.is_ok(), "{text} is no JSON");
            let long = json.ok().and_then(|json| Metadata::from_json(json).ok());
            prop_assert_eq!(Some(found), long.as_ref(), "{}", text);
        }
        Ok(short)
    }

    fn words() -> impl Strategy<Value = String> {
        prop_oneof!["[a-z.\\-0-9]{0,12}", Just("user.text".to_owned()), "[é\"\\\\\u{1}😀 ]{0,4}"]
    }

    fn numbers() -> impl Strategy<Value = u64> {
        prop_oneof![0_u64..100, any::<u64>()]
    }

    prop_compose! {
        fn known()(
            must_understand in any::<bool>(),
            numbers in prop::array::uniform3(prop::option::of(numbers())),
            turn_id in prop::option::of(words()),
            kinds in prop::collection::vec(words(), 0..3),
            recognised in any::<bool>(),
            origin in prop::option::of(prop_oneof![words(), Just("model".to_owned()), Just("tool".to_owned())]),
            model in prop::option::of(words()),
            limit in prop::option::of((any::<bool>(), any::<u32>())),
            success in prop::option::of(any::<bool>()),
            provenance in prop::option::weighted(0.1, Just(())),
        ) -> Metadata {
            let mut metadata = Metadata::new().with_kinds(kinds.iter().map(|kind| Kind::new(kind.as_str())).collect::<Vec<_>>());
            metadata.must_understand = must_understand.then_some(MustUnderstand);
            [metadata.position, metadata.moved_from, metadata.acceptance_order] = numbers;
            metadata.turn_id = turn_id.map(Into::into);
            metadata.kinds_source = if recognised { KindsSource::Recognised } else { KindsSource::Logged };
            metadata.origin = origin.map(|word| LoggedOrigin::from_word(&word));
            metadata.model = model.map(Into::into);
            metadata.truncation_limit = limit.map(|(in_bytes, size)| {
                let size = usize::try_from(size).unwrap();
                if in_bytes { Limit::Bytes(size) } else { Limit::Tokens(size) }
            });
            metadata.success = success;
            metadata.provenance = provenance.map(|()| RawJson::parse("{\"answers\":7}").unwrap());
            metadata
        }
    }

    proptest! {
        #[test]
        fn what_is_written_is_read_the_short_way(metadata in known()) {
            let Some(text) = metadata.to_json() else { return Ok(()) };
            let found = agree(&text)?;
            let is_plain = !text.contains('\\') && metadata.provenance.is_none();
            prop_assert_eq!(found, is_plain.then_some(metadata));
        }

        #[test]
        fn any_other_text_comes_to_the_same_or_goes_the_long_way(
            metadata in known(),
            cuts in prop::collection::vec((any::<prop::sample::Index>(), "[ ,:\"{}\\[\\]\\\\u0-9a-z\n]{0,2}", 0..3_usize), 1..4),
        ) {
            let mut text = metadata.to_json().unwrap_or_default();
            for (place, piece, gone) in cuts {
                let start = place.index(text.len() + 1);
                let end = (start + gone).min(text.len());
                if text.is_char_boundary(start) && text.is_char_boundary(end) {
                    text.replace_range(start..end, &piece);
                }
            }
            agree(&text)?;
        }
    }

    #[test]
    fn texts_that_look_like_it_go_the_long_way() {
        for text in [
            "",
            "{}",
            "{\"position\":01}",
            "{\"position\":18446744073709551616}",
            "{\"position\":1,\"position\":2}",
            "{\"turn_id\":\"t\",\"position\":2}",
            "{\"position\":1,}",
            ",\"position\":1}",
            "{\"position\":1}}",
            "{\"position\": 1}",
            "{\"position\":null}",
            "{\"position\":1.0}",
            "{\"position\":-1}",
            "{\"turn_id\":\"\u{1}\"}",
            "{\"turn_id\":\"t\\u0031\"}",
            "{\"kinds\":[]}",
            "{\"kinds\":[\"a\",]}",
            "{\"must_understand\":false}",
            "{\"truncation_limit\":{\"tokens\":1,\"bytes\":2}}",
            "{\"success\":truefalse}",
            "{\"later\":1}",
        ] {
            assert_eq!(plain_metadata(text, &mut Repeated::default()), None, "{text}");
        }
    }

    #[test]
    fn the_turn_and_the_model_are_those_of_the_record_before() {
        let mut repeated = Repeated::default();
        let mut read = |text| plain_metadata(text, &mut repeated).unwrap();
        let first = read("{\"turn_id\":\"t1\",\"model\":\"m\"}");
        let second = read("{\"turn_id\":\"t1\",\"model\":\"m\"}");
        let third = read("{\"turn_id\":\"t2\"}");
        assert!(std::sync::Arc::ptr_eq(first.turn_id.as_ref().unwrap(), second.turn_id.as_ref().unwrap()));
        assert!(std::sync::Arc::ptr_eq(first.model.as_ref().unwrap(), second.model.as_ref().unwrap()));
        assert_eq!(third.turn_id.as_deref(), Some("t2"));
    }
}
