//! What tools may do.

use std::collections::BTreeSet;
use std::sync::Arc;

use context_fragments::{ApprovalPolicy, ContextItem, FragmentRole, Kind, Permissions, RetainedKinds, SandboxMode};
use proptest::prelude::*;
use serde_json::json;
use world_state::*;

use crate::{history, said, stored, world_of};

const READ_ONLY: &str = "<permissions instructions>\nRead only.\n</permissions instructions>";

fn read_only() -> PermissionsState {
    PermissionsState::new("Read only.")
}

#[test]
fn an_approval_is_one_line_and_a_removal_is_all_of_it() {
    let held = history(&[Kind::PERMISSIONS]);
    let mut world = world_of(read_only());
    let plain = world.render_full().unwrap();
    assert_eq!(said(&plain), [("permissions", READ_ONLY)]);

    world.set(read_only().with_approved_prefix(["touch", "allow-prefix.txt"])).unwrap();
    let first = world.render_diff(Some(&plain.snapshot), &held).unwrap();
    assert_eq!(said(&first), [("permissions", "Approved command prefix saved:\n- [\"touch\", \"allow-prefix.txt\"]")]);
    assert_eq!(first.updates[0].content().kind(), Some(Kind::APPROVED_COMMAND_PREFIXES));
    assert_ne!(first.snapshot, plain.snapshot);

    let both =
        read_only().with_approved_prefix(["touch", "allow-prefix.txt"]).with_approved_prefix(["git", "say \"x\""]);
    world.set(both).unwrap();
    let second = world.render_diff(Some(&first.snapshot), &held).unwrap();
    assert_eq!(said(&second), [("permissions", "Approved command prefix saved:\n- [\"git\", \"say \\\"x\\\"\"]")]);
    assert_eq!(world.render_diff(Some(&second.snapshot), &held).unwrap().updates, []);

    world.set(read_only().with_approved_prefix(["touch", "allow-prefix.txt"])).unwrap();
    let removed = world.render_diff(Some(&second.snapshot), &held).unwrap();
    insta::assert_snapshot!(said(&removed)[0].1, @r#"
    <permissions instructions>
    Read only.

    Commands that start with these words are approved:
    - ["touch", "allow-prefix.txt"]
    </permissions instructions>
    "#);
}

#[test]
fn approvals_do_not_change_the_hash_of_the_text() {
    let hash = WorldStateHash::of_fragment(FragmentRole::Developer, READ_ONLY);
    let approved = Arc::new(BTreeSet::from([vec!["rg".to_owned()], vec!["git".to_owned(), "pull".to_owned()]]));
    let diff = world_of(read_only().with_approved_prefixes(approved)).render_full().unwrap();
    let want = json!({"instructions": hash, "approved_command_prefixes": [["git", "pull"], ["rg"]]});
    assert_eq!(diff.snapshot, stored(json!({ "permissions": want })));
}

#[test]
fn a_hash_of_an_older_log_is_read_and_replaced() {
    let held = history(&[Kind::PERMISSIONS]);
    let state = read_only().with_approved_prefix(["rg"]);
    let block = world_of(state.clone()).render_full().unwrap();
    let hash = WorldStateHash::of_fragment(FragmentRole::Developer, block.updates[0].text().unwrap());
    let equal = world_of(state.clone()).render_diff(Some(&stored(json!({"permissions": hash}))), &held).unwrap();
    assert_eq!(said(&equal), []);
    assert_eq!(equal.snapshot, block.snapshot);
    let stale = WorldStateHash::of_json(&json!(0));
    let stale = world_of(state).render_diff(Some(&stored(json!({"permissions": stale}))), &held).unwrap();
    assert_eq!(stale.updates, block.updates);
}

#[test]
fn a_part_of_a_bundled_message_counts_as_retained() {
    let mut world = world_of(read_only());
    world.set(CollaborationModeState::new("plan", "m1").with_instructions("Ask first.")).unwrap();
    let diff = world.render_full().unwrap();
    let items: Vec<ContextItem> = initial_context(diff.updates);
    assert_eq!(items.len(), 1);
    let held: RetainedKinds = items[0].kinds().iter().collect();
    assert_eq!(world.render_diff(Some(&diff.snapshot), &held).unwrap().updates, []);
    // Without it, once; and with it but no state, once.
    assert_eq!(
        said(&world.render_diff(Some(&diff.snapshot), &history(&[Kind::COLLABORATION_MODE])).unwrap()),
        [("permissions", READ_ONLY)]
    );
    let unknown = world_of(read_only()).render_diff(None, &held).unwrap();
    assert_eq!(said(&unknown), [("permissions", READ_ONLY)]);
}

#[test]
fn w06_words_come_from_the_roots_in_force() {
    let permissions =
        Permissions::new(SandboxMode::WorkspaceWrite, ApprovalPolicy::Never).with_writable_root("/shared");
    let mut world = world_of(PermissionsState::from(&permissions));
    let filesystem = FileSystemAccess::new(&permissions).with_workspace_root("/r");
    world
        .set(EnvironmentsState::new().with_environment("local", Environment::new("/r")).with_filesystem(&filesystem))
        .unwrap();
    let diff = world.render_full().unwrap();
    insta::assert_snapshot!(said(&diff)[0].1, @"
    <permissions instructions>
    Sandbox mode: workspace-write. Files can be read; writing works only below `/shared`. The network cannot be used.
    Approval policy: never. The user is never asked: work with what the sandbox allows.
    </permissions instructions>
    ");
    insta::assert_snapshot!(said(&diff)[1].1, @r#"
    <environment_context>
      <cwd>/r</cwd>
      <filesystem><workspace_roots><root>/r</root></workspace_roots><permission_profile type="managed"><file_system type="restricted"><writable>/shared</writable></file_system></permission_profile></filesystem>
    </environment_context>
    "#);

    // Nothing is writable under these two, whatever was wished for.
    for permissions in [
        Permissions::new(SandboxMode::ReadOnly, ApprovalPolicy::Never).with_writable_root("/r"),
        Permissions::new(SandboxMode::WorkspaceWrite, ApprovalPolicy::Never),
    ] {
        let xml = FileSystemAccess::new(&permissions).to_xml();
        assert!(xml.contains(r#"<file_system type="read-only" />"#) && !xml.contains("writable"), "{xml}");
    }
}

fn any_permissions() -> impl Strategy<Value = Permissions> {
    let parts = (0..SandboxMode::ALL.len(), 0..ApprovalPolicy::ALL.len(), 0..3_usize);
    (parts, any::<bool>(), any::<bool>()).prop_map(|((sandbox, approval, n_roots), has_network, has_cause)| {
        let mut permissions = Permissions::new(SandboxMode::ALL[sandbox], ApprovalPolicy::ALL[approval]);
        for root in 0..n_roots {
            permissions = permissions.with_writable_root(format!("/root{root}"));
        }
        if has_network {
            permissions = permissions.with_network();
        }
        if has_cause { permissions.because("The folder is not trusted.") } else { permissions }
    })
}

proptest! {
    #[test]
    fn nothing_is_claimed_that_is_not_granted(permissions in any_permissions()) {
        let mut world = world_of(PermissionsState::from(&permissions));
        world.set(EnvironmentsState::new().with_permissions(&permissions)).unwrap();
        let diff = world.render_full().unwrap();
        let texts = said(&diff);
        let (words, xml) = (texts[0].1, texts[1].1);
        let is_unrestricted = permissions.sandbox == SandboxMode::DangerFullAccess;
        let grants_roots = permissions.sandbox == SandboxMode::WorkspaceWrite && !permissions.writable_roots.is_empty();
        prop_assert_eq!(permissions.grants_writing(), is_unrestricted || grants_roots);
        prop_assert_eq!(words.contains("Nothing can be written"), !permissions.grants_writing());
        prop_assert_eq!(words.contains("all files can be read and written"), is_unrestricted);
        prop_assert_eq!(xml.contains(r#"type="unrestricted""#), is_unrestricted);
        for root in &permissions.writable_roots {
            prop_assert_eq!(words.contains(root.as_str()), grants_roots);
            let writable = format!("<writable>{root}</writable>");
            prop_assert_eq!(xml.contains(&writable), grants_roots);
        }
        let has_network = permissions.network_enabled || is_unrestricted;
        prop_assert_eq!(words.contains("The network can be used"), has_network);
        prop_assert_eq!(xml.contains(r#"<network enabled="true""#), has_network);
        prop_assert_eq!(words.contains("Cause: The folder is not trusted."), permissions.cause.is_some());
        let n_causes = if permissions.cause.is_some() { 2 } else { 0 };
        prop_assert_eq!(xml.matches("<cause>The folder is not trusted.</cause>").count(), n_causes);
    }
}

/// The kind of a content part.
trait KindOf {
    fn kind(&self) -> Option<Kind>;
}

impl KindOf for UpdateContent {
    fn kind(&self) -> Option<Kind> {
        match self {
            Self::Fragment(fragment) => Some(fragment.kind().clone()),
            Self::Item(_) => None,
        }
    }
}
