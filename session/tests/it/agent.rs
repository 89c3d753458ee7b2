//! The example agent against a server of the streaming wire, in this process.

#[path = "../../examples/agent/client.rs"]
mod client;
#[path = "../../examples/agent/run.rs"]
mod run;
#[path = "../../examples/agent/sse.rs"]
mod sse;
#[path = "../../examples/agent/tools.rs"]
mod tools;

use std::{
    collections::BTreeMap,
    io::{BufRead as _, BufReader, Read as _, Write as _},
    net::{SocketAddr, TcpListener, TcpStream},
    path::Path,
    sync::{Arc, Mutex, mpsc},
    thread::JoinHandle,
    time::Duration,
};

use context_fragments::json::Json;
use context_manager::Proof;

use self::{
    client::Endpoint,
    run::{Agent, StepReport, Told},
    sse::Events,
};
use crate::sample::AT_MS;

/// What the server does with a request.
#[derive(Clone, Debug)]
enum Reply {
    /// Streams these items and says that the answer is complete.
    Whole(Vec<String>),
    /// Streams the first half of that and breaks the connection.
    Broken(Vec<String>),
    /// Answers with an error.
    Refused(u16),
    /// Says nothing until the other side goes away.
    Silent,
}

/// A server on the loopback device that speaks the streaming wire; it ends after `replies`.
struct Server {
    address: SocketAddr,
    bodies: Arc<Mutex<Vec<String>>>,
    thread: JoinHandle<()>,
}

impl Server {
    /// Says on `arrived` that a request to which nothing is answered is there.
    fn start(replies: Vec<Reply>, arrived: mpsc::Sender<()>) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let bodies = Arc::new(Mutex::new(Vec::new()));
        let seen = Arc::clone(&bodies);
        let thread = std::thread::spawn(move || {
            for reply in replies {
                let (mut stream, _) = listener.accept().unwrap();
                stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
                let body = request(&stream);
                let all = {
                    let mut seen = seen.lock().unwrap();
                    seen.push(body);
                    seen.clone()
                };
                answer(&mut stream, &reply, &all, &arrived);
            }
        });
        Self { address, bodies, thread }
    }

    /// Every request, once all replies were given.
    fn bodies(self) -> Vec<String> {
        self.thread.join().unwrap();
        Arc::into_inner(self.bodies).unwrap().into_inner().unwrap()
    }
}

/// Reads one request; gives its body.
fn request(stream: &TcpStream) -> String {
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    assert_eq!(line, "POST /v1/responses HTTP/1.1\r\n");
    let mut length = 0;
    let mut is_authorised = false;
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        let line = line.trim_end().to_ascii_lowercase();
        if line.is_empty() {
            break;
        }
        if let Some(value) = line.strip_prefix("content-length: ") {
            length = value.parse().unwrap();
        }
        is_authorised |= line == "authorization: bearer k";
    }
    assert!(is_authorised);
    let mut body = vec![0; length];
    reader.read_exact(&mut body).unwrap();
    String::from_utf8(body).unwrap()
}

/// The tokens that this provider counts, and those that its cache holds: a whole prefix that was sent before.
fn usage(bodies: &[String]) -> (usize, usize) {
    let (now, before) = bodies.split_last().unwrap();
    let cached = before.iter().filter_map(|body| {
        let prefix = body.strip_suffix("]}").unwrap();
        now.starts_with(prefix).then_some(prefix.len())
    });
    (now.len() / 4, cached.max().unwrap_or(0) / 4)
}

fn answer(stream: &mut TcpStream, reply: &Reply, bodies: &[String], arrived: &mpsc::Sender<()>) {
    let items = match reply {
        Reply::Whole(items) | Reply::Broken(items) => items,
        Reply::Refused(status) => {
            let text = format!("HTTP/1.1 {status} No\r\ncontent-length: 2\r\nconnection: close\r\n\r\nno");
            // A client that was dropped meanwhile has nobody who reads it.
            drop(stream.write_all(text.as_bytes()));
            return;
        }
        Reply::Silent => {
            arrived.send(()).unwrap();
            let mut byte = [0];
            assert_eq!(stream.read(&mut byte).unwrap_or(0), 0, "the client says more than one request");
            return;
        }
    };
    let (input, cached) = usage(bodies);
    let mut events = vec![r#"{"type":"response.created","response":{}}"#.to_owned()];
    events.extend(items.iter().map(|item| format!(r#"{{"type":"response.output_item.done","item":{item}}}"#)));
    events.push(format!(
        r#"{{"type":"response.completed","response":{{"usage":{{"input_tokens":{input},"input_tokens_details":{{"cached_tokens":{cached}}},"output_tokens":9}}}}}}"#
    ));
    let text: String = events.iter().map(|data| format!("event: x\r\ndata: {data}\r\n\r\n")).collect();
    let head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\nconnection: close\r\n\r\n";
    if stream.write_all(head).is_err() {
        return;
    }
    let end = if matches!(reply, Reply::Broken(_)) { text.len() / 2 } else { text.len() };
    let mut body = Vec::new();
    for piece in text.as_bytes()[..end].chunks(37) {
        body.extend(format!("{:x}\r\n", piece.len()).bytes());
        body.extend_from_slice(piece);
        body.extend(b"\r\n");
    }
    if end == text.len() {
        body.extend(b"0\r\n\r\n");
    }
    for piece in body.chunks(53) {
        // A client that has read the last event may go before the end of the body.
        if stream.write_all(piece).is_err() {
            break;
        }
    }
}

fn agent(address: SocketAddr, root: &Path) -> Agent {
    Agent {
        endpoint: Endpoint {
            base_url: format!("http://{address}/v1/"),
            model: "m1".into(),
            key: Some("k".into()),
            attempts: 3,
            pause: Duration::from_millis(1),
        },
        session: root.join("session"),
        cwd: root.join("app"),
        now_ms: AT_MS,
        max_steps: 100,
    }
}

fn project() -> tempfile::TempDir {
    let root = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(root.path().join("app/.git")).unwrap();
    std::fs::write(root.path().join("app/AGENTS.md"), "Use tabs.").unwrap();
    std::fs::write(root.path().join("app/main.rs"), "fn main() {}").unwrap();
    root
}

fn read_call(id: usize) -> String {
    format!(
        r#"{{"type":"function_call","id":"fc_{id}","status":"completed","name":"read_file","arguments":"{{\"path\":\"main.rs\"}}","call_id":"c{id}"}}"#
    )
}

fn run_call(id: usize) -> String {
    format!(
        r#"{{"id":"fc_{id}","type":"function_call","name":"run_command","call_id":"c{id}","arguments":"{{\"command\":\"echo {id}; exit 3\"}}"}}"#
    )
}

fn said(text: &str) -> String {
    format!(
        r#"{{"type":"message","id":"msg_{text}","role":"assistant","content":[{{"type":"output_text","text":"{text}","annotations":[]}}]}}"#
    )
}

/// Each output follows its call, once, before anybody else speaks; the context stands before the first question.
#[track_caller]
fn check_request(body: &str) {
    let request = Json::parse(body).unwrap();
    assert_eq!(request.member("model").unwrap().as_raw(), "\"m1\"");
    assert_eq!(request.member("stream").unwrap().as_raw(), "true");
    assert!(request.member("tools").unwrap().elements().count() == 2);
    let mut open: BTreeMap<String, usize> = BTreeMap::new();
    let mut roles = Vec::new();
    for item in request.member("input").unwrap().elements() {
        let text = |key: &str| item.member(key).and_then(Json::to_str).unwrap_or_default().into_owned();
        match text("type").as_str() {
            "function_call" => assert_eq!(open.insert(text("call_id"), 0), None, "{body}"),
            "function_call_output" => {
                let answered = open.get_mut(&text("call_id")).unwrap();
                *answered += 1;
                assert_eq!(*answered, 1, "{body}");
            }
            "message" => {
                assert!(
                    open.values().all(|answered| *answered == 1),
                    "a message between a call and its output: {body}"
                );
                roles.push(text("role"));
            }
            other => panic!("{other}"),
        }
    }
    assert!(open.values().all(|answered| *answered == 1), "{body}");
    assert_eq!(roles[..3], ["developer", "user", "user"]);
}

/// Each request is checked, and is the one before or goes on from it, byte for byte.
#[track_caller]
fn check_requests(bodies: &[String]) {
    for body in bodies {
        check_request(body);
    }
    for pair in bodies.windows(2) {
        let start = pair[0].strip_suffix("]}").unwrap();
        assert!(pair[1].starts_with(start), "{}\ndoes not extend\n{}", pair[1], pair[0]);
    }
}

#[derive(Default)]
struct Heard {
    steps: Vec<StepReport>,
    retries: usize,
    failed_tools: usize,
    interrupted: Vec<String>,
}

impl Heard {
    fn take(&mut self, told: Told) {
        match told {
            Told::Step(step) => {
                self.steps.push(step);
            }
            Told::Retry(failure) => {
                assert!(matches!(failure, client::Failure::Passing(_)), "{failure}");
                self.retries += 1;
            }
            Told::Tool { name, success } => {
                assert!(name == "read_file" || name == "run_command");
                self.failed_tools += usize::from(!success);
            }
            Told::Interrupted(turn) => self.interrupted.push(turn),
        }
    }
}

#[tokio::test]
async fn fifty_steps_of_the_agent_extend_each_other_through_broken_connections_and_a_resume() {
    let root = project();
    let mut replies = Vec::new();
    let calls = |step: usize| match step % 3 {
        0 => vec![read_call(step)],
        1 => vec![run_call(step)],
        _ => vec![said(&format!("s{step}")), read_call(step), run_call(1_000 + step)],
    };
    for step in 0..49 {
        if step == 24 {
            replies.push(Reply::Whole(vec![said("half")]));
        }
        match step % 10 {
            3 => replies.push(Reply::Broken(calls(step))),
            6 => replies.extend([Reply::Refused(503), Reply::Broken(calls(step))]),
            _ => {}
        }
        replies.push(Reply::Whole(calls(step)));
    }
    replies.push(Reply::Whole(vec![said("done")]));
    let n_requests = replies.len();
    let server = Server::start(replies, mpsc::channel().0);

    let mut heard = Heard::default();
    let first = agent(server.address, root.path());
    assert_eq!(first.ask("what is here?", |told| heard.take(told)).await.unwrap(), "half");
    // Another process would do the same: everything comes out of the log.
    let second = agent(server.address, root.path());
    assert_eq!(second.ask("and what else?", |told| heard.take(told)).await.unwrap(), "done");

    let bodies = server.bodies();
    assert_eq!(bodies.len(), n_requests);
    check_requests(&bodies);
    assert_eq!((heard.steps.len(), heard.retries), (51, 15));
    assert!(heard.failed_tools > 20 && heard.interrupted.is_empty());
    assert!(matches!(heard.steps[0].proof, Proof::First));
    let extends = heard.steps[1..].iter().all(|step| matches!(step.proof, Proof::Extends { .. }));
    assert!(extends, "{:#?}", heard.steps);
    for step in &heard.steps[1..] {
        let (input, cached) = (step.usage.input_tokens.unwrap(), step.usage.cache_read_tokens.unwrap());
        assert!(cached > 0 && cached <= input, "{step}"); // a request that is sent again is all in the cache
    }
    let line = heard.steps[1].to_string();
    assert!(line.starts_with("turn-1: 5 items, extends the one before: 3 kept, 2 new; "), "{line}");
    assert!(line.ends_with("input tokens from the cache"), "{line}");
}

#[tokio::test]
async fn the_agent_goes_on_after_it_was_killed_and_after_the_provider_failed() {
    let root = project();
    let (arrived, arrivals) = mpsc::channel();
    let replies = vec![
        Reply::Whole(vec![read_call(1)]),
        Reply::Silent,
        // The second question, asked by another process.
        Reply::Whole(vec![run_call(2)]),
        Reply::Refused(401),
        // The third one.
        Reply::Whole(vec![said("done")]),
    ];
    let server = Server::start(replies, arrived);
    let mut heard = Heard::default();
    {
        let agent = agent(server.address, root.path());
        let asked = agent.ask("one", |told| heard.take(told));
        let arrival = tokio::task::spawn_blocking(move || arrivals.recv_timeout(Duration::from_secs(20)));
        tokio::select! {
            answered = asked => panic!("{answered:?}"),
            arrived = arrival => arrived.unwrap().unwrap(),
        }
    }
    let second = agent(server.address, root.path());
    let error = second.ask("two", |told| heard.take(told)).await.unwrap_err();
    assert!(error.to_string().starts_with("the provider answered 401"), "{error}");
    let third = agent(server.address, root.path());
    assert_eq!(third.ask("three", |told| heard.take(told)).await.unwrap(), "done");
    assert_eq!(heard.interrupted, ["turn-1"]);
    let bodies = server.bodies();
    check_requests(&bodies);
    assert_eq!(bodies[2].matches("<turn_aborted>").count(), 1);
    assert_eq!(bodies[4].matches("<turn_aborted>").count(), 2);
}

#[test]
fn events_are_cut_at_any_byte() {
    let text = ": hello\r\nevent: x\r\ndata: {\"a\":1}\r\n\r\ndata:two\ndata: lines\n\n\rdata: \u{e9}\r\r";
    for size in 1..text.len() {
        let mut events = Events::default();
        let got: Vec<String> = text.as_bytes().chunks(size).flat_map(|piece| events.push(piece)).collect();
        assert_eq!(got, ["{\"a\":1}", "two\nlines", "\u{e9}"], "{size}");
    }
}
