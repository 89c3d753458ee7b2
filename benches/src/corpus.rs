//! A conversation that is the same in every run.
//!
//! Per turn one user message (0.1–1.2 KB), four to eight times a function call with its output (0.2–4 KB), before every
//! third call encrypted reasoning (0.6–2 KB), and one message of the assistant. Two items of context come first. An item
//! has about 1.2 KB of JSON.

use context_fragments::json::ObjectWriter;

/// What is special about a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[expect(clippy::exhaustive_enums, reason = "the corpus has exactly these variants")]
pub enum Variant {
    /// Nothing: each call is followed by its output.
    Plain,
    /// Eight calls are made at once, and their outputs come in another order.
    Parallel,
    /// Two of a hundred items have an image, as a data URL.
    Images,
    /// One of a hundred calls has no output.
    Aborted,
}

impl Variant {
    /// All but the plain one.
    pub const SPECIAL: [Self; 3] = [Self::Parallel, Self::Images, Self::Aborted];

    /// The name, as in the ids of benches.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Plain => "plain",
            Self::Parallel => "parallel",
            Self::Images => "images",
            Self::Aborted => "aborted",
        }
    }
}

/// One item before it takes the shape of either side.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(clippy::exhaustive_enums, reason = "the corpus has exactly these items")]
pub enum Spec {
    /// A message of one text.
    Message {
        /// `user`, `developer` or `assistant`.
        role: &'static str,
        /// What it says.
        text: String,
    },
    /// A message of the user with an image.
    Image {
        /// What it says.
        text: String,
        /// The image, as a data URL.
        url: String,
    },
    /// Encrypted reasoning.
    Reasoning {
        /// The id of the item.
        id: String,
        /// What only the provider can read.
        encrypted_content: String,
    },
    /// A function call.
    Call {
        /// The id of the item.
        id: String,
        /// The tool.
        name: &'static str,
        /// The arguments, as JSON text.
        arguments: String,
        /// What ties it to its output.
        call_id: String,
    },
    /// The output of a call.
    Output {
        /// What ties it to its call.
        call_id: String,
        /// The text.
        output: String,
    },
}

impl Spec {
    /// The item's JSON.
    #[must_use]
    pub fn json(&self) -> String {
        let mut item = ObjectWriter::new();
        match self {
            Self::Message { role, text } => {
                let mut part = ObjectWriter::new();
                part.string("type", if *role == "assistant" { "output_text" } else { "input_text" })
                    .string("text", text);
                item.string("type", "message").string("role", role).raw("content", &format!("[{}]", part.finish()));
            }
            Self::Image { text, url } => {
                let (mut part, mut image) = (ObjectWriter::new(), ObjectWriter::new());
                part.string("type", "input_text").string("text", text);
                image.string("type", "input_image").string("image_url", url);
                let content = format!("[{},{}]", part.finish(), image.finish());
                item.string("type", "message").string("role", "user").raw("content", &content);
            }
            Self::Reasoning { id, encrypted_content } => {
                item.string("type", "reasoning").string("id", id).raw("summary", "[]");
                item.string("encrypted_content", encrypted_content);
            }
            Self::Call { id, name, arguments, call_id } => {
                item.string("type", "function_call").string("id", id).string("name", name);
                item.string("arguments", arguments).string("call_id", call_id);
            }
            Self::Output { call_id, output } => {
                item.string("type", "function_call_output").string("call_id", call_id).string("output", output);
            }
        }
        item.finish()
    }
}

/// The first `len` items of the conversation.
#[must_use]
pub fn conversation(len: usize) -> Vec<Spec> {
    conversation_of(Variant::Plain, len)
}

/// The first `len` items of a variant of the conversation.
#[must_use]
pub fn conversation_of(variant: Variant, len: usize) -> Vec<Spec> {
    let mut random = Random(0x00AD_DE4D_A5EE_D001);
    let mut items = vec![
        Spec::Message { role: "developer", text: random.text(3_000) },
        Spec::Message { role: "user", text: random.text(8_000) },
    ];
    let mut calls = 0;
    while items.len() < len {
        let user = random.between(100, 1_200);
        items.push(Spec::Message { role: "user", text: random.text(user) });
        if variant == Variant::Parallel {
            push_at_once(&mut items, &mut calls, &mut random);
        } else {
            for _ in 0..random.between(4, 8) {
                push_one_by_one(variant, &mut items, &mut calls, &mut random);
            }
        }
        let assistant = random.between(200, 1_500);
        items.push(Spec::Message { role: "assistant", text: random.text(assistant) });
    }
    items.truncate(len);
    items
}

/// A call and its output, before every third one reasoning.
fn push_one_by_one(variant: Variant, items: &mut Vec<Spec>, calls: &mut usize, random: &mut Random) {
    *calls += 1;
    if random.between(0, 2) == 0 {
        let size = random.between(600, 2_000);
        let mut encrypted_content = random.letters(size);
        // Whole base64, as a provider gives it.
        encrypted_content.truncate(size / 4 * 4);
        items.push(Spec::Reasoning { id: format!("rs_{calls}"), encrypted_content });
    }
    let (call, output) = exchange(*calls, random);
    items.push(call);
    if variant != Variant::Aborted || !calls.is_multiple_of(100) {
        items.push(output);
    }
    // Of the items of a turn, two in five are calls.
    if variant == Variant::Images && calls.is_multiple_of(20) {
        let (text, size) = (random.text(200), random.between(3_000, 12_000));
        items.push(Spec::Image {
            text,
            url: format!("data:image/png;base64,{PNG_HEADER}{}", random.letters(size / 4 * 4)),
        });
    }
}

/// The first bytes of a PNG of 512 by 512 pixels: what cannot be decoded would not be sent.
const PNG_HEADER: &str = "iVBORw0KGgoAAAANSUhEUgAAAgAAAAIA";

/// Eight calls, then their outputs, the last one first.
fn push_at_once(items: &mut Vec<Spec>, calls: &mut usize, random: &mut Random) {
    let mut outputs = Vec::new();
    for _ in 0..8 {
        *calls += 1;
        let (call, output) = exchange(*calls, random);
        items.push(call);
        outputs.push(output);
    }
    items.extend(outputs.into_iter().rev());
}

fn exchange(number: usize, random: &mut Random) -> (Spec, Spec) {
    let (arguments, output) = (random.between(60, 400), random.between(200, 4_000));
    let call_id = format!("call_{number}");
    let call = Spec::Call {
        id: format!("fc_{number}"),
        name: "shell",
        arguments: format!("{{\"command\":\"{}\"}}", random.letters(arguments)),
        call_id: call_id.clone(),
    };
    (call, Spec::Output { call_id, output: random.text(output) })
}

/// The sections of a world state: 12 with 120 strings in all, and instruction files of 32 KB.
#[must_use]
pub fn world_state() -> Vec<(String, Vec<(String, String)>)> {
    let mut random = Random(0x00AD_DE4D_A57A_7E01);
    let section = |random: &mut Random, number: usize| {
        let fields: Vec<_> = (0..10).map(|field| (format!("field_{field}"), random.text(40))).collect();
        (format!("section_{number:02}"), fields)
    };
    let mut sections: Vec<_> = (0..12).map(|number| section(&mut random, number)).collect();
    sections[0].1[0].1 = random.text(32 << 10);
    sections
}

/// The settings of a turn, as JSON.
#[must_use]
pub fn turn_context() -> String {
    let mut random = Random(0x00AD_DE4D_A5C0_41E7);
    let mut settings = ObjectWriter::new();
    settings.string("turn_id", "turn_1").string("cwd", "/home/user/project").string("model", "model-1");
    settings.string("approval_policy", "on-request");
    for field in 0..16 {
        settings.string(&format!("setting_{field:02}"), &random.letters(24));
    }
    settings.finish()
}

/// A small generator of numbers (`SplitMix64`), so that the corpus needs no crate and never changes with one.
#[derive(Debug)]
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// A number from `low` to `high`, both included.
    fn between(&mut self, low: usize, high: usize) -> usize {
        let span = u64::try_from(high - low + 1).unwrap_or(1);
        low + usize::try_from(self.next() % span).unwrap_or(0)
    }

    fn letters(&mut self, len: usize) -> String {
        (0..len).map(|_| char::from(b"abcdefghijklmnopqrstuvwxyz0123456789"[self.between(0, 35)])).collect()
    }

    /// Words and lines, with what JSON has to escape.
    fn text(&mut self, len: usize) -> String {
        let mut text = String::with_capacity(len + 16);
        while text.len() < len {
            let word = self.between(2, 9);
            text.push_str(&self.letters(word));
            text.push(match self.between(0, 15) {
                0 => '\n',
                1 => '"',
                _ => ' ',
            });
        }
        text.truncate(len);
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_corpus_is_the_same_in_every_run_and_of_the_stated_size() {
        let items = conversation(10_000);
        assert_eq!(items, conversation(10_000));
        assert_eq!(items[..100], conversation(100));
        let bytes: usize = items.iter().map(|item| item.json().len()).sum();
        assert!((1_000..1_400).contains(&(bytes / items.len())), "{} bytes an item", bytes / items.len());
    }

    #[test]
    fn the_variants_are_what_they_say() {
        let count = |variant, is_wanted: fn(&Spec) -> bool| {
            let items = conversation_of(variant, 10_000);
            (items.len(), items.iter().filter(|spec| is_wanted(spec)).count())
        };
        let is_call = |spec: &Spec| matches!(spec, Spec::Call { .. });
        let is_output = |spec: &Spec| matches!(spec, Spec::Output { .. });
        let (len, images) = count(Variant::Images, |spec| matches!(spec, Spec::Image { .. }));
        assert!((len / 80..len / 40).contains(&images), "{images} images");
        let ((_, calls), (_, outputs)) = (count(Variant::Aborted, is_call), count(Variant::Aborted, is_output));
        assert!((calls / 120..calls / 80).contains(&(calls - outputs)), "{calls} calls, {outputs} outputs");
        let parallel = conversation_of(Variant::Parallel, 10_000);
        let longest = parallel.chunk_by(|one, two| is_call(one) && is_call(two)).map(<[Spec]>::len).max();
        assert_eq!(longest, Some(8));
    }

    #[test]
    fn the_world_state_has_120_strings() {
        assert_eq!(world_state().iter().map(|(_, fields)| fields.len()).sum::<usize>(), 120);
    }
}
