//! Instructions that are found for the first time: a discovery of ours, and the naive shape.

use std::path::Path;

use agents_md::{Discovery, Inputs, discover_on_host};

/// Discovers on this machine, in one blocking task.
///
/// # Panics
/// If a folder of the bench cannot be read.
pub async fn ours(cwd: &Path) -> String {
    match discover_on_host(Discovery::codex(), Inputs::local(cwd)).await {
        Ok(loaded) => loaded.text().to_owned(),
        Err(error) => panic!("{error}"),
    }
}

/// The naive shape: one asynchronous call after the other, each a hop to a blocking task, for the markers from below, for
/// the candidates from above, once more before each read, and for the whole file.
///
/// # Panics
/// If a folder of the bench cannot be read.
pub async fn naive(cwd: &Path) -> String {
    const MAX_BYTES: usize = 32_768;
    let mut root = None;
    for folder in cwd.ancestors() {
        if tokio::fs::metadata(folder.join(".git")).await.is_ok() {
            root = Some(folder);
            break;
        }
    }
    let mut folders: Vec<&Path> = match root {
        Some(root) => cwd.ancestors().take_while(|folder| folder.starts_with(root)).collect(),
        None => vec![cwd],
    };
    folders.reverse();
    let mut found = Vec::new();
    for folder in folders {
        for name in ["AGENTS.override.md", "AGENTS.md"] {
            let path = folder.join(name);
            if tokio::fs::metadata(&path).await.is_ok_and(|metadata| metadata.is_file()) {
                found.push(path);
                break;
            }
        }
    }
    let mut remaining = MAX_BYTES;
    let mut texts = Vec::new();
    for path in found {
        if remaining == 0 || !tokio::fs::metadata(&path).await.is_ok_and(|metadata| metadata.is_file()) {
            continue;
        }
        let Ok(mut bytes) = tokio::fs::read(&path).await else { panic!("{} cannot be read", path.display()) };
        bytes.truncate(remaining);
        let text = String::from_utf8_lossy(&bytes).into_owned();
        if !text.trim().is_empty() {
            remaining -= bytes.len();
            texts.push(text);
        }
    }
    texts.join("\n\n")
}
