//! What a person is told about files that were not used, and what a check finds.

use agents_md::{
    Budget, Discovery, Explanation, FileKind, Inputs, Locus, MemoryFs, Note, Operation, Outcome, ProblemKind, Relation,
    RootChoice, Suspect, TrustLevel, explain_blocking,
};

fn explained(cwd: &str, fs: &MemoryFs) -> Explanation {
    explain_blocking(&Discovery::default(), &Inputs::local(cwd), fs).unwrap()
}

fn sentences(explanation: &Explanation) -> String {
    let rows = explanation.loaded().trace().sentences();
    rows.chain(explanation.findings().iter().map(ToString::to_string)).collect::<Vec<_>>().join("\n")
}

fn submodule() -> MemoryFs {
    MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/.gitmodules", "")
        .with_file("/r/AGENTS.md", "SUPER")
        .with_file("/r/sub/.git", "gitdir: ../.git/modules/sub\n")
        .with_file("/r/sub/AGENTS.md", "SUB")
}

#[test]
fn d05_the_file_of_the_superproject_is_named() {
    let explanation = explained("/r/sub", &submodule());
    assert_eq!(explanation.loaded().text(), "SUB");
    let [finding] = explanation.findings() else { panic!("{explanation}") };
    assert_eq!(finding.path.to_str(), Some("/r/AGENTS.md"));
    assert!(matches!(&finding.suspect, Suspect::AboveRoot { relation: Relation::Superproject, .. }));
    insta::assert_snapshot!(finding, @"/r/AGENTS.md was not used because it lies above the root /r/sub, which is a submodule of /r.");
    insta::assert_snapshot!(serde_json::to_string(finding).unwrap(), @r#"{"environment":"local","path":"/r/AGENTS.md","finding":"above_root","root":"/r/sub","relation":"superproject"}"#);
    assert!(explanation.problems().is_empty(), "what is above a repository is not its fault");
}

#[test]
fn d05_a_policy_can_include_the_superproject() {
    let mut discovery = Discovery::default();
    discovery.root = RootChoice::Outermost;
    let explanation = explain_blocking(&discovery, &Inputs::local("/r/sub"), &submodule()).unwrap();
    assert_eq!(explanation.loaded().text(), "SUPER\n\nSUB");
    assert!(explanation.findings().is_empty());
}

#[test]
fn d06_the_main_copy_of_a_worktree_is_named() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "R")
        .with_file("/r/.wt/x/.git", "gitdir: /r/.git/worktrees/x\n")
        .with_file("/r/.wt/x/AGENTS.md", "R");
    let explanation = explained("/r/.wt/x", &fs);
    insta::assert_snapshot!(sentences(&explanation), @"/r/AGENTS.md was not used because it lies above the root /r/.wt/x, which is a worktree of /r.");
}

#[test]
fn d14_a_name_in_other_case_is_a_near_miss() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/agents.md", "x")
        .with_file("/r/web/Agents.md", "y")
        .with_file("/r/web/AGENT.md", "z");
    let explanation = explained("/r/web", &fs);
    assert!(explanation.loaded().is_empty());
    insta::assert_snapshot!(sentences(&explanation), @r"
    Agents.md in web was not used because its name is not AGENTS.md, and every letter counts.
    AGENT.md in web was not used because its name is not AGENTS.md, and every letter counts.
    agents.md in /r was not used because its name is not AGENTS.md, and every letter counts.
    ");
    assert!(explanation.problems().iter().all(|problem| problem.problem == ProblemKind::Hidden));
}

#[test]
fn d14_one_file_under_two_spellings_is_no_near_miss() {
    let one = MemoryFs::new().with_file("/r/AGENTS.md", "x").with_link("/r/agents.md", "AGENTS.md");
    assert!(explained("/r", &one).findings().is_empty());
    let two = MemoryFs::new().with_file("/r/AGENTS.md", "x").with_file("/r/agents.md", "y");
    assert_eq!(explained("/r", &two).findings().len(), 1);
}

#[test]
fn a_link_that_was_checked_out_as_a_file_is_seen() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/docs/rules.md", "RULES")
        .with_file("/r/AGENTS.md", "docs/rules.md")
        .with_file("/r/a/AGENTS.md", "docs/nothing.md");
    let explanation = explained("/r/a", &fs);
    insta::assert_snapshot!(sentences(&explanation), @"AGENTS.md in /r was used as it stands, but its whole text is the path of /r/docs/rules.md: it looks like a symbolic link that was checked out as a file.");
}

#[test]
fn a_link_that_leads_to_nothing_is_named() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_link("/r/AGENTS.md", "docs/gone.md")
        .with_link("/r/a/AGENTS.override.md", "AGENTS.md")
        .with_file("/r/a/AGENTS.md", "A");
    let explanation = explained("/r/a", &fs);
    let found = explanation.findings().iter().map(|finding| (finding.suspect.name(), finding.to_string()));
    let want = "AGENTS.md in /r was not used because it is a symbolic link that leads to nothing.";
    assert_eq!(found.collect::<Vec<_>>(), [("dangling_link", want.to_owned())]);
    assert!(explanation.problems().iter().any(|problem| problem.problem == ProblemKind::Unreadable));
}

#[test]
fn an_untrusted_project_is_not_looked_at_for_an_explanation_either() {
    let fs = submodule();
    let inputs = Inputs::local("/r/sub").with_trust(TrustLevel::Untrusted);
    let explanation = explain_blocking(&Discovery::default(), &inputs, &fs).unwrap();
    assert!(fs.accesses().is_empty());
    insta::assert_snapshot!(explanation, @r"
    No instruction file was used.
    local: the project is not trusted, nothing of it was probed.
    ");
}

#[test]
fn diagnostic_probes_are_made_by_an_explanation_only_and_once_each() {
    let fs = submodule();
    let explanation = explained("/r/sub", &fs);
    let mut probed: Vec<_> =
        fs.accesses().into_iter().filter(|access| access.op == Operation::Probe).map(|access| access.path).collect();
    let n_probed = probed.len();
    probed.sort();
    probed.dedup();
    let rows = explanation.loaded().trace().rows().iter().filter_map(|row| row.path.clone());
    let mut told: Vec<_> = rows.chain(explanation.probed().map(ToOwned::to_owned)).collect();
    told.sort();
    assert_eq!(n_probed, told.len());
    told.dedup();
    assert_eq!(probed, told);
}

#[test]
fn every_reason_is_a_sentence_and_every_problem_is_found() {
    let fs = MemoryFs::new()
        .with_folder("/r/.git")
        .with_file("/r/AGENTS.md", "same")
        .with_file("/r/a/AGENTS.override.md", " ")
        .with_folder("/r/a/AGENTS.md")
        .with_file("/r/a/b/AGENTS.override.md", "same")
        .with_file("/r/a/b/AGENTS.md", "hidden")
        .with_file("/r/a/b/c/AGENTS.md", "x")
        .failing_read("/r/a/b/c/AGENTS.md", std::io::ErrorKind::PermissionDenied)
        .with_vanishing("/r/a/b/c/d/AGENTS.md")
        .with_file("/r/a/b/c/d/e/AGENTS.md", [b'y', 0xFF, b'\n'].repeat(20_000));
    let explanation = explained("/r/a/b/c/d/e", &fs);
    insta::assert_snapshot!(explanation, @r"
    Used, in this order:
    - /r/a/b/c/d/e/AGENTS.md
    local: root /r found by .git.
    AGENTS.md in /r was not used because it is the same as /r/a/b/AGENTS.override.md (environment `local`).
    AGENTS.override.md in a was not used because it is blank.
    AGENTS.md in a was not used because it is not a regular file but a folder.
    AGENTS.override.md in a/b was not used because its 4 bytes did not fit the project budget.
    AGENTS.md in a/b was not used because AGENTS.override.md in the same folder comes first.
    AGENTS.md in a/b/c was not used because the system denied to read it (permission denied).
    AGENTS.md in a/b/c/d was not used because it was gone before it could be read.
    AGENTS.md in a/b/c/d/e was used in part, 32765 of 60000 bytes, because the rest did not fit the project budget.
    ");
    let problems: Vec<String> = explanation.problems().iter().map(|problem| problem.problem.to_string()).collect();
    assert_eq!(
        problems,
        ["duplicated", "unreadable", "cut", "hidden", "unreadable", "unreadable", "cut", "unreadable"]
    );
}

#[cfg(feature = "tokio")]
#[tokio::test]
async fn an_explanation_over_a_wire_is_the_same() {
    let fs = submodule();
    let remote = agents_md::explain(&Discovery::default(), &Inputs::local("/r/sub"), &fs).await.unwrap();
    let local = explained("/r/sub", &fs);
    assert_eq!(remote.findings(), local.findings());
    assert_eq!(remote.loaded().text(), local.loaded().text());
}

#[test]
fn the_schema_names_every_outcome_and_every_note() {
    let schema = include_str!("../../TRACE.md");
    let path = || std::path::PathBuf::from("/x");
    let locus = Locus { environment: None, path: path() };
    let (op, error) = (Operation::Read, String::new);
    let outcomes = [
        Outcome::Loaded { bytes: 0 },
        Outcome::Cut { kept: 0, of: 0, budget: Budget::Project },
        Outcome::DroppedByBudget { of: 0, budget: Budget::Imports },
        Outcome::Blank,
        Outcome::Shadowed { by: path() },
        Outcome::Duplicate { of: locus },
        Outcome::Absent,
        Outcome::NotAFile { found: FileKind::Other },
        Outcome::Denied { op, error: error() },
        Outcome::Failed { op, error: error() },
        Outcome::Vanished,
        Outcome::Replaced,
        Outcome::OutsideRoot { target: path() },
        Outcome::SymlinkRejected,
        Outcome::Discarded,
        Outcome::OutOfScope { patterns: vec![] },
        Outcome::Ignored { by: path() },
        Outcome::Imported { bytes: 0, into: path() },
        Outcome::Unneeded,
        Outcome::IgnoreRules,
        Outcome::RootMarker,
        Outcome::OuterMarker,
        Outcome::Root { resolved: path() },
    ];
    for outcome in &outcomes {
        let object = serde_json::to_value(outcome).unwrap();
        for name in object.as_object().unwrap().keys().map(String::as_str).chain([outcome.name()]) {
            assert!(schema.contains(&format!("`{name}`")), "TRACE.md does not name {name}");
        }
    }
    // Each variant of the list is a match arm of `name`, and so is counted there.
    let source = include_str!("../../src/outcome.rs");
    let names = source.split_once("pub fn name").unwrap().1.split_once("pub fn is_loaded").unwrap().0;
    assert_eq!(names.matches("=> \"").count(), outcomes.len());
    let notes = [
        Note::NoMarkers,
        Note::Untrusted,
        Note::Disabled,
        Note::BudgetSpent,
        Note::RootFound { root: path(), marker: error() },
        Note::NoRoot { markers: vec![], up_to: path() },
        Note::WalkedTo { boundary: path() },
        Note::BoundaryElsewhere { boundary: path() },
        Note::NameIgnored { name: error() },
        Note::EnvironmentFailed { path: path(), error: error() },
    ];
    for note in &notes {
        for name in serde_json::to_value(note).unwrap().as_object().unwrap().values() {
            if let Some(name) = name.as_str().filter(|name| name.contains('_')) {
                assert!(schema.contains(&format!("`{name}`")), "TRACE.md does not name {name}");
            }
        }
    }
    assert!(["import_skipped", "bad_pattern"].iter().all(|name| schema.contains(&format!("`{name}`"))));
}
