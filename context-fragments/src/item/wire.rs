//! The item itself: its bytes, and a head that was scanned once.

use std::{borrow::Cow, fmt, hash, sync::Arc};

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};
use serde_json::value::RawValue;

use super::{
    ResponseItem,
    head::{Head, HeadScan, ItemType, Role},
};
use crate::{
    Error,
    json::{self, Json, Members, ObjectWriter, Shape},
};

/// One entry on the wire: the bytes as they were made or received, and a head.
///
/// The bytes are the truth. White space between tokens is removed once, when the item is made; key order, number
/// spelling, escapes, unknown types and fields, duplicate keys and lone surrogates stay. A clone is a reference count.
///
/// # Example
/// ```
/// use context_fragments::{ItemType, WireItem};
///
/// let item = WireItem::parse(br#"{"type": "anything_new", "x": 1e2, "s": "\ud800"}"#)?;
/// assert_eq!(item.item_type(), ItemType::Unknown);
/// assert_eq!(item.as_str(), r#"{"type":"anything_new","x":1e2,"s":"\ud800"}"#);
/// # Ok::<(), context_fragments::Error>(())
/// ```
#[derive(Clone)]
pub struct WireItem(Arc<Inner>);

struct Inner {
    head: Head,
    text: Box<str>,
}

/// What the 32-bit positions in a head can count.
const MAX_ITEM_BYTES: usize = 1 << 31;

impl WireItem {
    /// Takes the JSON object of one item.
    ///
    /// # Errors
    /// [`Error::NotUtf8`] and [`Error::NotJson`] with the place, [`Error::Shape`] for another value than an object,
    /// [`Error::ItemTooLarge`] above 2 GiB.
    pub fn parse(bytes: &[u8]) -> Result<Self, Error> {
        json::text_of(bytes).and_then(Self::parse_str)
    }

    /// Takes the JSON object of one item from a text.
    ///
    /// The text is walked over once and copied once: this is how a log is read.
    ///
    /// # Errors
    /// [`Error::NotJson`] with the place, [`Error::Shape`] for another value than an object, [`Error::ItemTooLarge`] above
    /// 2 GiB.
    /// # Example
    /// ```
    /// use context_fragments::WireItem;
    ///
    /// let item = WireItem::parse_str(r#"{"type":"function_call_output","call_id":"c1","output":"ok"}"#)?;
    /// assert_eq!(item, WireItem::function_call_output("c1", "ok"));
    /// # Ok::<(), context_fragments::Error>(())
    /// ```
    pub fn parse_str(text: &str) -> Result<Self, Error> {
        let mut scan = HeadScan::default();
        let checked = Json::checked(text, &mut scan)?;
        let value = Json::trusted(checked.value);
        check_object(value)?;
        if !checked.is_compact {
            return Ok(Self::trusted(json::compacted(value).into_owned()));
        }
        let head = scan.finish_walked(checked.value, checked.has_code_units);
        Ok(Self(Arc::new(Inner { head, text: checked.value.into() })))
    }

    /// Takes an item from a checked value, for example from one element of an array.
    ///
    /// # Errors
    /// [`Error::Shape`] for another value than an object, [`Error::ItemTooLarge`] above 2 GiB.
    pub fn from_json(value: Json<'_>) -> Result<Self, Error> {
        check_object(value)?;
        Self::parse_str(value.as_raw())
    }

    /// Takes a compact JSON object that this crate has written.
    pub(super) fn trusted(text: String) -> Self {
        let head = Head::scan(Json::trusted(&text));
        Self(Arc::new(Inner { head, text: text.into_boxed_str() }))
    }

    /// The bytes that go on the wire.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        self.as_str().as_bytes()
    }

    /// The bytes that go on the wire, as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0.text
    }

    /// The item as a value to read in.
    #[must_use]
    pub fn json(&self) -> Json<'_> {
        Json::trusted(&self.0.text)
    }

    /// The type of the item, from its head.
    #[must_use]
    pub fn item_type(&self) -> ItemType {
        self.0.head.item_type
    }

    /// The type as it is spelled on the wire; empty when there is none.
    #[must_use]
    pub fn type_name(&self) -> Cow<'_, str> {
        self.0.head.type_name(&self.0.text).unwrap_or_default()
    }

    /// The role, from the head.
    #[must_use]
    pub fn role(&self) -> Option<Role> {
        self.0.head.role
    }

    /// The id that ties a call and its output together; none if it is absent, null or no string.
    #[must_use]
    pub fn call_id(&self) -> Option<Cow<'_, str>> {
        self.0.head.call_id.json(&self.0.text)?.to_str()
    }

    /// The id of the item itself; none also if it is empty.
    #[must_use]
    pub fn item_id(&self) -> Option<Cow<'_, str>> {
        self.0.head.item_id.json(&self.0.text)?.to_str().filter(|id| !id.is_empty())
    }

    /// What most of the item's bytes are, found without a walk over its members: the `content` of a message, the `arguments`
    /// of a function call, the `output` of a call, the `encrypted_content` of reasoning. None if it is not there, and for
    /// other types; `null` is a value.
    ///
    /// # Example
    /// ```
    /// use context_fragments::WireItem;
    ///
    /// let body = WireItem::function_call_output("c1", "done");
    /// assert_eq!(body.body(), body.json().member("output"));
    /// ```
    #[must_use]
    pub fn body(&self) -> Option<Json<'_>> {
        self.0.head.body(&self.0.text)
    }

    /// The members in their order, duplicates included; the [body](Self::body) among them is not walked over.
    ///
    /// # Example
    /// ```
    /// use context_fragments::WireItem;
    ///
    /// let item = WireItem::function_call_output("c1", "done");
    /// assert!(item.members().eq(item.json().members()));
    /// ```
    #[must_use]
    pub fn members(&self) -> Members<'_> {
        Members::beside(self.json(), self.0.head.body_range())
    }

    /// Says that the content or output has an image, or that a generated image is here.
    #[must_use]
    pub fn has_images(&self) -> bool {
        self.0.head.has_images
    }

    /// Says that the content or output has audio.
    #[must_use]
    pub fn has_audio(&self) -> bool {
        self.0.head.has_audio
    }

    /// Parses the typed view.
    ///
    /// # Errors
    /// [`Error::Shape`] names the field that is missing or has another shape than its type needs.
    pub fn view(&self) -> Result<ResponseItem<'_>, Error> {
        ResponseItem::parse(self)
    }

    /// The same item with `key` set to `value`, which is JSON text.
    ///
    /// A member that stands is replaced where it stands (the last one, if there are two); a new one goes to the end.
    ///
    /// # Errors
    /// [`Error::NotJson`] if `value` is not JSON.
    /// # Example
    /// ```
    /// use context_fragments::WireItem;
    ///
    /// let item = WireItem::function_call_output("c1", "long").with_member("output", "\"cut\"")?;
    /// assert_eq!(item, WireItem::function_call_output("c1", "cut"));
    /// # Ok::<(), context_fragments::Error>(())
    /// ```
    pub fn with_member(&self, key: &str, value: &str) -> Result<Self, Error> {
        let value = json::compact(value)?;
        let replaced = self.json().members().enumerate().filter(|(_, (name, _))| name.is_text(key)).last();
        let mut object = ObjectWriter::new();
        for (position, (name, old)) in self.json().members().enumerate() {
            let is_replaced = replaced.is_some_and(|(place, _)| place == position);
            object.member((name, if is_replaced { Json::trusted(&value) } else { old }));
        }
        if replaced.is_none() {
            object.raw(key, &value);
        }
        Ok(Self::trusted(object.finish()))
    }

    /// The same item without `key`, however often it stands.
    #[must_use]
    pub fn without_member(&self, key: &str) -> Self {
        if self.json().member(key).is_none() {
            return self.clone();
        }
        let mut object = ObjectWriter::new();
        for member in self.json().members().filter(|(name, _)| !name.is_text(key)) {
            object.member(member);
        }
        Self::trusted(object.finish())
    }

    /// Says that both handles share one allocation.
    #[must_use]
    pub fn ptr_eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }
}

/// Says that a value can be an item.
fn check_object(value: Json<'_>) -> Result<(), Error> {
    if value.shape() != Shape::Object {
        return Err(Error::Shape { place: "item".into(), expected: "an object", found: value.shape().name() });
    }
    let bytes = value.as_raw().len();
    if bytes > MAX_ITEM_BYTES {
        return Err(Error::ItemTooLarge { bytes, limit: MAX_ITEM_BYTES });
    }
    Ok(())
}

impl PartialEq for WireItem {
    fn eq(&self, other: &Self) -> bool {
        self.ptr_eq(other) || self.0.text == other.0.text
    }
}

impl Eq for WireItem {}

impl hash::Hash for WireItem {
    fn hash<H: hash::Hasher>(&self, state: &mut H) {
        self.0.text.hash(state);
    }
}

impl AsRef<[u8]> for WireItem {
    fn as_ref(&self) -> &[u8] {
        self.as_bytes()
    }
}

impl fmt::Debug for WireItem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "WireItem({})", self.as_str())
    }
}

impl Serialize for WireItem {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.json().serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for WireItem {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let raw = Box::<RawValue>::deserialize(deserializer)?;
        Self::parse_str(raw.get()).map_err(de::Error::custom)
    }
}
