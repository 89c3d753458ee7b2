//! The environments as the model reads them: whole, or what changed.

use std::sync::Arc;

use super::snapshot::{Environment, EnvironmentStatus, EnvironmentsSnapshot};
use super::xml::{escape, push_element};
use crate::preset::Preset;

/// Renders all of it; `None` if there is nothing.
pub(super) fn whole(now: &EnvironmentsSnapshot) -> Option<String> {
    changed(&EnvironmentsSnapshot::default(), now, Preset::Default)
}

/// Renders what is other than before; `None` if nothing of it can be said.
pub(super) fn changed(before: &EnvironmentsSnapshot, now: &EnvironmentsSnapshot, preset: Preset) -> Option<String> {
    let mut body = Body { text: String::from("\n"), preset };
    body.environments(before, now);
    body.shared(before, now);
    (body.text.len() > 1).then_some(body.text)
}

/// How much of an environment is said.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Extent {
    Whole,
    Changed,
}

struct Body {
    text: String,
    preset: Preset,
}

impl Body {
    fn environments(&mut self, before: &EnvironmentsSnapshot, now: &EnvironmentsSnapshot) {
        if before.environments == now.environments {
            return;
        }
        let (n_before, n_now) = (before.environments.len(), now.environments.len());
        match (before.sole_available(), now.sole_available()) {
            (None, Some((_, sole))) if n_before == 0 => return self.fields(2, None, sole, Extent::Whole),
            (Some((id_before, sole_before)), Some((id, sole))) if id_before == id => {
                return self.fields(2, Some(sole_before), sole, Extent::Changed);
            }
            _ => {}
        }
        // One environment by itself has no id, so the list that follows it is said whole, as is one that shrinks to one.
        // Held by the reader in `law_7_baseline_is_what_the_model_was_told`.
        let is_relaid = before.sole_available().is_some() || (n_before == 1) != (n_now == 1);
        let extent = if is_relaid { Extent::Whole } else { Extent::Changed };
        self.line(2, |out| out.push_str("<environments>"));
        let gone = before.environments.keys().filter(|id| !now.environments.contains_key(*id));
        let mut ids: Vec<&Arc<str>> = now.environments.keys().chain(gone).collect();
        ids.sort();
        for id in ids {
            match (before.environments.get(id), now.environments.get(id)) {
                (Some(before), Some(now)) if extent == Extent::Changed && before == now => {}
                (before, Some(now)) => self.environment(id, before, now, extent),
                (_, None) => self.line(4, |out| {
                    out.push_str(&format!(r#"<environment id="{}" status="unavailable" />"#, escape(id)));
                }),
            }
        }
        self.line(2, |out| out.push_str("</environments>"));
    }

    fn environment(&mut self, id: &str, before: Option<&Environment>, now: &Environment, extent: Extent) {
        let was_primary = before.is_some_and(|before| before.is_primary);
        let primary = match (was_primary, now.is_primary) {
            (true, true) if extent == Extent::Changed => "",
            (_, true) => r#" primary="true""#,
            (true, false) => r#" primary="false""#,
            (false, false) => "",
        };
        let mut fields = Self { text: String::new(), preset: self.preset };
        fields.fields(6, before, now, extent);
        let open = format!(r#"<environment id="{}"{primary}"#, escape(id));
        if fields.text.is_empty() {
            self.line(4, |out| out.extend([&open, " />"]));
            return;
        }
        self.line(4, |out| out.extend([&open, ">"]));
        self.text.push_str(&fields.text);
        self.line(4, |out| out.push_str("</environment>"));
    }

    fn fields(&mut self, indent: usize, before: Option<&Environment>, now: &Environment, extent: Extent) {
        let is_whole = extent == Extent::Whole;
        if is_whole || before.is_none_or(|before| before.cwd != now.cwd) {
            self.line(indent, |out| push_element(out, "cwd", &now.cwd));
        }
        // To be available goes without saying, except after something else was said.
        let status_before = before.map_or(EnvironmentStatus::Available, |before| before.status);
        if status_before != now.status || (is_whole && now.status != EnvironmentStatus::Available) {
            self.line(indent, |out| push_element(out, "status", now.status.as_str()));
        }
        match (before.and_then(|before| before.cause.as_ref()), &now.cause) {
            (before, Some(cause)) if is_whole || before != Some(cause) => {
                self.line(indent, |out| push_element(out, "cause", cause));
            }
            // A new status without a cause takes the old cause with it.
            (Some(_), None) if !is_whole && status_before == now.status => {
                self.line(indent, |out| push_unavailable(out, "cause"));
            }
            _ => {}
        }
        match (before.and_then(|before| before.shell.as_ref()), &now.shell) {
            (before, Some(shell)) if is_whole || before != Some(shell) => {
                self.line(indent, |out| push_element(out, "shell", shell));
            }
            (Some(_), None) => self.line(indent, |out| push_unavailable(out, "shell")),
            _ => {}
        }
    }

    fn shared(&mut self, before: &EnvironmentsSnapshot, now: &EnvironmentsSnapshot) {
        if before.shell_version != now.shell_version {
            match &now.shell_version {
                Some(version) => self.line(2, |out| push_element(out, "shell_version", version)),
                None => self.line(2, |out| push_unavailable(out, "shell_version")),
            }
        }
        let always = self.preset == Preset::Codex;
        if always || before.current_date != now.current_date {
            self.value("current_date", now.current_date.as_ref(), |out, date| {
                push_element(out, "current_date", &date.to_string());
            });
        }
        if always || before.timezone != now.timezone {
            self.value("timezone", now.timezone.as_ref(), |out, timezone| push_element(out, "timezone", timezone));
        }
        if before.network != now.network {
            self.value("network", now.network.as_ref(), |out, element| out.push_str(element));
        }
        if before.filesystem != now.filesystem {
            self.value("filesystem", now.filesystem.as_ref(), |out, element| out.push_str(element));
        }
        if before.subagents != now.subagents {
            self.value("subagents", now.subagents.as_ref(), |out, lines| {
                out.push_str("<subagents>\n");
                for line in lines.lines() {
                    out.push_str("    ");
                    out.push_str(line);
                    out.push('\n');
                }
                out.push_str("  </subagents>");
            });
        }
    }

    /// Says a value, or that it is gone: the reference is silent about that, and the model would go on believing it.
    fn value<T>(&mut self, tag: &str, value: Option<&T>, push: impl FnOnce(&mut String, &T)) {
        match value {
            Some(value) => self.line(2, |out| push(out, value)),
            None if self.preset == Preset::Codex => {}
            None => self.line(2, |out| push_unavailable(out, tag)),
        }
    }

    fn line(&mut self, indent: usize, push: impl FnOnce(&mut String)) {
        self.text.extend(std::iter::repeat_n(' ', indent));
        push(&mut self.text);
        self.text.push('\n');
    }
}

fn push_unavailable(out: &mut String, tag: &str) {
    out.push_str(&format!(r#"<{tag} status="unavailable" />"#));
}
