//! Texts that stand in one record after the other.

use std::sync::Arc;

/// The texts of the record before. Those of the next one are mostly the same, and then they are shared: a long log has
/// many records and few turns.
#[derive(Clone, Debug, Default)]
pub(super) struct Repeated {
    timestamp: Option<Arc<str>>,
    turn_id: Option<Arc<str>>,
    model: Option<Arc<str>>,
}

impl Repeated {
    pub(super) fn timestamp(&mut self, text: &str) -> Arc<str> {
        shared(&mut self.timestamp, text)
    }

    pub(super) fn turn_id(&mut self, text: &str) -> Arc<str> {
        shared(&mut self.turn_id, text)
    }

    pub(super) fn model(&mut self, text: &str) -> Arc<str> {
        shared(&mut self.model, text)
    }
}

fn shared(before: &mut Option<Arc<str>>, text: &str) -> Arc<str> {
    match before {
        Some(before) if **before == *text => Arc::clone(before),
        _ => Arc::clone(before.insert(text.into())),
    }
}
