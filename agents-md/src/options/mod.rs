//! What is off by default: references to other files, rules for some files only, rules of the repository.

pub(crate) mod import;
#[cfg(feature = "globs")]
pub(crate) mod scope;
#[cfg(feature = "gitignore")]
pub(crate) mod gitignore;
