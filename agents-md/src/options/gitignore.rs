//! What the `.gitignore` files of a repository exclude.

use std::path::{Path, PathBuf};

use ignore::{
    Match,
    gitignore::{Gitignore, GitignoreBuilder},
};

/// The rules of the folders of one environment.
#[derive(Debug, Default)]
pub(crate) struct IgnoreRules(Vec<Rules>);

#[derive(Debug)]
struct Rules {
    folder: PathBuf,
    rules: Gitignore,
}

impl IgnoreRules {
    /// Takes the text of the `.gitignore` of a folder; a line that is no pattern says nothing.
    pub(crate) fn add(&mut self, folder: &Path, text: &str) {
        let mut builder = GitignoreBuilder::new(folder);
        for line in text.lines() {
            drop(builder.add_line(None, line));
        }
        if let Ok(rules) = builder.build() {
            self.0.push(Rules { folder: folder.to_owned(), rules });
            // The folder nearest to a file has the last word.
            self.0.sort_by_key(|rules| std::cmp::Reverse(rules.folder.components().count()));
        }
    }

    /// The `.gitignore` that excludes a file, or a folder above it.
    pub(crate) fn excluding(&self, file: &Path) -> Option<PathBuf> {
        // What lies in an excluded folder cannot be brought back, so folders are judged from above.
        let mut above: Vec<&Path> = file.ancestors().skip(1).collect();
        above.reverse();
        let folders = above.into_iter().map(|folder| (folder, true));
        folders.chain([(file, false)]).find_map(|(path, is_folder)| self.last_word(path, is_folder))
    }

    fn last_word(&self, path: &Path, is_folder: bool) -> Option<PathBuf> {
        for Rules { folder, rules } in &self.0 {
            let Ok(inner) = path.strip_prefix(folder) else { continue };
            if inner.as_os_str().is_empty() {
                continue;
            }
            match rules.matched(inner, is_folder) {
                Match::None => {}
                Match::Ignore(_) => return Some(folder.join(".gitignore")),
                Match::Whitelist(_) => return None,
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_file_has_the_last_word_below_what_is_not_excluded() {
        let mut rules = IgnoreRules::default();
        rules.add(Path::new("/r"), "/vendor/\n*.md\n!/AGENTS.md\n[\n");
        rules.add(Path::new("/r/a"), "!AGENTS.md\n");
        rules.add(Path::new("/r/vendor"), "!AGENTS.md\n");
        let by = |path: &str| rules.excluding(Path::new(path));
        assert_eq!(by("/r/AGENTS.md"), None);
        assert_eq!(by("/r/a/AGENTS.md"), None);
        assert_eq!(by("/r/b/AGENTS.md"), Some("/r/.gitignore".into()));
        assert_eq!(by("/r/vendor/AGENTS.md"), Some("/r/.gitignore".into()));
        assert_eq!(by("/elsewhere/AGENTS.md"), None);
    }
    #[test]
    fn a_hostile_line_spoils_no_other_and_ends_no_process() {
        let run = || {
            for line in [
                "{".repeat(30_000),
                "{".repeat(15_000) + &"}".repeat(15_000),
                "[".repeat(30_000),
                "{a,b}".repeat(6_000),
            ] {
                let mut rules = IgnoreRules::default();
                rules.add(Path::new("/r"), &format!("{line}\n/b/\n"));
                assert_eq!(rules.excluding(Path::new("/r/b/AGENTS.md")), Some("/r/.gitignore".into()), "{line:.10}");
            }
        };
        std::thread::Builder::new().stack_size(1 << 20).spawn(run).unwrap().join().unwrap();
    }
}
