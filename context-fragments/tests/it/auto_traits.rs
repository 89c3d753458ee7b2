//! What hosts may do with the public types across threads.

use context_fragments::{
    AnnotatedPart, ApprovalPolicy, ApprovedCommandPrefixes, Bound, Classification, CollaborationModeInstructions,
    ContextItem, ContextualUserFragment, EnvironmentContext, Error, FragmentEntry, Kind, Limit, Markers,
    ModelSwitchInstructions, Permissions, PermissionsInstructions, RenderedFragment, ResponseItem, RetainedKinds,
    SandboxMode, TurnContextItem, UserInstructions, Visible, WireItem, json::Json,
};

fn shared<T: Send + Sync + ?Sized>() {}

#[test]
fn public_types_are_send_and_sync() {
    shared::<WireItem>();
    shared::<ResponseItem<'_>>();
    shared::<ContextItem>();
    shared::<Kind>();
    shared::<RetainedKinds>();
    shared::<TurnContextItem>();
    shared::<Json<'_>>();
    shared::<RenderedFragment>();
    shared::<(Bound, Limit, Markers<'_>, Error)>();
    shared::<(SandboxMode, ApprovalPolicy, Permissions)>();
    shared::<(UserInstructions, EnvironmentContext, PermissionsInstructions, ApprovedCommandPrefixes)>();
    shared::<(ModelSwitchInstructions, CollaborationModeInstructions)>();
    shared::<(AnnotatedPart, Classification, FragmentEntry, Visible)>();
}

#[test]
fn the_fragment_trait_is_object_safe() {
    shared::<dyn ContextualUserFragment>();
    let fragments: [Box<dyn ContextualUserFragment>; 2] =
        [Box::new(UserInstructions::new(None, "a")), Box::new(EnvironmentContext::new("\n"))];
    let texts: Vec<_> = fragments.iter().map(|fragment| fragment.render().unwrap().text().len()).collect();
    assert_eq!(texts, [58, 44]);
}

#[test]
fn a_handle_is_one_word() {
    assert_eq!(size_of::<WireItem>(), size_of::<usize>());
}
