//! One request to the model, streamed.

use std::{error::Error, fmt, time::Duration};

use context_fragments::{
    WireItem,
    json::{self, Json},
};
use context_manager::{PartName, Prompt};

use super::sse::Events;

/// Where the model is.
#[derive(Clone, Debug)]
pub(crate) struct Endpoint {
    /// The address up to and without `/responses`.
    pub(crate) base_url: String,
    pub(crate) model: String,
    pub(crate) key: Option<String>,
    /// How often one request is sent at most.
    pub(crate) attempts: u32,
    /// How long to wait before the second attempt; twice as long before each later one.
    pub(crate) pause: Duration,
}

/// What the model answered to one request.
#[derive(Debug, Default)]
pub(crate) struct Answer {
    pub(crate) items: Vec<WireItem>,
    /// What the request took, as the provider says it.
    pub(crate) usage: Option<String>,
}

/// Why there is no answer.
#[derive(Debug)]
pub(crate) enum Failure {
    /// The same request may be sent again: nothing of it was answered, or only a part.
    Passing(String),
    /// Another attempt would end the same way.
    Final(String),
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (Self::Passing(words) | Self::Final(words)) = self;
        f.write_str(words)
    }
}

impl Error for Failure {}

/// The body of a request. What changes from step to step stands last, so that a body begins as the one before it.
pub(crate) fn body(model: &str, prompt: &Prompt) -> Vec<u8> {
    let parts = prompt.parts();
    let mut head = String::from("{\"model\":");
    json::push_string(&mut head, model);
    head.push_str(",\"instructions\":");
    json::push_string(&mut head, parts.text(PartName::Base));
    head.push_str(",\"tools\":");
    head.push_str(parts.text(PartName::Tools));
    for (key, value) in Json::parse(parts.text(PartName::Parameters)).into_iter().flat_map(Json::members) {
        head.push(',');
        head.push_str(key.as_raw());
        head.push(':');
        head.push_str(value.as_raw());
    }
    head.push_str(",\"stream\":true,\"input\":");
    let mut body = head.into_bytes();
    for chunk in prompt.body() {
        body.extend_from_slice(&chunk);
    }
    body.push(b'}');
    body
}

/// Sends `body` and reads the stream to its end.
///
/// Items count only once the model says that its answer is complete: half an answer is no answer, and the same request is
/// sent again instead.
pub(crate) async fn send(client: &reqwest::Client, endpoint: &Endpoint, body: Vec<u8>) -> Result<Answer, Failure> {
    let passing = |error: reqwest::Error| Failure::Passing(words_of(&error));
    let url = format!("{}/responses", endpoint.base_url.trim_end_matches('/'));
    let mut request = client.post(url).header("content-type", "application/json").header("accept", "text/event-stream");
    if let Some(key) = &endpoint.key {
        request = request.bearer_auth(key);
    }
    let mut response = request.body(body).send().await.map_err(passing)?;
    let status = response.status();
    if !status.is_success() {
        let text = response.text().await.unwrap_or_default();
        let words = format!("the provider answered {status}: {}", text.chars().take(300).collect::<String>());
        let may_pass = status.is_server_error() || status.as_u16() == 429 || status.as_u16() == 408;
        return Err(if may_pass { Failure::Passing(words) } else { Failure::Final(words) });
    }
    let mut events = Events::default();
    let mut answer = Answer::default();
    while let Some(piece) = response.chunk().await.map_err(passing)? {
        for data in events.push(&piece) {
            if take(&data, &mut answer)? {
                return Ok(answer);
            }
        }
    }
    Err(Failure::Passing("the stream ended before the answer did".into()))
}

/// Takes one event; says whether it was the last one.
fn take(data: &str, answer: &mut Answer) -> Result<bool, Failure> {
    if data == "[DONE]" {
        return Ok(false);
    }
    let event = Json::parse(data).map_err(|error| Failure::Passing(format!("an event is no JSON: {error}")))?;
    let kind = event.member("type").and_then(Json::to_str).unwrap_or_default();
    match kind.as_ref() {
        "response.output_item.done" => {
            let item = event.member("item").ok_or_else(|| Failure::Final("an item event without an item".into()))?;
            // The item's own bytes are kept: the next request sends exactly these.
            let item = WireItem::from_json(item).map_err(|error| Failure::Final(error.to_string()))?;
            answer.items.push(item);
            Ok(false)
        }
        "response.completed" | "response.incomplete" => {
            let usage = event.member("response").and_then(|response| response.member("usage"));
            answer.usage = usage.filter(|usage| !usage.is_null()).map(|usage| usage.as_raw().to_owned());
            Ok(true)
        }
        "response.failed" | "error" => {
            let error = event.member("response").and_then(|response| response.member("error")).unwrap_or(event);
            Err(Failure::Passing(format!("the model failed: {}", error.as_raw())))
        }
        _ => Ok(false),
    }
}

/// An error with its causes, which say what it is about.
fn words_of(error: &dyn Error) -> String {
    let mut words = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        words.push_str(": ");
        words.push_str(&source.to_string());
        cause = source.source();
    }
    words
}
