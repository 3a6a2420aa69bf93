//! Sets up logging: one place decides format, level, colour and where lines go.

use std::any::Any;
use std::env;
use std::io::{self, IsTerminal};
use std::panic::{self, PanicHookInfo};
use std::thread::JoinHandle;

use tracing::Dispatch;
use tracing_subscriber::EnvFilter;
use tracing_subscriber::layer::SubscriberExt;
use tracing_subscriber::util::SubscriberInitExt;

use super::buffer::Buffer;

/// How a line looks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum LogFormat {
    /// For people.
    #[default]
    Text,
    /// One JSON object a line, with stable field names.
    Json,
}

/// What the command line and the environment say about logs.
#[derive(Clone, Debug, Default)]
pub struct LogOptions {
    /// `--log-format`.
    pub format: LogFormat,
    /// How often `-v` was given: debug, then trace.
    pub verbosity: u8,
    /// RUST_LOG; goes before `verbosity`.
    pub filter: Option<String>,
    /// Whether text is coloured.
    pub colour: bool,
}

impl LogOptions {
    /// Takes RUST_LOG, NO_COLOR and whether stderr is a terminal from the process.
    pub fn from_env(format: LogFormat, verbosity: u8) -> Self {
        let set = |name| env::var(name).ok().filter(|value| !value.is_empty());
        let colour = io::stderr().is_terminal() && set("NO_COLOR").is_none();
        Self { format, verbosity, filter: set("RUST_LOG"), colour }
    }

    fn filter(&self) -> Result<EnvFilter, LogError> {
        let by_count = match self.verbosity {
            0 => "info",
            1 => "debug",
            _ => "trace",
        };
        let filter = self.filter.as_deref().unwrap_or(by_count);
        EnvFilter::builder()
            .parse(filter)
            .map_err(|source| LogError::Filter { filter: filter.to_owned(), message: source.to_string() })
    }

    fn dispatch(&self, buffer: Buffer) -> Result<Dispatch, LogError> {
        let layer = tracing_subscriber::fmt::layer().with_writer(buffer);
        let registry = tracing_subscriber::registry().with(self.filter()?);
        Ok(match self.format {
            LogFormat::Text => registry.with(layer.with_ansi(self.colour).with_target(false)).into(),
            LogFormat::Json => {
                let layer = layer.json().flatten_event(true).with_current_span(false).with_span_list(false);
                registry.with(layer).into()
            }
        })
    }
}

/// Logging could not be set up.
#[derive(Debug, thiserror::Error)]
pub enum LogError {
    /// RUST_LOG does not parse.
    #[error("RUST_LOG={filter:?}: {message}; write for example RUST_LOG=info or RUST_LOG=sundown=debug")]
    Filter {
        /// What it says.
        filter: String,
        /// What is wrong with it.
        message: String,
    },
    /// Set up before.
    #[error("logging is set up already")]
    Twice,
    /// No thread for flushing.
    #[error("cannot start the thread that writes the log: {0}")]
    Thread(#[from] io::Error),
}

/// Keeps logging alive; when dropped, everything logged so far is written.
#[must_use = "dropping it ends logging"]
pub struct LogGuard {
    buffer: Buffer,
    flusher: Option<JoinHandle<()>>,
}

impl Drop for LogGuard {
    fn drop(&mut self) {
        self.buffer.end();
        if let Some(flusher) = self.flusher.take() {
            // It ends at once; had it panicked, the flush below still writes what is left.
            let _ = flusher.join();
        }
        self.buffer.flush_all();
    }
}

/// Sends all logs of the process to stderr, and panics into the log. Keep the guard until the end of main.
///
/// # Errors
/// When RUST_LOG does not parse, or logging is set up already.
pub fn init(options: &LogOptions) -> Result<LogGuard, LogError> {
    let buffer = Buffer::new(Box::new(io::stderr()));
    options.dispatch(buffer.clone())?.try_init().map_err(|_| LogError::Twice)?;
    let flusher = Some(buffer.spawn_flusher()?);
    let at_panic = buffer.clone();
    panic::set_hook(Box::new(move |info| {
        log_panic(info);
        at_panic.flush_all();
    }));
    Ok(LogGuard { buffer, flusher })
}

/// A formatted panic message may quote the object under review, so only a literal one is logged.
fn log_panic(info: &PanicHookInfo<'_>) {
    let location = info.location().map(ToString::to_string).unwrap_or_default();
    tracing::error!(location, cause = literal(info.payload()), "panic; please report this as a bug");
}

fn literal(payload: &dyn Any) -> &'static str {
    payload.downcast_ref::<&'static str>().copied().unwrap_or("withheld, since it may quote user data")
}

#[cfg(test)]
mod tests {
    use std::io::Write;
    use std::sync::{Arc, Mutex};

    use super::*;

    #[derive(Clone, Default)]
    struct Memory(Arc<Mutex<Vec<u8>>>);

    impl Write for Memory {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.lock().unwrap().extend_from_slice(bytes);
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn logged(options: &LogOptions, log: impl FnOnce()) -> String {
        let memory = Memory::default();
        let buffer = Buffer::new(Box::new(memory.clone()));
        tracing::dispatcher::with_default(&options.dispatch(buffer.clone()).unwrap(), log);
        buffer.flush_all();
        let bytes = memory.0.lock().unwrap().clone();
        String::from_utf8(bytes).unwrap()
    }

    #[test]
    fn the_guard_writes_what_is_left_when_it_goes() {
        let memory = Memory::default();
        let mut buffer = Buffer::new(Box::new(memory.clone()));
        let flusher = Some(buffer.spawn_flusher().unwrap());
        let guard = LogGuard { buffer: buffer.clone(), flusher };
        buffer.write_all(b"last words\n").unwrap();
        drop(guard);
        assert_eq!(*memory.0.lock().unwrap(), b"last words\n");
    }

    #[test]
    fn json_lines_are_flat() {
        let options = LogOptions { format: LogFormat::Json, ..LogOptions::default() };
        let text = logged(&options, || tracing::info!(uid = "u", "review"));
        let line: serde_json::Value = serde_json::from_str(text.trim_end()).unwrap();
        assert_eq!(
            (&line["level"], &line["message"], &line["uid"]),
            (&"INFO".into(), &"review".into(), &"u".into())
        );
    }

    #[test]
    fn text_keeps_one_event_on_one_line_and_has_no_escapes_without_colour() {
        let text =
            logged(&LogOptions::default(), || tracing::info!(name = "a\nINFO forged\u{1b}[31m", "review"));
        assert_eq!(text.lines().count(), 1, "{text}");
        assert!(!text.contains('\u{1b}'), "{text}");
    }

    #[test]
    fn the_count_sets_the_level_and_rust_log_goes_first() {
        let debug = || tracing::debug!("detail");
        assert_eq!(logged(&LogOptions::default(), debug), "");
        assert!(logged(&LogOptions { verbosity: 1, ..LogOptions::default() }, debug).contains("detail"));
        let off = LogOptions { verbosity: 1, filter: Some("warn".into()), ..LogOptions::default() };
        assert_eq!(logged(&off, debug), "");
    }

    #[test]
    fn a_bad_filter_names_the_variable() {
        let options = LogOptions { filter: Some("a=b=c".into()), ..LogOptions::default() };
        let error = options.filter().unwrap_err().to_string();
        assert!(error.starts_with("RUST_LOG=\"a=b=c\": "), "{error}");
    }

    #[test]
    fn only_literal_panic_messages_are_repeated() {
        assert_eq!(literal(&"index out of range"), "index out of range");
        assert_eq!(literal(&String::from("secret")), "withheld, since it may quote user data");
    }
}
