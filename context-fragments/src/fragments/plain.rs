//! Fragments of one text between fixed markers, or without any.

use std::borrow::Cow;

use crate::{Bound, ContextualUserFragment, FragmentRole, Kind, Markers};

/// Makes a fragment whose body is its text, with what the format puts before and behind it.
macro_rules! plain_fragment {
    (
        $(#[$docs:meta])*
        $name:ident, $role:ident, $kind:expr, [$start:literal, $end:literal], [$before:literal, $after:literal], $bound:expr
    ) => {
        $(#[$docs])*
        #[derive(Clone, Debug, PartialEq, Eq, Hash)]
        #[non_exhaustive]
        pub struct $name {
            /// The words of the host.
            pub text: String,
        }

        impl $name {
            /// Takes the words of the host.
            #[must_use]
            pub fn new(text: impl Into<String>) -> Self {
                Self { text: text.into() }
            }
        }

        impl ContextualUserFragment for $name {
            fn role(&self) -> FragmentRole {
                FragmentRole::$role
            }

            fn content_kind(&self) -> Kind {
                $kind
            }

            fn markers(&self) -> Markers<'_> {
                Self::type_markers()
            }

            fn body(&self) -> Cow<'_, str> {
                if concat!($before, $after).is_empty() {
                    return Cow::Borrowed(&self.text);
                }
                Cow::Owned([$before, &self.text, $after].concat())
            }

            fn bound(&self) -> Bound {
                $bound
            }

            fn type_markers() -> Markers<'static> {
                Markers::new($start, $end)
            }
        }
    };
}

plain_fragment! {
    /// News from the board where agents leave messages for each other.
    AgentMessageBoardNotification, User, Kind::AGENT_MESSAGE_BOARD,
    ["<agent_message_board_notification>", "</agent_message_board_notification>"], ["\n", "\n"], Bound::FRAGMENT
}

plain_fragment! {
    /// Plugins that may help, of which none is installed.
    RecommendedPlugins, Developer, Kind::RECOMMENDED_PLUGINS,
    ["<recommended_plugins>", "</recommended_plugins>"], ["\n", "\n"], Bound::FRAGMENT
}

plain_fragment! {
    /// The skills that there are, each with what it is for.
    AvailableSkills, Developer, Kind::SKILLS_CATALOGUE,
    ["<skills_instructions>", "</skills_instructions>"], ["\n", "\n"], Bound::FRAGMENT
}

plain_fragment! {
    /// What the agent is among several.
    MultiAgentRole, Developer, Kind::MULTI_AGENT_ROLE,
    ["<multi_agent_role>", "</multi_agent_role>"], ["", ""], Bound::FRAGMENT
}

plain_fragment! {
    /// How much of the context window is left.
    TokenBudgetNotice, Developer, Kind::TOKEN_BUDGET,
    ["<token_budget>", "</token_budget>"], ["\n", "\n"], Bound::FRAGMENT
}

plain_fragment! {
    /// How much of what the host grants for the whole task is left.
    RolloutBudgetNotice, Developer, Kind::ROLLOUT_BUDGET,
    ["<rollout_budget>", "</rollout_budget>"], ["\n", "\n"], Bound::FRAGMENT
}

plain_fragment! {
    /// What time it is; the host's words, since this crate reads no clock.
    CurrentTimeReminder, Developer, Kind::CURRENT_TIME,
    ["<current_time_reminder>", "</current_time_reminder>"], ["\n", "\n"], Bound::FRAGMENT
}

plain_fragment! {
    /// What a hook adds, word for word and without a frame.
    HookAdditionalContext, Developer, Kind::HOOK_CONTEXT, ["", ""], ["", ""], Bound::FRAGMENT
}

plain_fragment! {
    /// What one plugin says about itself, word for word and without a frame.
    PluginInstructions, Developer, Kind::PLUGIN, ["", ""], ["", ""], Bound::FRAGMENT
}

plain_fragment! {
    /// Instructions of the host for which there is no other fragment, word for word and without a frame.
    DeveloperInstructions, Developer, Kind::DEVELOPER_INSTRUCTIONS, ["", ""], ["", ""], Bound::FRAGMENT
}

plain_fragment! {
    /// The base instructions as an item, for hosts that send them so; refused rather than cut.
    BaseInstructions, Developer, Kind::BASE_INSTRUCTIONS, ["", ""], ["", ""], Bound::refuse(10_000)
}

plain_fragment! {
    /// Where generated images lie; what does not fit into 1,024 bytes is refused, and then nothing is said.
    ImageGenerationInstructions, Developer, Kind::IMAGE_GENERATION, ["", ""], ["", ""], Bound::refuse(256)
}
