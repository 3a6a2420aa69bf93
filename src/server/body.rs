//! Reading a request body whole, within bounds.

use std::time::Duration;

use axum::body::Body;
use bytes::{Bytes, BytesMut};
use http_body_util::BodyExt;
use hyper::body::Body as _;
use tokio::time::timeout;

use super::options::Limits;
use super::refusal::Refusal;

/// Room made beforehand at most, whatever Content-Length claims.
const MAX_FIRST_ALLOCATION: usize = 1024 * 1024;
/// A body that is refused is still read for this long and this far, so that the client gets to see the answer instead
/// of a reset while it writes.
const LINGER: Duration = Duration::from_secs(2);
const LINGER_BYTES: usize = 64 * 1024 * 1024;

/// The whole body in one piece.
///
/// # Errors
/// When it is longer than allowed, which Content-Length may already tell, takes too long, or breaks off.
pub(super) async fn read(body: Body, limits: &Limits) -> Result<Bytes, Refusal> {
    let claimed = usize::try_from(body.size_hint().lower()).unwrap_or(usize::MAX);
    if claimed > limits.body_bytes {
        linger(body);
        return Err(Refusal::TooLarge(limits.body_bytes));
    }
    let whole = collect(body, claimed, limits.body_bytes);
    timeout(limits.body_timeout, whole).await.map_err(|_| Refusal::Timeout(limits.body_timeout))?
}

async fn collect(mut body: Body, claimed: usize, limit: usize) -> Result<Bytes, Refusal> {
    let Some(first) = next(&mut body).await? else { return Ok(Bytes::new()) };
    if first.len() == claimed && body.is_end_stream() {
        return Ok(first);
    }
    let mut whole = BytesMut::with_capacity(claimed.clamp(first.len(), MAX_FIRST_ALLOCATION));
    let mut part = Some(first);
    while let Some(data) = part {
        if data.len() > limit.saturating_sub(whole.len()) {
            linger(body);
            return Err(Refusal::TooLarge(limit));
        }
        whole.extend_from_slice(&data);
        part = next(&mut body).await?;
    }
    Ok(whole.freeze())
}

/// The next data; trailers are passed over.
async fn next(body: &mut Body) -> Result<Option<Bytes>, Refusal> {
    while let Some(frame) = body.frame().await {
        if let Ok(data) = frame.map_err(Refusal::Body)?.into_data() {
            return Ok(Some(data));
        }
    }
    Ok(None)
}

fn linger(mut body: Body) {
    tokio::spawn(timeout(LINGER, async move {
        let mut read = 0;
        while let Ok(Some(data)) = next(&mut body).await {
            read += data.len();
            if read > LINGER_BYTES {
                break;
            }
        }
    }));
}

#[cfg(test)]
mod tests {
    use std::collections::VecDeque;
    use std::convert::Infallible;
    use std::pin::Pin;
    use std::task::{Context, Poll};

    use hyper::body::Frame;

    use super::*;

    /// Parts without a known length, and then the end or nothing ever.
    struct Parts(VecDeque<&'static [u8]>, bool);

    impl hyper::body::Body for Parts {
        type Data = Bytes;
        type Error = Infallible;

        fn poll_frame(
            mut self: Pin<&mut Self>,
            _: &mut Context<'_>,
        ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
            match self.0.pop_front() {
                Some(part) => Poll::Ready(Some(Ok(Frame::data(Bytes::from_static(part))))),
                None if self.1 => Poll::Ready(None),
                None => Poll::Pending,
            }
        }
    }

    fn limits(bytes: usize) -> Limits {
        Limits { body_bytes: bytes, body_timeout: Duration::from_millis(5), ..Limits::default() }
    }

    fn parts(ends: bool) -> Body {
        Body::new(Parts(VecDeque::from([b"abc".as_slice(), b"def"]), ends))
    }

    #[tokio::test]
    async fn parts_become_one_piece_up_to_the_limit() {
        assert_eq!(read(parts(true), &limits(6)).await.unwrap(), "abcdef");
        assert!(matches!(read(parts(true), &limits(5)).await, Err(Refusal::TooLarge(5))));
        assert_eq!(read(Body::empty(), &limits(5)).await.unwrap(), "");
    }

    #[tokio::test]
    async fn one_part_is_not_copied() {
        let sent = Bytes::from(vec![b'x'; 100]);
        let read = read(Body::from(sent.clone()), &limits(100)).await.unwrap();
        assert_eq!(read.as_ptr(), sent.as_ptr());
    }

    #[tokio::test]
    async fn a_body_that_stalls_is_given_up() {
        assert!(matches!(read(parts(false), &limits(100)).await, Err(Refusal::Timeout(_))));
    }
}
