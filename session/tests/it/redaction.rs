//! Secrets in what is recorded and in what is given away.

use std::borrow::Cow;

use context_fragments::WireItem;
use session::{
    NewSession, Redactor as _, SecretPatterns, Session, ToolResult, UserInput,
    rollout::{Owner, RolloutItem, SessionFolder, export_redacted, fsck},
};

use crate::{
    sample::{AT_MS, file_bytes, read},
    stage::{Disk, call, options, send, simple_turn},
};

const AWS: &str = "AKIAIOSFODNN7EXAMPLE";

#[track_caller]
fn check(text: &str, want: &str) {
    assert_eq!(SecretPatterns.redact(text), want);
    // What was redacted once stays as it is.
    assert!(matches!(SecretPatterns.redact(want), Cow::Borrowed(_)), "{want}");
}

#[test]
fn s20_secrets_are_found_by_their_shape() {
    check("key AKIAIOSFODNN7EXAMPLE.", "key [redacted: AWS access key].");
    check(
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "aws_secret_access_key = [redacted: AWS secret key]",
    );
    check(&format!("x ghp_{} y", "a1".repeat(18)), "x [redacted: GitHub token] y");
    check(&format!("KEY=sk-{}", "a1".repeat(24)), "KEY=[redacted: provider key]");
    check("postgres://app:s3cret@db.example/x", "postgres://app:[redacted: password]@db.example/x");
    let key = "-----BEGIN RSA PRIVATE KEY-----\nMIIE\nabcd\n-----END RSA PRIVATE KEY-----\n";
    check(&format!("a\n{key}b"), "a\n[redacted: private key]\nb");
    for harmless in [
        "AKIA",
        "AKIAIOSFODNN7EXAMPLEX",
        "xAKIAIOSFODNN7EXAMPLE",
        "a sk-etch",
        "https://a.example/@user:x",
        "mail me@a.example",
        "-----BEGIN CERTIFICATE-----\nMIIE\n-----END CERTIFICATE-----",
        "ghp_short",
        "aws_secret_access_key",
        "✓ ünïcode 🎉",
    ] {
        assert!(matches!(SecretPatterns.redact(harmless), Cow::Borrowed(_)), "{harmless}");
    }
}

/// A reasoning item whose encrypted part and signature happen to look like a key.
fn reasoning() -> WireItem {
    let item = format!(
        r#"{{"type":"reasoning","id":"rs_{AWS}","summary":[{{"type":"summary_text","text":"use {AWS}"}}],"encrypted_content":"{AWS}","signature":"{AWS}"}}"#
    );
    WireItem::parse(item.as_bytes()).unwrap()
}

async fn talked(folder: &SessionFolder, redacts: bool) -> Session {
    let mut options = options(&Disk::project("Use tabs."));
    if redacts {
        options = options.with_redaction(SecretPatterns);
    }
    let session = Session::create(folder, NewSession::new("s1"), options).await.unwrap();
    let turn = session.begin_turn(UserInput::text(format!("my key is {AWS}"))).unwrap();
    send(&turn).await;
    turn.record([reasoning(), call("c1")]).await.unwrap();
    let open = turn.open_calls();
    let long = format!("{AWS}\n{}", "line\n".repeat(20_000));
    turn.record_output(&open[0], ToolResult::text(long)).await.unwrap();
    send(&turn).await;
    turn.record([WireItem::assistant_text(&format!("I used \"{AWS}\""))]).await.unwrap();
    turn.finish().await.unwrap();
    session
}

fn count(bytes: &[u8]) -> usize {
    String::from_utf8_lossy(bytes).matches(AWS).count()
}

#[tokio::test]
async fn s20_what_is_recorded_is_redacted_and_model_and_log_agree() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    let session = talked(&folder, true).await;
    let sent = session.preview().input_json();
    // The encrypted part, the signature and the id of the reasoning, and nothing else.
    assert_eq!(sent.matches(AWS).count(), 3, "{sent}");
    assert_eq!(count(&file_bytes(&folder.log_path())), 3);
    for blob in std::fs::read_dir(folder.blobs_path()).unwrap() {
        assert_eq!(count(&file_bytes(&blob.unwrap().path())), 0, "nor in the whole of the output");
    }
    session.close().await.unwrap();
    let resumed = Session::resume(&folder, options(&Disk::project("Use tabs."))).await.unwrap();
    assert_eq!(resumed.session.preview().input_json(), sent);
}

#[tokio::test]
async fn s20_an_export_is_redacted_and_signatures_are_byte_for_byte() {
    let root = tempfile::tempdir().unwrap();
    let folder = SessionFolder::new(root.path().join("s1"));
    talked(&folder, false).await.close().await.unwrap();
    let before = file_bytes(&folder.log_path());
    assert!(count(&before) > 5);

    let to = SessionFolder::new(root.path().join("out"));
    let owner = Owner::this_process("here", AT_MS);
    let exported = export_redacted(folder.path(), &to, &owner, &SecretPatterns, &mut |_| ()).unwrap();
    assert!(exported.report.is_clean());
    assert_eq!((exported.redacted, exported.sent_left_out), (4, 2));
    assert_eq!(file_bytes(&folder.log_path()), before);
    assert!(fsck(to.path(), &mut |_| ()).unwrap().is_sound());
    assert_eq!(count(&file_bytes(&to.log_path())), 3);
    let mut n_blobs = 0;
    for blob in std::fs::read_dir(to.blobs_path()).unwrap() {
        n_blobs += 1;
        assert_eq!(count(&file_bytes(&blob.unwrap().path())), 0);
    }
    assert!(n_blobs > 0, "the whole of the output is still there");
    let (lines, _) = read(&file_bytes(&to.log_path()));
    let items: Vec<_> = lines
        .iter()
        .filter_map(|line| match line.decode().unwrap().item {
            RolloutItem::Item(item) if item.as_str().contains("reasoning") => Some(item),
            _ => None,
        })
        .collect();
    let [item] = items.as_slice() else { panic!("{items:?}") };
    assert_eq!(item.as_str(), reasoning().as_str().replace(&format!("use {AWS}"), "use [redacted: AWS access key]"));

    // It is a session like any other.
    let resumed = Session::resume(&to, options(&Disk::project("Use tabs."))).await.unwrap();
    simple_turn(&resumed.session, "go on", "1").await;
    let again = export_redacted(to.path(), &to, &owner, &SecretPatterns, &mut |_| ());
    assert!(again.unwrap_err().is_busy());
}
