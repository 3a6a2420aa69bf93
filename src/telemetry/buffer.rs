//! A buffer before stderr, so that a log line costs the request path an append and not a system call.

use std::io::{self, Write};
use std::mem;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{self, JoinHandle};
use std::time::Duration;

use tracing_subscriber::fmt::MakeWriter;

/// How long a line may wait.
const FLUSH_INTERVAL: Duration = Duration::from_millis(50);
/// At this many bytes the writing thread flushes by itself; that is the back-pressure when stderr is slow.
const FLUSH_BYTES: usize = 64 * 1024;

/// Collects lines and hands them to a sink: every 50 ms, at 64 KiB, and when told to. Clones share it.
#[derive(Clone)]
pub(super) struct Buffer(Arc<Shared>);

struct Shared {
    pending: Mutex<Pending>,
    /// Something is pending, or the end has come.
    wake: Condvar,
    /// Taken before `pending`, so that bytes leave in the order in which they came.
    sink: Mutex<Sink>,
}

#[derive(Default)]
struct Pending {
    bytes: Vec<u8>,
    ended: bool,
}

struct Sink {
    out: Box<dyn Write + Send>,
    /// The other half of a double buffer; empty between flushes.
    spare: Vec<u8>,
}

impl Buffer {
    /// An empty buffer before `out`.
    pub(super) fn new(out: Box<dyn Write + Send>) -> Self {
        Self(Arc::new(Shared {
            pending: Mutex::default(),
            wake: Condvar::new(),
            sink: Mutex::new(Sink { out, spare: Vec::new() }),
        }))
    }

    /// Writes out everything that was appended before the call. A sink that cannot be written to loses it: there is
    /// nowhere left to say so.
    pub(super) fn flush_all(&self) {
        let mut sink = lock(&self.0.sink);
        let sink = &mut *sink;
        mem::swap(&mut lock(&self.0.pending).bytes, &mut sink.spare);
        let _ = sink.out.write_all(&sink.spare);
        let _ = sink.out.flush();
        sink.spare.clear();
        sink.spare.shrink_to(2 * FLUSH_BYTES);
    }

    /// Starts the thread that flushes in time.
    ///
    /// # Errors
    /// When the system gives no thread.
    pub(super) fn spawn_flusher(&self) -> io::Result<JoinHandle<()>> {
        let buffer = self.clone();
        thread::Builder::new().name("log-flush".into()).spawn(move || while buffer.flush_in_time() {})
    }

    /// Ends the flushing thread, after which only [`Self::flush_all`] writes.
    pub(super) fn end(&self) {
        lock(&self.0.pending).ended = true;
        self.0.wake.notify_all();
    }

    /// Waits for a line, gives others 50 ms to join it, writes. `false` at the end.
    fn flush_in_time(&self) -> bool {
        let idle = |pending: &mut Pending| pending.bytes.is_empty() && !pending.ended;
        let pending = self.0.wake.wait_while(lock(&self.0.pending), idle);
        let pending = pending.unwrap_or_else(PoisonError::into_inner);
        let filling = |pending: &mut Pending| !pending.ended;
        let waited = self.0.wake.wait_timeout_while(pending, FLUSH_INTERVAL, filling);
        let ended = waited.unwrap_or_else(PoisonError::into_inner).0.ended;
        self.flush_all();
        !ended
    }
}

impl Write for Buffer {
    fn write(&mut self, line: &[u8]) -> io::Result<usize> {
        let (first, full) = {
            let mut pending = lock(&self.0.pending);
            let first = pending.bytes.is_empty();
            pending.bytes.extend_from_slice(line);
            (first, pending.bytes.len() >= FLUSH_BYTES)
        };
        if full {
            self.flush_all();
        } else if first {
            self.0.wake.notify_one();
        }
        Ok(line.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl MakeWriter<'_> for Buffer {
    type Writer = Self;

    fn make_writer(&self) -> Self {
        self.clone()
    }
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;

    /// Sends each write to the test, so that it can wait for one without sleeping.
    struct Told(mpsc::Sender<Vec<u8>>);

    impl Write for Told {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.0.send(bytes.to_vec()).map_err(io::Error::other)?;
            Ok(bytes.len())
        }

        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }

    fn buffer() -> (Buffer, mpsc::Receiver<Vec<u8>>) {
        let (sender, receiver) = mpsc::channel();
        (Buffer::new(Box::new(Told(sender))), receiver)
    }

    #[test]
    fn a_line_arrives_by_itself_and_lines_share_one_write() {
        let (mut buffer, written) = buffer();
        buffer.write_all(b"one\n").unwrap();
        buffer.write_all(b"two\n").unwrap();
        let flusher = buffer.spawn_flusher().unwrap();
        assert_eq!(written.recv_timeout(Duration::from_secs(10)).unwrap(), b"one\ntwo\n");
        buffer.end();
        flusher.join().unwrap();
    }

    #[test]
    fn a_full_buffer_is_written_by_the_thread_that_filled_it() {
        let (mut buffer, written) = buffer();
        buffer.write_all(&vec![b'x'; FLUSH_BYTES - 1]).unwrap();
        assert!(written.try_recv().is_err());
        buffer.write_all(b"\n").unwrap();
        assert_eq!(written.try_recv().unwrap().len(), FLUSH_BYTES);
    }

    #[test]
    fn nothing_is_lost_or_torn_when_many_write() {
        let (buffer, written) = buffer();
        let flusher = buffer.spawn_flusher().unwrap();
        let line = format!("{}\n", "y".repeat(99));
        thread::scope(|scope| {
            for _ in 0..4 {
                let (mut buffer, line) = (buffer.clone(), &line);
                scope.spawn(move || (0..5_000).for_each(|_| buffer.write_all(line.as_bytes()).unwrap()));
            }
        });
        buffer.end();
        flusher.join().unwrap();
        buffer.flush_all();
        let all: Vec<u8> = written.try_iter().flatten().collect();
        assert_eq!(all.len(), 20_000 * line.len());
        assert!(all.chunks(line.len()).all(|chunk| chunk == line.as_bytes()));
    }
}
