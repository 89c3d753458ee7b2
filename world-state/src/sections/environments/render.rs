//! The environments as the model reads them: whole, or what changed.

use std::collections::BTreeMap;
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
            (None, Some((_, sole))) if n_before == 0 => return self.fields(2, None, sole),
            (Some((id_before, sole_before)), Some((id, sole))) if id_before == id => {
                return self.fields(2, Some(sole_before), sole);
            }
            _ => {}
        }
        // A reader of one environment has seen no ids, so a list that grows from it or shrinks to it is said whole.
        let nothing = BTreeMap::new();
        let is_relaid = (n_before == 1) != (n_now == 1);
        let known = if is_relaid { &nothing } else { &before.environments };
        self.line(2, |out| out.push_str("<environments>"));
        let gone = before.environments.keys().filter(|id| !now.environments.contains_key(*id));
        let mut ids: Vec<&Arc<str>> = now.environments.keys().chain(gone).collect();
        ids.sort();
        for id in ids {
            match (known.get(id), now.environments.get(id)) {
                (Some(environment_before), Some(environment)) if environment_before == environment => {}
                (environment_before, Some(environment)) => self.environment(id, environment_before, environment),
                (_, None) => self.line(4, |out| {
                    out.push_str(&format!(r#"<environment id="{}" status="unavailable" />"#, escape(id)));
                }),
            }
        }
        self.line(2, |out| out.push_str("</environments>"));
    }

    fn environment(&mut self, id: &str, before: Option<&Environment>, now: &Environment) {
        let was_primary = before.is_some_and(|before| before.is_primary);
        let primary = match now.is_primary {
            is_primary if is_primary == was_primary => "",
            true => r#" primary="true""#,
            false => r#" primary="false""#,
        };
        self.line(4, |out| out.push_str(&format!(r#"<environment id="{}"{primary}>"#, escape(id))));
        self.fields(6, before, now);
        self.line(4, |out| out.push_str("</environment>"));
    }

    fn fields(&mut self, indent: usize, before: Option<&Environment>, now: &Environment) {
        if before.is_none_or(|before| before.cwd != now.cwd) {
            self.line(indent, |out| push_element(out, "cwd", &now.cwd));
        }
        let status_before = before.map_or(EnvironmentStatus::Available, |before| before.status);
        if status_before != now.status {
            self.line(indent, |out| push_element(out, "status", now.status.as_str()));
        }
        match (before.and_then(|before| before.shell.as_ref()), &now.shell) {
            (before, Some(shell)) if before != Some(shell) => {
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
