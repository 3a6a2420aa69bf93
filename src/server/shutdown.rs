//! The end in two steps: the first signal drains, the second aborts.

use std::io;
use std::sync::Arc;

use tokio::signal::unix::{SignalKind, signal};
use tokio::sync::watch;
use tracing::info;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    Running,
    Draining,
    Aborting,
}

/// Waits for the end. Clones wait for the same.
#[derive(Clone, Debug)]
pub struct Shutdown {
    stage: watch::Receiver<Stage>,
    /// Without a sender the end would seem to have come.
    _trigger: Trigger,
}

/// Brings the end about, step by step.
#[derive(Clone, Debug)]
pub struct Trigger(Arc<watch::Sender<Stage>>);

impl Trigger {
    /// From serving to draining, from draining to aborting.
    pub fn advance(&self) {
        self.0.send_modify(|stage| {
            *stage = if *stage == Stage::Running { Stage::Draining } else { Stage::Aborting };
        });
    }
}

impl Shutdown {
    /// An end that comes when the trigger is pulled.
    pub fn new() -> (Trigger, Self) {
        let (sender, stage) = watch::channel(Stage::Running);
        let trigger = Trigger(Arc::new(sender));
        (trigger.clone(), Self { stage, _trigger: trigger })
    }

    /// An end that comes by SIGTERM or SIGINT. From here on they do not kill the process by themselves.
    ///
    /// # Errors
    /// When the handlers cannot be installed.
    pub fn on_signals() -> io::Result<Self> {
        let (mut terminate, mut interrupt) =
            (signal(SignalKind::terminate())?, signal(SignalKind::interrupt())?);
        let (trigger, shutdown) = Self::new();
        tokio::spawn(async move {
            loop {
                let name = tokio::select! {
                    Some(()) = terminate.recv() => "SIGTERM",
                    Some(()) = interrupt.recv() => "SIGINT",
                    else => return,
                };
                info!(signal = name, "signal received");
                trigger.advance();
            }
        });
        Ok(shutdown)
    }

    /// Returns once serving should wind down.
    pub async fn draining(&mut self) {
        self.reached(Stage::Draining).await;
    }

    /// Returns once everything should be dropped.
    pub async fn aborting(&mut self) {
        self.reached(Stage::Aborting).await;
    }

    async fn reached(&mut self, stage: Stage) {
        // The sender lives as long as this does, so waiting cannot fail.
        let _ = self.stage.wait_for(|now| *now >= stage).await;
    }
}
