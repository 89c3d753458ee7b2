//! What became of a path, as a sentence for people.

use std::path::Path;

use crate::{
    outcome::Outcome,
    trace::{Row, Scope, Trace},
};

impl Trace {
    /// One sentence for each file that was there and did not reach the model whole, in the order of the rows.
    ///
    /// # Shape
    /// `AGENTS.md in packages/web was not used because AGENTS.override.md in the same folder comes first.` Folders are
    /// named from the root of the project. What is absent, and what was used whole, has no sentence.
    pub fn sentences(&self) -> impl Iterator<Item = String> {
        self.rows().iter().filter_map(|row| self.sentence(row))
    }

    /// The sentence about one row of this trace; none for what is absent, used whole, or no candidate.
    #[must_use]
    pub fn sentence(&self, row: &Row) -> Option<String> {
        let subject = match (&row.path, &row.scope) {
            (Some(path), Scope::Project { index, .. }) => {
                let root = self.environments().get(*index).and_then(|environment| environment.top.as_deref());
                subject(path, root)
            }
            (Some(path), _) => subject(path, None),
            (None, Scope::Thread) => "The text of the conversation".to_owned(),
            (None, _) => "The text that the host gave".to_owned(),
        };
        if let Outcome::Cut { kept, of, budget } = &row.outcome {
            return Some(format!(
                "{subject} was used in part, {kept} of {of} bytes, because the rest did not fit {budget}."
            ));
        }
        because(&row.outcome).map(|reason| format!("{subject} was not used because {reason}."))
    }
}

/// A file by its name and the folder that it lies in, as a person would say it.
pub(crate) fn subject(path: &Path, root: Option<&Path>) -> String {
    let name = path.file_name().map_or_else(|| path.to_string_lossy(), |name| name.to_string_lossy());
    match (path.parent(), root) {
        (Some(folder), Some(root)) if folder == root => format!("{name} in {}", root.display()),
        (Some(folder), Some(root)) => {
            let folder = folder.strip_prefix(root).unwrap_or(folder);
            format!("{name} in {}", folder.display())
        }
        (Some(folder), None) => format!("{name} in {}", folder.display()),
        (None, _) => name.into_owned(),
    }
}

fn because(outcome: &Outcome) -> Option<String> {
    let name = |path: &Path| path.file_name().unwrap_or(path.as_os_str()).to_string_lossy().into_owned();
    Some(match outcome {
        Outcome::Blank => "it is blank".to_owned(),
        Outcome::Shadowed { by } => format!("{} in the same folder comes first", name(by)),
        Outcome::Duplicate { of } => format!("it is the same as {of}"),
        Outcome::DroppedByBudget { of, budget } => format!("its {of} bytes did not fit {budget}"),
        Outcome::NotAFile { found } => format!("it is not a regular file but {found}"),
        Outcome::Denied { op, error } => format!("the system denied to {op} it ({error})"),
        Outcome::Failed { op, error } => format!("it was not possible to {op} it ({error})"),
        Outcome::Vanished => "it was gone before it could be read".to_owned(),
        Outcome::Replaced => "another file was put in its place while it was looked at".to_owned(),
        Outcome::OutsideRoot { target } => format!("it leads out of the root, to {}", target.display()),
        Outcome::SymlinkRejected => "it is a symbolic link".to_owned(),
        Outcome::Discarded => "another file of the environment failed".to_owned(),
        Outcome::OutOfScope { patterns } => {
            format!("no file that was touched matches its patterns ({})", patterns.join(", "))
        }
        Outcome::Ignored { by } => format!("{} excludes it", by.display()),
        Outcome::Cut { .. }
        | Outcome::Loaded { .. }
        | Outcome::Absent
        | Outcome::Imported { .. }
        | Outcome::Unneeded
        | Outcome::IgnoreRules
        | Outcome::RootMarker
        | Outcome::OuterMarker
        | Outcome::Root { .. } => return None,
    })
}
