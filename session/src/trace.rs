//! Spans and events for `tracing`, where the feature is on.

use crate::Usage;

/// What a span is about.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Work {
    Step,
    MarkSent,
    Record,
    Compaction,
}

/// Runs `work` inside a span of its own.
#[cfg(feature = "tracing")]
pub(crate) fn in_span<F: Future>(kind: Work, session: &str, turn: &str, work: F) -> impl Future<Output = F::Output> {
    let span = match kind {
        Work::Step => tracing::info_span!("session.step", session, turn),
        Work::MarkSent => tracing::info_span!("session.mark_sent", session, turn),
        Work::Record => tracing::info_span!("session.record", session, turn),
        Work::Compaction => tracing::info_span!("session.compaction", session, turn),
    };
    Spanned { span, work: Box::pin(work) }
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn in_span<F: Future>(_: Work, _: &str, _: &str, work: F) -> F {
    work
}

/// A future that is polled inside of its span.
#[cfg(feature = "tracing")]
struct Spanned<F> {
    span: tracing::Span,
    work: std::pin::Pin<Box<F>>,
}

#[cfg(feature = "tracing")]
impl<F: Future> Future for Spanned<F> {
    type Output = F::Output;

    fn poll(mut self: std::pin::Pin<&mut Self>, context: &mut std::task::Context<'_>) -> std::task::Poll<F::Output> {
        let Self { span, work } = &mut *self;
        let _entered = span.enter();
        work.as_mut().poll(context)
    }
}

/// Says what a request took, by the names of the conventions for generative models.
#[cfg(feature = "tracing")]
pub(crate) fn usage(session: &str, turn: &str, usage: &Usage) {
    tracing::info!(
        session,
        turn,
        gen_ai.usage.input_tokens = usage.input_tokens,
        gen_ai.usage.cache_read.input_tokens = usage.cache_read_tokens,
        gen_ai.usage.cache_creation.input_tokens = usage.cache_creation_tokens,
        gen_ai.usage.output_tokens = usage.output_tokens,
        gen_ai.usage.reasoning.output_tokens = usage.reasoning_tokens,
        "usage"
    );
}

#[cfg(not(feature = "tracing"))]
pub(crate) const fn usage(_: &str, _: &str, _: &Usage) {}
