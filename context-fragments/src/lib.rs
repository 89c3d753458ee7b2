#![doc = include_str!("../README.md")]

mod item;
mod context_item;
mod kind;
mod fragment;
mod marker;
mod bound;
mod fragments;
mod recognise;
mod retained;
mod policy;
mod turn_context;
pub mod json;
mod error;

pub use self::{
    bound::{BYTES_PER_TOKEN, Bound, Limit, MarkerRoom, Overflow, cut_middle, estimate_tokens},
    context_item::ContextItem,
    error::Error,
    fragment::{ContextualUserFragment, FragmentRole, RenderCut, RenderReport, RenderedFragment, bundle},
    fragments::{
        ApprovedCommandPrefixes, AppsInstructions, CollaborationModeInstructions, ContextWindowGuidance,
        EnvironmentContext, EnvironmentsInstructions, IncrementalToolsUpdate, InstructionChanges,
        ManagedDeveloperInstructions, ModelSwitchInstructions, MultiAgentModeInstructions, NamespaceInstructions,
        NestedInstructions, Permissions, PermissionsInstructions, PersistentModeInstructions, PersonalitySpec,
        PluginsInstructions, RealtimeEnd, RealtimeStart, RemovedTools, TurnAborted, UserInstructions, UserShellCommand,
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
    retained::RetainedKinds,
    turn_context::{TurnContextBuilder, TurnContextItem},
};
