//! The settings of a turn are kept as they stand.

use context_fragments::{ApprovalPolicy, Error, Permissions, SandboxMode, TurnContextItem};
use insta::assert_snapshot;

#[test]
fn settings_are_written_in_the_published_order() {
    let permissions = Permissions::new(SandboxMode::WorkspaceWrite, ApprovalPolicy::OnRequest).with_writable_root("/r");
    let turn = TurnContextItem::builder("/r", "m1", &permissions)
        .effort("high")
        .timezone("UTC")
        .current_date("2026-10-20")
        .turn_id("t1")
        .build();
    assert_snapshot!(turn.as_str(), @r#"{"turn_id":"t1","cwd":"/r","current_date":"2026-10-20","timezone":"UTC","approval_policy":"on-request","sandbox_policy":{"type":"workspace-write","writable_roots":["/r"],"network_access":false},"model":"m1","effort":"high"}"#);
    let read = (turn.turn_id(), turn.cwd(), turn.model(), turn.current_date(), turn.timezone(), turn.effort());
    let want = ["t1", "/r", "m1", "2026-10-20", "UTC", "high"].map(|text| Some(text.into()));
    assert_eq!([read.0, read.1, read.2, read.3, read.4, read.5], want);
    assert_eq!(turn.sandbox_mode().unwrap().parse::<SandboxMode>().unwrap(), SandboxMode::WorkspaceWrite);
    assert_eq!(turn.approval_policy().unwrap().parse::<ApprovalPolicy>().unwrap(), ApprovalPolicy::OnRequest);
}

#[test]
fn settings_of_another_version_are_kept_and_compared_by_their_bytes() {
    let text = r#"{"turn_id":null,"model":"m","offload_ever_used":false,"approval_policy":"on-full-moon","n":1e2,"summary":"auto"}"#;
    let turn = TurnContextItem::parse(text.as_bytes()).unwrap();
    assert_eq!(turn.as_str(), text);
    assert_eq!(serde_json::to_string(&turn).unwrap(), text);
    assert_eq!(serde_json::from_str::<TurnContextItem>(&format!(" {text}\n")).unwrap(), turn);
    assert_eq!((turn.turn_id(), turn.sandbox_mode()), (None, None));
    assert_ne!(TurnContextItem::parse(text.replace("1e2", "100").as_bytes()).unwrap(), turn);
}

#[test]
fn words_and_settings_that_are_not_known_are_refused_by_name() {
    let refused = TurnContextItem::parse(b"[]").unwrap_err();
    assert_eq!(refused.to_string(), "turn context: expected an object, found an array");
    let word: Error = "yolo".parse::<SandboxMode>().unwrap_err();
    assert_eq!(
        word.to_string(),
        "unknown sandbox mode `yolo`, expected one of read-only, workspace-write, danger-full-access"
    );
    let word: Error = "Never".parse::<ApprovalPolicy>().unwrap_err();
    assert_eq!(
        word.to_string(),
        "unknown approval policy `Never`, expected one of untrusted, on-failure, on-request, never"
    );
    for mode in SandboxMode::ALL {
        assert_eq!(serde_json::to_string(&mode).unwrap(), format!("\"{mode}\""));
    }
    for policy in ApprovalPolicy::ALL {
        assert_eq!(serde_json::to_string(&policy).unwrap(), format!("\"{policy}\""));
    }
}
