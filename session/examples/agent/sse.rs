//! Server-sent events, from pieces of any size.

/// Cuts a stream of bytes into the data of its events.
#[derive(Debug, Default)]
pub(crate) struct Events {
    line: Vec<u8>,
    data: String,
    ended_with_return: bool,
}

impl Events {
    /// Takes the next piece; gives the data of each event that it ends.
    pub(crate) fn push(&mut self, piece: &[u8]) -> Vec<String> {
        let mut ended = Vec::new();
        for byte in piece {
            // A line ends with a line feed, a carriage return, or both.
            let is_second_half = std::mem::take(&mut self.ended_with_return) && *byte == b'\n';
            if is_second_half {
                continue;
            }
            self.ended_with_return = *byte == b'\r';
            if *byte == b'\n' || *byte == b'\r' {
                ended.extend(self.end_line());
            } else {
                self.line.push(*byte);
            }
        }
        ended
    }

    fn end_line(&mut self) -> Option<String> {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        if line.is_empty() {
            let data = std::mem::take(&mut self.data);
            return (!data.is_empty()).then_some(data);
        }
        // Comments start with a colon; names and ids of events say nothing that the data does not say.
        if let Some(value) = line.strip_prefix("data:") {
            if !self.data.is_empty() {
                self.data.push('\n');
            }
            self.data.push_str(value.strip_prefix(' ').unwrap_or(value));
        }
        None
    }
}
