#![doc = include_str!("../README.md")]

mod item;
mod context_item;
mod kind;
mod fragment;
mod marker;
mod bound;
mod fragments;
mod recognise;
mod registry;
mod annotated;
mod classify;
mod retained;
mod policy;
mod turn_context;
pub mod json;
mod error;

pub use self::{
    annotated::AnnotatedPart,
    bound::{BYTES_PER_TOKEN, Bound, Limit, MarkerRoom, Overflow, cut_middle, estimate_tokens},
    classify::{Author, Classification, PartAuthor, Reason, UserInput, Visible, classify, classify_old, visible},
    context_item::ContextItem,
    error::Error,
    fragment::{ContextualUserFragment, FragmentRole, RenderCut, RenderReport, RenderedFragment, bundle},
    fragments::{
        AdditionalContextDeveloper, AdditionalContextUser, AgentMessageBoardNotification, ApprovedCommandPrefixes,
        AppsInstructions, AvailableSkills, BaseInstructions, CollaborationModeInstructions, ContextWindowGuidance,
        CurrentTimeReminder, DeveloperInstructions, EnvironmentContext, EnvironmentsInstructions,
        HookAdditionalContext, HookPrompt, ImageGenerationInstructions, IncrementalToolsUpdate, InstructionChanges,
        InternalModelContext, ManagedDeveloperInstructions, ModelSwitchInstructions, MultiAgentModeInstructions,
        MultiAgentRole, NamespaceInstructions, NestedInstructions, NetworkRuleSaved, Permissions,
        PermissionsInstructions, PersistentModeInstructions, PersonalitySpec, PluginInstructions, PluginsInstructions,
        RealtimeEnd, RealtimeStart, RecommendedPlugins, RemovedTools, RolloutBudgetNotice, SkillInstructions,
        SubagentNotification, TokenBudgetNotice, TurnAborted, UserInstructions, UserShellCommand,
    },
    item::{
        AdditionalTools, AgentMessage, Compaction, ConfigurationUpdate, Content, ContentItem, CustomToolCall,
        FunctionCall, ImageGenerationCall, ItemType, LocalShellCall, Message, Part, Reasoning, ResponseItem, Role,
        ToolOutput, ToolSearchCall, ToolSearchOutput, WebSearchCall, WireItem,
    },
    kind::Kind,
    marker::{Markers, neutralise},
    policy::{ApprovalPolicy, SandboxMode},
    recognise::{recognise_developer_text, recognise_user_text},
    registry::{FragmentEntry, fragment_table},
    retained::RetainedKinds,
    turn_context::{TurnContextBuilder, TurnContextItem},
};
