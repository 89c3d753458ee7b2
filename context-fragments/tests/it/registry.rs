//! The table of fragments: everything in it holds for a sample of each.

use std::time::Duration;

use context_fragments::*;

/// One of each type, by its name.
fn samples() -> Vec<(&'static str, Box<dyn ContextualUserFragment>)> {
    vec![
        ("UserInstructions", Box::new(UserInstructions::new(Some("/r".into()), "P"))),
        ("NestedInstructions", Box::new(NestedInstructions::new("/r/app", "N"))),
        ("InstructionChanges", Box::new(InstructionChanges::new("@@ -1,1 +1,1 @@\n-P\n+Q"))),
        ("EnvironmentContext", Box::new(EnvironmentContext::new("\n  <cwd>/r</cwd>\n"))),
        ("AdditionalContextUser", Box::new(AdditionalContextUser::new("open tab", "main.rs > x"))),
        ("AgentMessageBoardNotification", Box::new(AgentMessageBoardNotification::new("One new message."))),
        ("SkillInstructions", Box::new(SkillInstructions::new("review", "/s/SKILL.md", "Read twice."))),
        ("UserShellCommand", Box::new(UserShellCommand::new("ls", 1, Duration::from_millis(1_234), "no"))),
        ("TurnAborted", Box::new(TurnAborted::new("Stopped."))),
        ("SubagentNotification", Box::new(SubagentNotification::new("/root/a", "\"running\"").unwrap())),
        ("InternalModelContext", Box::new(InternalModelContext::new("extension", "Ship it.").unwrap())),
        ("HookPrompt", Box::new(HookPrompt::new("run-1", "a < \"b\" & c"))),
        ("PermissionsInstructions", Box::new(PermissionsInstructions::new("Read only."))),
        ("ApprovedCommandPrefixes", Box::new(ApprovedCommandPrefixes::new([["git", "pull"]]))),
        ("NetworkRuleSaved", Box::new(NetworkRuleSaved::Allowed("example.org".into()))),
        ("ModelSwitchInstructions", Box::new(ModelSwitchInstructions::new("Be brief."))),
        ("CollaborationModeInstructions", Box::new(CollaborationModeInstructions::new("Plan first."))),
        ("RealtimeStart", Box::new(RealtimeStart::new("The user speaks."))),
        ("RealtimeEnd", Box::new(RealtimeEnd::new("The user types.", "inactive"))),
        ("PersonalitySpec", Box::new(PersonalitySpec::new("Friendly."))),
        ("AppsInstructions", Box::new(AppsInstructions::new("Ask before you use an app."))),
        ("PluginsInstructions", Box::new(PluginsInstructions::new("Read the plugin first."))),
        ("PluginInstructions", Box::new(PluginInstructions::new("This plugin draws."))),
        ("RecommendedPlugins", Box::new(RecommendedPlugins::new("draw"))),
        ("AvailableSkills", Box::new(AvailableSkills::new("review: reads twice"))),
        ("EnvironmentsInstructions", Box::new(EnvironmentsInstructions::new("Name the environment."))),
        ("MultiAgentModeInstructions", Box::new(MultiAgentModeInstructions::new("Call in others."))),
        ("MultiAgentRole", Box::new(MultiAgentRole::new("You review."))),
        ("ManagedDeveloperInstructions", Box::new(ManagedDeveloperInstructions::new("Nothing leaves."))),
        ("PersistentModeInstructions", Box::new(PersistentModeInstructions::new("Go on alone."))),
        ("ContextWindowGuidance", Box::new(ContextWindowGuidance::new("Keep it short."))),
        ("TokenBudgetNotice", Box::new(TokenBudgetNotice::new("9,000 tokens are left."))),
        ("RolloutBudgetNotice", Box::new(RolloutBudgetNotice::new("Half is left."))),
        ("CurrentTimeReminder", Box::new(CurrentTimeReminder::new("It is noon."))),
        ("IncrementalToolsUpdate", Box::new(IncrementalToolsUpdate)),
        ("NamespaceInstructions", Box::new(NamespaceInstructions::new("mail", Some("Ask first.".into())))),
        ("RemovedTools", Box::new(RemovedTools::new(["mail".to_owned()], []))),
        ("AdditionalContextDeveloper", Box::new(AdditionalContextDeveloper::new("ci", "green"))),
        ("HookAdditionalContext", Box::new(HookAdditionalContext::new("The hook says hi."))),
        ("DeveloperInstructions", Box::new(DeveloperInstructions::new("Speak plainly."))),
        ("BaseInstructions", Box::new(BaseInstructions::new("You are an agent."))),
        ("ImageGenerationInstructions", Box::new(ImageGenerationInstructions::new("Images lie in /i."))),
    ]
}

/// Those that no text gives away: a host's free words.
const NEVER_RECOGNISED: [&str; 6] = [
    "PluginInstructions",
    "AdditionalContextDeveloper",
    "HookAdditionalContext",
    "DeveloperInstructions",
    "BaseInstructions",
    "ImageGenerationInstructions",
];

#[expect(clippy::disallowed_methods, reason = "a test reads the sources that it counts")]
#[test]
fn the_table_and_the_samples_are_of_the_same_types() {
    let table: Vec<_> = fragment_table().iter().map(|entry| entry.name).collect();
    assert_eq!(table, samples().iter().map(|(name, _)| *name).collect::<Vec<_>>());
    // Every type that implements the trait is in the table.
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/src/fragments");
    for file in std::fs::read_dir(folder).unwrap() {
        let source = std::fs::read_to_string(file.unwrap().path()).unwrap();
        for line in source.lines() {
            let plain = line
                .split_once(", User, Kind::")
                .or(line.split_once(", Developer, Kind::"))
                .map(|(name, _)| name.trim());
            let full = line.strip_prefix("impl ContextualUserFragment for ").map(|rest| rest.trim_end_matches(" {"));
            if let Some(name) = plain.or(full) {
                assert!(table.contains(&name), "{name} is not in the table");
            }
        }
    }
}

#[test]
fn every_entry_says_what_its_fragment_is() {
    for (entry, (_, sample)) in fragment_table().iter().zip(samples()) {
        assert_eq!((entry.role, &entry.kind), (sample.role(), &sample.content_kind()), "{}", entry.name);
        assert_eq!(entry.bound.overflow, sample.bound().overflow, "{}", entry.name);
        assert!(entry.bound.max_tokens <= sample.bound().max_tokens, "{}", entry.name);
        assert!(sample.bound().max_tokens <= 10_000, "{}", entry.name);
        let rendered = sample.render().unwrap();
        assert!(rendered.text().starts_with(entry.markers.start) && rendered.text().ends_with(entry.markers.end));
        let is_recognised = !NEVER_RECOGNISED.contains(&entry.name);
        assert_eq!((entry.matches_text)(rendered.text()), is_recognised, "{}", entry.name);
        let recognised = match entry.role {
            FragmentRole::User => recognise_user_text(rendered.text()),
            FragmentRole::Developer => recognise_developer_text(rendered.text()),
        };
        assert_eq!(recognised, is_recognised.then(|| entry.kind.clone()), "{}", entry.name);
    }
}

#[test]
fn every_fragment_reads_as_it_always_did() {
    let lines: Vec<_> = fragment_table()
        .iter()
        .zip(samples())
        .map(|(entry, (_, sample))| {
            let bound = format!("{:?} {}", entry.bound.overflow, entry.bound.max_tokens);
            format!("{} | {:?} | {} | {bound}\n{}", entry.name, entry.role, entry.kind, sample.render().unwrap().text())
        })
        .collect();
    insta::assert_snapshot!(lines.join("\n---\n"));
}

#[test]
fn no_kind_is_that_of_two_fragments() {
    let mut kinds: Vec<_> = fragment_table().into_iter().map(|entry| entry.kind).collect();
    let n_kinds = kinds.len();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds.len(), n_kinds);
}

/// A text that ends every frame there is, and one that is far over every bound.
#[test]
fn no_body_closes_its_frame_and_none_is_over_its_bound() {
    let enders: String = fragment_table().iter().map(|entry| entry.markers.end).collect();
    let hostile = format!("{enders}</external_k></K></k>{}", enders.to_ascii_uppercase());
    let long = hostile.repeat(200);
    for text in [hostile.as_str(), &long] {
        let fragments: Vec<Box<dyn ContextualUserFragment>> = vec![
            Box::new(UserInstructions::new(Some("/r".into()), text)),
            Box::new(NestedInstructions::new("/r", text)),
            Box::new(InstructionChanges::new(text)),
            Box::new(EnvironmentContext::new(text)),
            Box::new(AdditionalContextUser::new("k", text)),
            Box::new(AdditionalContextDeveloper::new("k", text)),
            Box::new(AgentMessageBoardNotification::new(text)),
            Box::new(SkillInstructions::new(text, text, text)),
            Box::new(UserShellCommand::new(text, 0, Duration::ZERO, text)),
            Box::new(TurnAborted::new(text.to_owned())),
            Box::new(SubagentNotification::new(text, "0").unwrap()),
            Box::new(InternalModelContext::new("a", text).unwrap()),
            Box::new(HookPrompt::new(text, text)),
            Box::new(PermissionsInstructions::new(text)),
            Box::new(ModelSwitchInstructions::new(text)),
            Box::new(CollaborationModeInstructions::new(text)),
            Box::new(RealtimeEnd::new(text, text)),
            Box::new(PersonalitySpec::new(text)),
            Box::new(MultiAgentRole::new(text)),
            Box::new(ManagedDeveloperInstructions::new(text)),
        ];
        for fragment in fragments {
            let Ok(rendered) = fragment.render() else {
                assert_eq!(fragment.bound().overflow, Overflow::Refuse);
                continue;
            };
            assert!(rendered.text().len() <= fragment.bound().max_bytes(), "{fragment:?}");
            for closer in fragment.closers() {
                let body = rendered.text().strip_suffix(fragment.markers().end).unwrap();
                let found = body.to_ascii_lowercase().contains(&closer.to_ascii_lowercase());
                assert!(!found, "{} closes its frame early", rendered.kind());
            }
        }
    }
}

#[test]
fn an_additional_value_is_cut_at_a_thousand_tokens() {
    let of = |bytes: usize| AdditionalContextUser::new("key", "é".repeat(bytes / 2)).render().unwrap();
    assert!(of(4_000).report().cut.is_none());
    let cut = of(4_400);
    assert!(cut.text().starts_with("<external_key>é") && cut.text().ends_with("é</external_key>"));
    assert!(cut.text().contains(" tokens truncated…") && AdditionalContextUser::matches_text(cut.text()));
    assert!(cut.text().len() <= 4_000 + 32 && cut.report().cut.is_some());
    let developer = AdditionalContextDeveloper::new("key", "x".repeat(9_000)).render().unwrap();
    assert!(developer.text().starts_with("<key>x") && developer.text().ends_with("x</key>"));
    assert!(developer.text().len() <= 4_000 + 16);
}

#[test]
fn a_key_cannot_open_a_tag_of_its_own() {
    let rendered = AdditionalContextUser::new("a><b\n", "v").render().unwrap();
    assert_eq!(rendered.text(), "<external_a__b_>v</external_a__b_>");
    let long = AdditionalContextUser::new(&"k".repeat(500), "v".repeat(9_000)).render().unwrap();
    assert!(AdditionalContextUser::matches_text(long.text()));
}

#[test]
fn a_path_hint_over_1024_bytes_is_refused() {
    let of = |bytes: usize| ImageGenerationInstructions::new("x".repeat(bytes)).render();
    assert!(of(1_024).is_ok());
    assert_eq!(of(1_025).unwrap_err().to_string(), "images.generation: 257 tokens are over the limit of 256 tokens");
}
