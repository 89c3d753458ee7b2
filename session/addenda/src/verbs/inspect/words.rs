//! What `inspect` found, in words.

use std::fmt::Write;

use super::document::{Compaction, Document, Prompt, Turn};

/// The document for people to read.
pub(super) fn told(document: &Document) -> String {
    let mut out = String::new();
    // Writing into a string cannot fail.
    _ = write_document(&mut out, document);
    out
}

fn write_document(out: &mut String, document: &Document) -> std::fmt::Result {
    let what = if document.format == "codex" { "a rollout of the Codex CLI" } else { "a session log" };
    let session = document.session.as_ref().map_or_else(String::new, |id| format!(", session {id}"));
    let turns = document.turns.iter().filter(|turn| turn.number.is_some()).count();
    writeln!(out, "{what}{session}: {} records, {turns} turns", document.recovery.records)?;
    for turn in &document.turns {
        write_turn(out, turn)?;
    }
    let history = &document.history;
    write!(out, "at the end: {} items, {} tokens, version {}", history.items, history.tokens, history.version)?;
    match &history.baseline {
        Some(sections) => writeln!(out, "; the model knows of {}", listed(sections))?,
        None => writeln!(out, "; no baseline, so the next turn says everything")?,
    }
    if !history.open_calls.is_empty() {
        writeln!(out, "calls without output: {}", history.open_calls.join(", "))?;
    }
    let prompts = document.turns.iter().map(|turn| turn.prompts.len()).sum::<usize>();
    let verdict = match (prompts, document.every_prompt_is_legal) {
        (0, _) => "none was sent".to_owned(),
        (_, true) => format!("{prompts}, and each extends the one before or says who declared the break"),
        (_, false) => format!("{prompts}, and NOT each extends the one before"),
    };
    writeln!(out, "prompts: {verdict}")?;
    for (name, count) in &document.recovery.unknown {
        writeln!(out, "unknown: {count} records of type {name}, kept")?;
    }
    if document.recovery.findings.is_empty() {
        writeln!(out, "damage: none")?;
    }
    for finding in &document.recovery.findings {
        writeln!(out, "found: {finding}")?;
    }
    Ok(())
}

fn write_turn(out: &mut String, turn: &Turn) -> std::fmt::Result {
    match turn.number {
        Some(number) => write!(out, "\nturn {number}")?,
        None => write!(out, "\nbefore the first turn")?,
    }
    if let Some(id) = &turn.id {
        write!(out, " ({id})")?;
    }
    if turn.number.is_some() || turn.outcome != "open" {
        write!(out, ": {}", turn.outcome)?;
    }
    if let Some(reason) = &turn.reason {
        write!(out, ", {reason}")?;
    }
    if let Some(model) = &turn.model {
        write!(out, ", model {model}")?;
    }
    writeln!(out)?;
    let added = &turn.added;
    if added.items > 0 {
        let media = if added.media > 0 { format!(", {} images or audio", added.media) } else { String::new() };
        writeln!(out, "  added   {} items, {} tokens{media}", added.items, added.tokens)?;
        for (kind, count) in &added.by_kind {
            writeln!(out, "          {kind}: {} x, {} tokens", count.parts, count.tokens)?;
        }
    }
    for (reason, count) in &turn.dropped {
        writeln!(out, "  dropped {count} items: {reason}")?;
    }
    for change in &turn.world_state {
        let removed =
            if change.removed.is_empty() { String::new() } else { format!("; gone: {}", change.removed.join(", ")) };
        writeln!(out, "  world   {}: {}{removed}", change.form.replace('_', " "), listed(&change.sections))?;
    }
    for cut in &turn.truncations {
        let call = cut.call_id.as_ref().map_or_else(String::new, |id| format!(" ({id})"));
        let limit = cut.limit.as_ref().map_or_else(String::new, |limit| format!(", held to {limit}"));
        let (before, after) = (cut.bytes_before, cut.bytes_after);
        writeln!(out, "  cut     {}{call} at {}{limit}: {before} bytes became {after}", cut.item, cut.position)?;
    }
    for compaction in &turn.compactions {
        write_compaction(out, compaction)?;
    }
    for rollback in &turn.rollbacks {
        writeln!(out, "  back    {} turns, {} items", rollback.turns, rollback.items)?;
    }
    for prompt in &turn.prompts {
        write_prompt(out, prompt)?;
    }
    for record in &turn.not_replayed {
        writeln!(out, "  not replayed: {record}")?;
    }
    Ok(())
}

fn write_compaction(out: &mut String, compaction: &Compaction) -> std::fmt::Result {
    let Compaction { items_before, items_after, tokens_before, tokens_after, .. } = compaction;
    let trigger = compaction.trigger.as_ref().map_or_else(String::new, |trigger| format!("{trigger}: "));
    write!(out, "  compact {trigger}{items_before} items became {items_after}")?;
    writeln!(out, ", {tokens_before} tokens {tokens_after}")?;
    if let (Some(replaced), Some(injected)) = (compaction.replaced, compaction.injected) {
        let when = compaction.injection.as_deref().unwrap_or_default().replace('_', " ");
        let kept: Vec<String> = compaction.kept.iter().map(ToString::to_string).collect();
        let kept = if kept.is_empty() { "none".to_owned() } else { format!("those at {}", kept.join(", ")) };
        writeln!(out, "          {replaced} replaced, kept {kept}; {injected} of context said, the rest {when}")?;
    }
    for phrase in &compaction.missing {
        writeln!(out, "          missing: {phrase}")?;
    }
    Ok(())
}

fn write_prompt(out: &mut String, prompt: &Prompt) -> std::fmt::Result {
    let Prompt { source, items, tokens, .. } = prompt;
    write!(out, "  prompt  {items} items, {tokens} tokens, {source}: ")?;
    match (&prompt.broken, prompt.new_items) {
        (Some(broken), _) => write!(out, "{}: {broken}", prompt.proof.replace('_', " "))?,
        (None, Some(new)) => write!(out, "{} by {new} items", prompt.proof)?,
        (None, None) => write!(out, "{}", prompt.proof)?,
    }
    match prompt.digest_matches {
        Some(true) => writeln!(out, "; the bytes that were sent")?,
        Some(false) => writeln!(out, "; NOT the bytes that were sent")?,
        None => writeln!(out)?,
    }
    for repair in &prompt.new_repairs {
        writeln!(out, "          repair {repair}")?;
    }
    Ok(())
}

fn listed(names: &[String]) -> String {
    if names.is_empty() { "nothing".to_owned() } else { names.join(", ") }
}
